// nn::rms_norm and nn::group_norm: their parameters, their epsilons, and gradients of both.
#include "recorded.hpp"

#include <tx/nn/group_norm.hpp>
#include <tx/nn/rms_norm.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/iota.hpp>

#include <catch2/catch.hpp>

namespace {

template <class T, auto... Dims>
using t = tx::tensor<T, Dims...>;

struct norms {
  tx::nn::rms_norm<8> rms;
  tx::nn::group_norm<2, 4> group;
};
constexpr auto rms = [](norms const& m, t<float, 2, 8> x) { return m.rms(x); };
constexpr auto group = [](norms const& m, t<float, 2, 4, 4> x) { return m.group(x); };
constexpr auto both = [](norms const& m, t<float, 2, 8> x, t<float, 2, 4, 4> y) {
  auto const z = m.group(y) * tx::cast<float>(tx::iota<-1>(y));
  return tx::sum(m.rms(x) * tx::cast<float>(tx::iota<-1>(x))) + tx::sum(z * z);
};

static_assert(std::is_same_v<decltype(norms::rms.weight)::group, tx::not_decayed>);
static_assert(std::is_same_v<decltype(norms::rms.weight)::initializer, tx::init::ones>);
static_assert(std::is_same_v<decltype(norms::group.bias)::initializer, tx::init::zeros>);

values numbers(std::size_t n) {
  values v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = std::sin(2.1 * static_cast<double>(i) + 0.5);
  return v;
}

}  // namespace

TEST_CASE("norms: names, epsilons, gradients") {
  CHECK(names_of<norms>() == std::set<std::string>{"rms.weight", "group.weight", "group.bias"});

  recorded<norms, rms> const r;
  auto const rows = r.run({{1e-3, -1e-3, 1e-3, -1e-3, 1e-3, -1e-3, 1e-3, -1e-3, 0, 0, 0, 0, 0, 0, 0, 0}})[0];
  values const scale = r.parameter(0, 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(rows[i] == Approx((i % 2 == 0 ? 1 : -1) / std::sqrt(2) * scale[i]));  // mean square 1e-6, as large as epsilon
    CHECK(rows[8 + i] == 0);
  }

  recorded<norms, group> const g;
  values x(32, 5.0);
  for (std::size_t i = 0; i < 8; i += 2)
    x[i] += 2 * std::sqrt(1e-5);  // the first group of the first text varies by epsilon
  auto const grouped = g.run({x})[0];
  values const weight = g.parameter(1, 4);
  values const bias = g.parameter(2, 4);
  for (std::size_t i = 0; i < 32; ++i) {
    std::size_t const channel = i / 4 % 4;
    double const normal = i >= 8 ? 0 : (i % 2 == 0 ? 1 : -1) / std::sqrt(2);
    CHECK(grouped[i] == Approx(normal * weight[channel] + bias[channel]).margin(1e-9));
  }

  recorded<norms, both> b;
  b.differentiate();
  std::vector<values> const in{numbers(16), numbers(32)};
  auto const out = b.run(in, true);
  for (int k = 0; k < 3; ++k)
    for (std::size_t e : {0u, 2u, 3u})
      CHECK(out[static_cast<std::size_t>(k) + 1][e] == Approx(b.difference(in, k, e)).epsilon(1e-6).margin(1e-8));
}
