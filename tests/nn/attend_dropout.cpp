// Attention's dropout at a rate of its own: the same probabilities are dropped as at that of run.settings, and at 0 none are drawn.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/setting.hpp>
#include <tx/nn/attend.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

struct model {
  tx::nn::linear<6, 6> value;
};
enum class rate { of_settings, number, named, none };
template <rate R, int Places>
constexpr auto loss = [](model const& m, tx::tensor<float, 1, 2, Places, 6> x) {
  auto const mixed = [&] {
    if constexpr (R == rate::number) return tx::nn::attend(x, x, m.value(x), tx::nn::drop(0.25));
    else if constexpr (R == rate::named) return tx::nn::attend(x, x, m.value(x), tx::nn::drop(tx::setting<"attention_dropout">(x, 0.5)));
    else if constexpr (R == rate::none) return tx::nn::attend(x, x, m.value(x), tx::nn::drop(0));
    else return tx::nn::attend(x, x, m.value(x));
  }();
  return tx::mean(mixed * mixed);
};

// Losses of three steps, with .25 in the settings that the loss has.
template <class Backend, rate R, int Places>
std::vector<double> losses(float of_settings) {
  tx::executor<tx::train_step<model, loss<R, Places>, tx::adamw>, Backend> run{tx::seed(2)};
  run.settings.set("dropout", of_settings);
  if constexpr (R == rate::named) run.settings["attention_dropout"] = 0.25f;
  std::vector<float> x(2 * Places * 6);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 41) / 20 - 1;
  std::vector<double> all;
  for (int s = 0; s < 3; ++s) all.push_back(static_cast<double>(run(x).loss));
  return all;
}
bool near(std::vector<double> const& a, std::vector<double> const& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) < 1e-5 * std::abs(b[i]))) return false;
  return true;
}
template <class Backend, int Places>
void check() {
  auto const wanted = losses<Backend, rate::of_settings, Places>(0.25f);
  auto const all = losses<Backend, rate::of_settings, Places>(0);
  CHECK_FALSE(near(wanted, all));
  CHECK(near(losses<Backend, rate::number, Places>(0.9f), wanted));
  CHECK(near(losses<Backend, rate::named, Places>(0.9f), wanted));
  CHECK(near(losses<Backend, rate::none, Places>(0.9f), all));
}

}  // namespace

TEST_CASE("attention drops probabilities at a rate of its own", "[attention]") {
  check<tx::cpu, 7>();
  check<tx::cpu, 513>();  // by kernels that draw the numbers themselves
  check<tx::reference, 7>();
}
