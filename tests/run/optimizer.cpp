// AdamW, clipping, groups and schedules against a plain loop.
#include "../furthest.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

struct fast_group {
  static constexpr float rate = 4.0f;
  static constexpr float decay = 0.3f;
};
template <class T>
struct model {
  tx::param<tx::tensor<T, 5>, tx::init::uniform<1, 1>> a;
  tx::param<tx::tensor<T, 7>, tx::init::uniform<1, 1>, tx::not_decayed> b;
  tx::param<tx::tensor<T, 3>, tx::init::uniform<1, 1>, fast_group> c;
  tx::param<tx::tensor<T, 2>, tx::init::ones> unused;
};
// Gradients that are known: of a w + a^2, b^2, c a constant.
template <class T>
constexpr auto loss = [](model<T> const& m, tx::tensor<T, 5> w) { return tx::sum(m.a * w + m.a * m.a) + tx::sum(m.b * m.b) * 3 + tx::sum(m.c) * 0.5; };
template <class T, class... Options>
using step = tx::train_step<model<T>, loss<T>, tx::adamw, Options...>;

struct group_state {
  std::vector<double> value, m, v;
  double rate, decay;
};

template <class Step, class T, class Backend>
void compare(bool clips, double clip_norm, tx::schedule schedule) {
  tx::executor<Step, Backend> run{tx::seed(9)};
  run.settings["learning_rate"] = 0.01f;
  run.settings.set("clip_norm", static_cast<float>(clip_norm));
  run.settings.schedule = schedule;
  std::vector<T> const w{1, -2, T(0.5), 0, 3};
  std::vector<group_state> groups;
  double const rates[] = {1, 1, 4, 1};
  double const decays[] = {0.01, 0, 0.3, 0.01};
  for (auto const& t : run.tensors()) {
    std::size_t const k = groups.size();
    groups.push_back({std::vector<double>(t.data.begin(), t.data.end()), std::vector<double>(t.data.size()), std::vector<double>(t.data.size()), rates[k], decays[k]});
  }
  for (int i = 1; i <= 12; ++i) {
    std::vector<std::vector<double>> g(4);
    double norm = 0;
    double wanted_loss = 0;
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t e = 0; e < groups[k].value.size(); ++e) {
        double const x = groups[k].value[e];
        double const we = k == 0 ? static_cast<double>(w[e]) : 0;
        wanted_loss += k == 0 ? x * we + x * x : k == 1 ? 3 * x * x : k == 2 ? 0.5 * x : 0;
        g[k].push_back(k == 0 ? we + 2 * x : k == 1 ? 6 * x : k == 2 ? 0.5 : 0);
        norm += g[k].back() * g[k].back();
      }
    double const scale = clips ? std::min(1.0, clip_norm / (std::sqrt(norm) + 1e-6)) : 1;
    double const done = static_cast<double>(i - 1 - schedule.warmup) / static_cast<double>(schedule.total - schedule.warmup);
    double const share = i - 1 < schedule.warmup                       ? static_cast<double>(i) / static_cast<double>(schedule.warmup)
                         : schedule.shape == tx::decay_shape::constant ? 1
                         : schedule.shape == tx::decay_shape::linear   ? std::max(0.0, 1 - done)
                         : done >= 1                                   ? 0
                                                                       : (1 + std::cos(3.14159265358979 * done)) / 2;
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t e = 0; e < g[k].size(); ++e) {
        group_state& s = groups[k];
        s.m[e] = 0.9 * s.m[e] + 0.1 * g[k][e] * scale;
        s.v[e] = 0.999 * s.v[e] + 0.001 * g[k][e] * scale * g[k][e] * scale;
        double const direction = s.m[e] / (1 - std::pow(0.9, i)) / (std::sqrt(s.v[e] / (1 - std::pow(0.999, i))) + 1e-8);
        s.value[e] -= 0.01 * share * s.rate * (direction + s.decay * s.value[e]);
      }
    CHECK(static_cast<double>(run(w).loss) == Approx(wanted_loss).epsilon(1e-5).margin(1e-5));
  }
  auto const parameters = run.tensors();
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t e = 0; e < groups[k].value.size(); ++e) {
      INFO(parameters[k].name << " [" << e << "]");
      CHECK(static_cast<double>(parameters[k].data[e]) == Approx(groups[k].value[e]).epsilon(2e-5).margin(2e-6));
      CHECK(static_cast<double>(run.tensors(1)[k].data[e]) == Approx(groups[k].m[e]).epsilon(2e-4).margin(1e-6));
      CHECK(static_cast<double>(run.tensors(2)[k].data[e]) == Approx(groups[k].v[e]).epsilon(2e-4).margin(1e-6));
    }
}

}  // namespace

TEST_CASE("AdamW with groups, cpu") { compare<step<float>, float, tx::cpu>(false, 1, {}); }
TEST_CASE("AdamW with clipping and a linear schedule, cpu") {
  compare<step<float, tx::clip_gradient>, float, tx::cpu>(true, 0.7, {tx::decay_shape::linear, 3, 9});
  compare<step<float, tx::clip_gradient>, float, tx::cpu>(true, 1e6, {tx::decay_shape::cosine, 0, 10});
}
TEST_CASE("AdamW with clipping and a cosine schedule, reference in f64") {
  compare<step<double, tx::clip_gradient>, double, tx::reference>(true, 0.7, {tx::decay_shape::cosine, 2, 12});
}

TEST_CASE("schedules") {
  tx::schedule const linear{tx::decay_shape::linear, 10, 110};
  CHECK(linear.at(0) == Approx(0.1));
  CHECK(linear.at(9) == Approx(1));
  CHECK(linear.at(10) == Approx(1));
  CHECK(linear.at(60) == Approx(0.5));
  CHECK(linear.at(110) == 0);
  CHECK(linear.at(1000) == 0);
  tx::schedule const cosine{tx::decay_shape::cosine, 0, 100};
  CHECK(cosine.at(0) == 1);
  CHECK(cosine.at(25) == Approx((1 + std::sqrt(0.5)) / 2));
  CHECK(cosine.at(50) == Approx(0.5));
  CHECK(cosine.at(100) == 0);
  CHECK(tx::schedule{}.at(123456) == 1);
  CHECK(tx::schedule{tx::decay_shape::constant, 4, 0}.at(1) == Approx(0.5));
  CHECK(tx::schedule{tx::decay_shape::linear, 10, 10}.at(10) == 1);  // nothing left to decay over
}

namespace {

// Parameters read in a repeated block by several ops, peeled or not, in two blocks, and outside of any.
struct mixing {
  tx::param<tx::tensor<double, 4, 4>> w;
  tx::param<tx::tensor<double, 4>, tx::init::ones> scale;
  constexpr auto operator()(auto const& x) const { return tx::matmul(x, w) * scale + tx::matmul(x, tx::transpose(w)) * 0.5; }
};
template <tx::peel Peel>
struct deep {
  tx::repeat<3, mixing, Peel> one;
  tx::repeat<2, mixing, Peel> two;
  tx::param<tx::tensor<double, 4, 4>> last;
};
template <tx::peel Peel>
constexpr auto deep_loss = [](deep<Peel> const& m, tx::tensor<double, 6, 4> x) {
  auto const y = tx::matmul(m.two(m.one(m.two(x))), m.last);
  return tx::mean(y * y);
};

template <class Step, class Backend>
std::vector<double> trained() {
  tx::executor<Step, Backend> run{tx::seed(4)};
  run.settings["learning_rate"] = 0.01f;
  run.settings.set("clip_norm", 1e9f);
  std::vector<double> x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
  for (int i = 0; i < 5; ++i) run(x);
  return run.read();
}
template <tx::peel Peel, class... Options>
using deep_step = tx::train_step<deep<Peel>, deep_loss<Peel>, tx::adamw, Options...>;

}  // namespace

TEST_CASE("updating each parameter at once, in repeated blocks too, is updating all together") {
  using together = deep_step<tx::peel::none, tx::clip_gradient>;
  using at_once = deep_step<tx::peel::none>;
  static_assert(at_once::memory.arena < together::memory.arena);
  auto const wanted = trained<together, tx::cpu>();
  CHECK(distance(trained<at_once, tx::cpu>(), wanted) < 1e-9);
  CHECK(distance(trained<at_once, tx::reference>(), wanted) < 1e-9);
  CHECK(distance(trained<deep_step<tx::peel::last>, tx::cpu>(), wanted) < 1e-9);
  CHECK(distance(trained<deep_step<tx::peel::none, tx::compiled_with<tx::compile_options{.fuse = false}>>, tx::cpu>(), wanted) < 1e-9);
  CHECK(distance(trained<deep_step<tx::peel::last, tx::compiled_with<tx::compile_options{.reorder = false}>>, tx::cpu>(), wanted) < 1e-9);
}
