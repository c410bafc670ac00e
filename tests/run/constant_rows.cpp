// Norms of rows of equal numbers are 0 to the last bit, whatever rounding makes of their mean; so are their gradients.
#include <tx/backends/cpu.hpp>
#include <tx/nn/batch_norm.hpp>
#include <tx/nn/group_norm.hpp>
#include <tx/nn/layer_norm.hpp>
#include <tx/ops/square.hpp>
#include <tx/ops/variance.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

namespace {

template <int Width>
struct norms {
  tx::nn::layer_norm<Width> rows;
  tx::nn::group_norm<1, Width> groups;
  tx::nn::batch_norm<Width> channels;
};
template <int Width>
struct results {
  tx::tensor<float, 3, Width> rows, groups, channels;
  tx::tensor<float, 3, 1> variance;
};
template <int Width>
constexpr auto all = [](norms<Width> const& m, tx::tensor<float, 3, Width> x) {
  return results<Width>{m.rows(x), m.groups(x), m.channels(x), tx::variance<-1>(x, 0)};
};
template <int Width>
constexpr auto loss = [](norms<Width> const& m, tx::tensor<float, 3, Width> x) { return tx::sum(m.rows(x) + m.groups(x)) + tx::sum(tx::square(m.channels(x))); };

template <int Width>
void check() {
  tx::executor<tx::function<all<Width>, norms<Width>>, tx::cpu> run{tx::seed(0)};
  tx::executor<tx::value_and_grad<loss<Width>, norms<Width>>, tx::cpu> trains{tx::seed(0)};
  for (float const c : {0.1f, -7.7f, 1000.1f, 12345.7f}) {
    CAPTURE(Width, c);
    std::vector<float> const x(3 * Width, c);
    auto const r = run(x);
    for (auto const& of : {r.rows, r.groups})
      for (float const y : of) REQUIRE(y == 0);
    for (float const y : r.variance) REQUIRE(y == 0);
    auto const t = trains(x);  // batch_norm takes its mean of the batch here
    CHECK(t.value == 0);
    for (auto const& g : t.gradient.tensors())
      for (float const y : g.data) REQUIRE(y == (g.name.ends_with("bias") && !g.name.starts_with("channels") ? 3.f : 0.f));
  }
}

}  // namespace

TEST_CASE("norms of equal numbers", "[norms]") {
  check<7>();
  check<384>();
  check<768>();
}
