// custom_vjp: rules of one's own against what they say, under gradients of gradients, in repeated blocks, beside what
// is frozen or stopped.
#include "traced.hpp"

#include <tx/autodiff/custom_vjp.hpp>
#include <tx/autodiff/hessian_vector.hpp>
#include <tx/expr/parameter_names.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/abs.hpp>
#include <tx/ops/clamp.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/floor.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/log1p.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/ops/take.hpp>

namespace {

template <auto... D>
using t = tx::tensor<double, D...>;
template <class Tensor, class Group = tx::decayed>
using p = tx::param<Tensor, tx::init::ones, Group>;

// The identity, with a gradient that is no longer than 1 in any element.
constexpr auto clipped =
    tx::custom_vjp<[](auto const& x) { return x; }, [](auto const& gradient) { return tx::clamp(gradient, -1, 1); }>;
// The parts' own rules would divide infinity by infinity at 800.
constexpr auto naive = [](auto const& x) { return tx::log(1 + tx::exp(x)); };
constexpr auto log_one_plus_exp =
    tx::custom_vjp<[](auto const& x) { return tx::with_saved(tx::maximum(x, 0) + tx::log1p(tx::exp(-tx::abs(x))), x); },
                   [](auto const& x, auto const& gradient) { return gradient * tx::sigmoid(x); }>;
constexpr auto rounded =
    tx::custom_vjp<[](auto const& x) { return tx::floor(x + 0.5); }, [](auto const& gradient) { return gradient; }>;

struct slopes {
  t<5> value, clip, stable, naive, straight;
};
constexpr auto each = [](t<5> x) {
  return slopes{log_one_plus_exp(x), tx::grad<[](t<5> z) {
                  auto const y = clipped(z);
                  return tx::sum(y * y);
                }>(x),
                tx::grad<[](t<5> z) { return tx::sum(log_one_plus_exp(z)); }>(x),
                tx::grad<[](t<5> z) { return tx::sum(naive(z)); }>(x), tx::grad<[](t<5> z) {
                  auto const y = rounded(z);
                  return tx::sum(y * y);
                }>(x)};
};

// A second time: through backward's ops, and forward's to what was saved.
struct second_slopes {
  t<5> clip, stable, straight, saved;
};
constexpr auto exp_of_saved = tx::custom_vjp<[](auto const& x) { return tx::with_saved(x, tx::exp(x)); },
                                             [](auto const& e, auto const& gradient) { return gradient * e * 3; }>;
template <auto F>
constexpr auto total_slope = [](t<5> z) { return tx::sum(tx::grad<[](t<5> u) { return tx::sum(F(u) * F(u)); }>(z)); };
constexpr auto each_again = [](t<5> x) {
  return second_slopes{
      tx::grad<total_slope<clipped>>(x), tx::grad<total_slope<log_one_plus_exp>>(x), tx::grad<total_slope<rounded>>(x),
      tx::grad<[](t<5> z) { return tx::sum(tx::grad<[](t<5> u) { return tx::sum(exp_of_saved(u)); }>(z)); }>(x)};
};

// Several arguments, one of integers; more values than an op has operands elsewhere.
constexpr auto picked =
    tx::custom_vjp<[](t<4, 2> const& table, tx::tensor<tx::i32, 3> const& ids, t<3, 2> const& factor) {
      auto const rows = tx::take(table, ids);
      return tx::with_saved(rows * factor, rows, factor, table, factor * 2);
    },
                   [](auto const& rows, auto const& factor, auto const& table, auto const& doubled,
                      auto const& gradient) {
                     return std::tuple{table * tx::sum(gradient * factor),
                                       rows * gradient + doubled};  // no true gradients: told apart from those
                   }>;
constexpr auto picked_slopes = [](t<4, 2> table, tx::tensor<tx::i32, 3> ids, t<3, 2> factor) {
  return tx::grad<[](auto const& a, auto const& i, auto const& f) { return tx::sum(picked(a, i, f) * 5); }, 0, 2>(
      table, ids, factor);
};

// Part of a result is read, of as many rows as there are.
template <auto Rows>
constexpr auto first_columns = [](t<Rows, 3> x) {
  auto const slope = tx::grad<[](t<Rows, 3> z) {
    auto const y = tx::slice<1, 0, 1>(rounded(tx::exp(z)));
    return tx::sum(y * y);
  }>(x);
  return tx::slice<1, 0, 2>(slope);
};

// In a repeated block that keeps values of it, with parameters; first frozen, then stopped.
struct block {
  p<t<3, 3>> weight;
  p<t<3>, tx::frozen> bias;
  constexpr auto operator()(auto const& x) const {
    auto const y = rounded(tx::matmul(x, weight) * 4 + bias);
    return x + y * y * 0.1;
  }
};
struct by_hand {
  block a, b;
  constexpr auto operator()(auto const& x) const { return b(a(x)); }
};
struct looped {
  tx::repeat<2, block> layers;
  constexpr auto operator()(auto const& x) const { return layers(x); }
};
struct told {
  t<> of_parameters, of_input, again, none;
};
template <class Model>
constexpr auto loss = [](Model const& m, auto const& x) {
  auto const y = m(x);
  return tx::sum(y * y);
};
// By name: to clang 16 lambdas that are template arguments of one template are one.
template <class Model>
constexpr auto slope_of = [](Model const& m, auto const& x) {
  auto const d = tx::grad<loss<Model>>(m, x);
  return tx::inner_product(d, d);
};
template <class Model>
constexpr auto loss_at = [](auto const& z, auto const& n) { return loss<Model>(n, z); };
template <class Model>
constexpr auto slope_at = [](auto const& z, auto const& n) { return slope_of<Model>(n, z); };
template <class Model>
constexpr auto all_slopes = [](Model const& m, t<2, 3> x) {
  auto const dx = tx::grad<loss_at<Model>>(x, m);
  auto const again = tx::grad<slope_at<Model>>(x, m);
  auto const none = tx::grad<[](auto const& z) { return tx::sum(rounded(tx::stop_gradient(z))); }>(x);
  return told{slope_of<Model>(m, x), tx::inner_product(dx, dx), tx::sum(again), tx::sum(none)};
};

}  // namespace

TEST_CASE("gradients are what backward says", "[custom_vjp]") {
  values const x{-800, -0.3, 0.7, 1.6, 800};
  auto const r = traced<each>({x});
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const e = std::exp(-std::abs(x[i]));
    double const rounding = std::floor(x[i] + 0.5);
    CHECK(r[0][i] == Approx(std::max(x[i], 0.0) + std::log1p(e)).margin(1e-300));
    CHECK(r[1][i] == Approx(std::clamp(2 * x[i], -1.0, 1.0)));
    CHECK(r[2][i] == Approx(x[i] > 0 ? 1 / (1 + e) : e / (1 + e)).margin(1e-300));
    CHECK(r[4][i] == Approx(2 * rounding));
  }
  CHECK(std::isnan(r[3][4]));  // what the rule is for
}

TEST_CASE("gradients of gradients follow backward's ops", "[custom_vjp]") {
  values const x{-2, -0.3, 0.2, 0.7, 1.6};
  auto const r = traced<each_again>({x});
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const s = 1 / (1 + std::exp(-x[i])), f = std::log1p(std::exp(x[i]));
    CHECK(r[0][i] ==
          (std::abs(2 * x[i]) < 1 ? 1.0 : 0.0));  // the slope of clamp(2 clipped(x)) is 2, and clipped itself
    CHECK(r[1][i] == Approx(2 * s * s + 2 * f * s * (1 - s)));
    CHECK(r[2][i] == Approx(2));
    CHECK(r[3][i] == Approx(3 * std::exp(x[i])));
  }
}

TEST_CASE("several arguments, integers among them", "[custom_vjp]") {
  values const table = some(8), ids{3, 0, 3}, factor = some(6, 1);
  auto const r = traced<picked_slopes>({table, ids, factor});
  double sum = 0;
  for (double f : factor) sum += 5 * f;
  for (std::size_t i = 0; i < table.size(); ++i) CHECK(r[0][i] == Approx(table[i] * sum));
  for (std::size_t i = 0; i < factor.size(); ++i)
    CHECK(r[1][i] == Approx(5 * table[2 * static_cast<std::size_t>(ids[i / 2]) + i % 2] + 2 * factor[i]));
}

TEST_CASE("parts of results, bounded rows", "[custom_vjp]") {
  values const x = some(12);
  values const fixed = traced<first_columns<4>>({x})[0];
  CHECK(distance(traced<first_columns<tx::dyn<4>>>({x})[0], fixed) == 0);
  for (std::size_t i = 0; i < 4; ++i) {
    double const e = std::exp(x[3 * i]);
    CHECK(fixed[2 * i] == Approx(2 * std::floor(e + 0.5) * e));
    CHECK(fixed[2 * i + 1] == 0);
  }
}

TEST_CASE("repeated blocks, frozen parameters, inputs", "[custom_vjp]") {
  values looped_block(static_cast<std::size_t>(tx::layout<looped>::size), 0.0);
  values hand_block(static_cast<std::size_t>(tx::layout<by_hand>::size), 0.0);
  auto const stacked = tx::parameters_of<looped>();  // weight and bias of block 0, then of 1
  auto const single = tx::parameters_of<by_hand>();
  REQUIRE((stacked.size() == 4 && single.size() == 4));
  for (std::size_t k = 0; k < 4; ++k) {
    std::string_view const name = stacked[k].name;
    for (auto const& other : single) {
      bool const same = (name.find(".0.") != name.npos) == (other.name[0] == 'a') &&
                        name.substr(name.rfind('.')) == other.name.substr(1);
      if (!same) continue;
      values const v = some(static_cast<std::size_t>(other.info.count()), static_cast<double>(k));
      std::copy(v.begin(), v.end(), looped_block.begin() + stacked[k].offset);
      std::copy(v.begin(), v.end(), hand_block.begin() + other.offset);
    }
  }
  values const x = some(6, 7);
  auto const loop = traced<all_slopes<looped>, looped>({x}, looped_block);
  auto const hand = traced<all_slopes<by_hand>, by_hand>({x}, hand_block);
  for (std::size_t k = 0; k < 4; ++k) CHECK(distance(loop[k], hand[k]) < 1e-12);
  CHECK((hand[0][0] > 1 && hand[1][0] > 1 && std::abs(hand[2][0]) > 1));  // rounding alone would pass nothing on
  CHECK(hand[3][0] == 0);
}
