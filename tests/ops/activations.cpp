// Powers, trigonometric functions, activations, rounding, comparisons: values against <cmath>, gradients against
// central differences.
#include "../interpreter/passes.hpp"
#include "op_tables.hpp"

#include <tx/ops/clamp.hpp>
#include <tx/ops/cos.hpp>
#include <tx/ops/elu.hpp>
#include <tx/ops/floor.hpp>
#include <tx/ops/greater.hpp>
#include <tx/ops/greater_equal.hpp>
#include <tx/ops/leaky_relu.hpp>
#include <tx/ops/logical_or.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/not_equal.hpp>
#include <tx/ops/pow.hpp>
#include <tx/ops/reciprocal.hpp>
#include <tx/ops/relu.hpp>
#include <tx/ops/sign.hpp>
#include <tx/ops/silu.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/softplus.hpp>
#include <tx/ops/square.hpp>

namespace {

using vars = std::vector<tx::var>;
using arrays = std::vector<array>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double truth(bool holds) { return holds ? 1 : 0; }

std::vector<unary> unary_ops() {
  return {
      {"sin", [](tx::var x) { return tx::sin(x); }, [](double x) { return std::sin(x); }, -7, 7},
      {"cos", [](tx::var x) { return tx::cos(x); }, [](double x) { return std::cos(x); }, -7, 7},
      {"x^2", [](tx::var x) { return tx::pow(x, 2); }, [](double x) { return x * x; }, -3, 3},
      {"x^3", [](tx::var x) { return tx::pow(x, 3); }, [](double x) { return x * x * x; }, -3, 3},
      {"x^1", [](tx::var x) { return tx::pow(x, 1); }, [](double x) { return x; }, -3, 3},
      {"x^0", [](tx::var x) { return tx::pow(x, 0); }, [](double) { return 1.0; }, -3, 3},
      {"x^-1", [](tx::var x) { return tx::pow(x, -1); }, [](double x) { return 1 / x; }, 0.5, 3},
      {"x^-1.5", [](tx::var x) { return tx::pow(x, -1.5); }, [](double x) { return std::pow(x, -1.5); }, 0.6, 3},
      {"x^5", [](tx::var x) { return tx::pow(x, 5); }, [](double x) { return std::pow(x, 5.0); }, -2, 2},
      {"1.7^x", [](tx::var x) { return tx::pow(1.7, x); }, [](double x) { return std::pow(1.7, x); }, -3, 3},
      {"softplus", [](tx::var x) { return tx::softplus(x); }, [](double x) { return std::log1p(std::exp(x)); }, -5, 5},
      {"relu", [](tx::var x) { return tx::relu(x); }, [](double x) { return x > 0 ? x : 0; }, -3.1, 3},
      {"leaky_relu", [](tx::var x) { return tx::leaky_relu(x); }, [](double x) { return x > 0 ? x : 0.01 * x; }, -3.1,
       3},
      {"elu", [](tx::var x) { return tx::elu(x, 0.7); }, [](double x) { return x > 0 ? x : 0.7 * (std::exp(x) - 1); },
       -3.1, 3},
      {"silu", [](tx::var x) { return tx::silu(x); }, [](double x) { return x / (1 + std::exp(-x)); }, -5, 5},
      {"square", [](tx::var x) { return tx::square(x); }, [](double x) { return x * x; }, -3, 3},
      {"reciprocal", [](tx::var x) { return tx::reciprocal(x); }, [](double x) { return 1 / x; }, 0.5, 3},
      {"floor x", [](tx::var x) { return tx::floor(x) * x; }, [](double x) { return std::floor(x) * x; }, 0.1, 0.9},
      {"ceil x", [](tx::var x) { return tx::ceil(x) * x; }, [](double x) { return std::ceil(x) * x; }, 0.1, 0.9},
      {"sign x", [](tx::var x) { return tx::sign(x) * x; }, [](double x) { return x < 0 ? -x : x; }, -3.1, 3},
      {"clamp", [](tx::var x) { return tx::clamp(x, -1, 1.2); }, [](double x) { return std::clamp(x, -1.0, 1.2); },
       -3.1, 3},
  };
}

std::vector<binary> binary_ops() {
  return {
      {"pow", [](tx::var a, tx::var b) { return tx::pow(a, b); }, [](double a, double b) { return std::pow(a, b); },
       0.5, 3},
      {"clamp from below", [](tx::var a, tx::var b) { return tx::clamp(a, b, 5); },
       [](double a, double b) { return std::clamp(a, b, 5.0); }, -2, 2},
      {"clamp from above", [](tx::var a, tx::var b) { return tx::clamp(a, -5, b); },
       [](double a, double b) { return std::clamp(a, -5.0, b); }, -2, 2},
      {"clamp, bounds changed over", [](tx::var a, tx::var b) { return tx::clamp(a, b + 2, b); },
       [](double, double b) { return b; }, 0, 1},
      {"greater", [](tx::var a, tx::var b) { return tx::greater(a, b); },
       [](double a, double b) { return truth(a > b); }, -3, 3, false},
      {"greater_equal", [](tx::var a, tx::var b) { return tx::greater_equal(tx::maximum(a, b), b + 0.5); },
       [](double a, double b) { return truth(std::max(a, b) >= b + 0.5); }, -3, 3, false},
      {"not_equal", [](tx::var a, tx::var b) { return tx::not_equal(tx::maximum(a, b), b); },
       [](double a, double b) { return truth(a > b); }, -3, 3, false},
      {"logical_or", [](tx::var a, tx::var b) { return tx::logical_or(tx::less(a, b), tx::less(2, a)); },
       [](double a, double b) { return truth(a < b || 2 < a); }, -3, 3, false},
      {"logical_not", [](tx::var a, tx::var b) { return tx::logical_not(tx::less(a, b)); },
       [](double a, double b) { return truth(!(a < b)); }, -3, 3, false},
  };
}

// Value and gradient of a sum of all at given points.
struct at_points {
  values value, slope;
};
at_points evaluated(values const& x, std::function<tx::var(tx::var)> const& op) {
  array const a{make_dims({static_cast<int>(x.size())}), x};
  built_op built({a}, [&](vars const& v) { return op(v[0]); });
  built.g.outputs.push_back({built.result.id});
  int const gradient = built.differentiate(filled(a.dims, 1))[0];
  if (gradient >= 0) built.g.outputs.push_back({gradient});
  auto const plain = run_graph(built.g, {a, filled(a.dims, 1)}, false);
  auto const simple = run_graph(built.g, {a, filled(a.dims, 1)}, true);
  for (std::size_t k = 0; k < plain.size(); ++k) CHECK(distance(plain[k], simple[k]) == 0);
  return {plain[0], gradient >= 0 ? plain[1] : values(x.size(), 0.0)};
}
bool same(values const& told, values const& wanted) { return distance(told, wanted) < 1e-15; }

}  // namespace

TEST_CASE("powers, activations and rounding") {
  number_source numbers(31);
  for (unary const& u : unary_ops())
    for (int rank : {0, 1, 2, 3, 4}) check_unary(u, numbers, rank);
}

TEST_CASE("powers, bounds and comparisons of two operands, broadcast") {
  number_source numbers(34);
  for (binary const& b : binary_ops())
    for (int rank : {1, 2, 3, 4}) check_binary(b, numbers, rank, 0.7);
}

TEST_CASE("at 0, at bounds, at infinities and NaN values and gradients are what the headers say") {
  auto const power = [](double exponent) {
    return evaluated({0, -0.0, 1, inf}, [=](tx::var x) { return tx::pow(x, exponent); });
  };
  CHECK(same(power(0).slope, {0, 0, 0, 0}));
  CHECK(same(power(0).value, {1, 1, 1, 1}));
  CHECK(same(power(1).slope, {1, 1, 1, 1}));
  CHECK(same(power(2).slope, {0, 0, 2, inf}));
  CHECK(same(power(0.5).slope, {inf, inf, 0.5, 0}));
  CHECK(same(evaluated({0, 2, not_a_number}, [](tx::var x) { return tx::pow(0.0, x); }).slope, {0, 0, not_a_number}));
  CHECK(same(evaluated({0, 1, 2}, [](tx::var x) { return tx::pow(x * 0.0, x); }).value, {1, 0, 0}));

  values const points{-inf, -2, -0.0, 0, 2, inf, not_a_number};
  auto check = [&](std::function<tx::var(tx::var)> const& op, values const& value, values const& slope) {
    at_points const told = evaluated(points, op);
    CHECK(same(told.value, value));
    CHECK(same(told.slope, slope));
  };
  check([](tx::var x) { return tx::relu(x); }, {0, 0, 0, 0, 2, inf, not_a_number}, {0, 0, 0, 0, 1, 1, 1});
  check([](tx::var x) { return tx::leaky_relu(x, 0.5); }, {-inf, -1, 0, 0, 2, inf, not_a_number},
        {0.5, 0.5, 0.5, 0.5, 1, 1, 0.5});
  check([](tx::var x) { return tx::clamp(x, -2, 2); }, {-2, -2, 0, 0, 2, 2, not_a_number}, {0, 1, 1, 1, 1, 0, 1});
  check([](tx::var x) { return tx::sign(x); }, {-1, -1, 0, 0, 1, 1, not_a_number}, values(7, 0.0));
  check([](tx::var x) { return tx::floor(x * 0.75); }, {-inf, -2, 0, 0, 1, inf, not_a_number}, values(7, 0.0));
  check([](tx::var x) { return tx::ceil(x * 0.75); }, {-inf, -1, 0, 0, 2, inf, not_a_number}, values(7, 0.0));
  double const e = std::exp(-2.0);
  check([](tx::var x) { return tx::elu(x, 2); }, {-2, 2 * (e - 1), 0, 0, 2, inf, not_a_number},
        {0, 2 * e, 2, 2, 1, 1, not_a_number});
  double const log2 = std::log(2.0);
  check([](tx::var x) { return tx::softplus(x); }, {0, std::log1p(e), log2, log2, 2 + std::log1p(e), inf, not_a_number},
        {0, e / (1 + e), 0.5, 0.5, 1 / (1 + e), 1, not_a_number});
  CHECK(evaluated({800}, [](tx::var x) { return tx::softplus(x); }).value[0] == 800);  // exp(800) would overflow
  CHECK(evaluated({-40}, [](tx::var x) { return tx::softplus(x); }).value[0] == Approx(std::exp(-40.0)).epsilon(1e-14));
  CHECK(std::signbit(evaluated({-0.0}, [](tx::var x) { return tx::sign(x); }).value[0]));

  auto const compare = [&](std::function<tx::var(tx::var)> const& op) {
    return evaluated(points, [&](tx::var x) { return tx::cast<tx::f64>(op(x)); }).value;
  };
  CHECK(compare([](tx::var x) { return tx::greater(x, 0); }) == values{0, 0, 0, 0, 1, 1, 0});
  CHECK(compare([](tx::var x) { return tx::greater_equal(x, 0); }) == values{0, 0, 1, 1, 1, 1, 0});
  CHECK(compare([](tx::var x) { return tx::not_equal(x, x); }) == values{0, 0, 0, 0, 0, 0, 1});
  CHECK(compare([](tx::var x) { return tx::not_equal(0, x); }) == values{1, 1, 0, 0, 1, 1, 1});
  CHECK(same(evaluated(points, [](tx::var x) { return tx::maximum(x, 0); }).value, {0, 0, 0, 0, 2, inf, not_a_number}));
  CHECK(
      same(evaluated(points, [](tx::var x) { return tx::minimum(x, 0); }).value, {-inf, -2, 0, 0, 0, 0, not_a_number}));
  CHECK(same(evaluated(points, [](tx::var x) { return tx::maximum(0, x); }).value, {0, 0, 0, 0, 2, inf, 0}));
}

TEST_CASE("powers by small whole exponents become products") {
  array const x = number_source(33).spread(make_dims({2, 3}), -2, 2);
  for (double exponent : {-1.0, 0.0, 1.0, 2.0, 3.0, 4.0}) {
    built_op op({x}, [&](vars const& v) { return tx::pow(v[0], exponent); });
    op.g.outputs.push_back({op.result.id});
    tx::graph const simple = at_run_time::simplified(op.g);
    int powers = 0;
    for (int i = 0; i < simple.size(); ++i) powers += simple[i].op == &tx::pow_info;
    CHECK(powers == (exponent == 4.0 ? 1 : 0));
  }
}

TEST_CASE("integers are compared, clamped and signed too") {
  array const i{make_dims({4}), {-3, 0, 2, 7}, tx::dtype::i32};
  check_op(
      "clamp", {i}, [](vars const& v) { return tx::clamp(v[0], -1, 3); },
      [](arrays const& v) { return each([](double a) { return std::clamp(a, -1.0, 3.0); }, v[0]); }, false);
  check_op(
      "relu", {i}, [](vars const& v) { return tx::relu(v[0]); },
      [](arrays const& v) { return each([](double a) { return std::max(a, 0.0); }, v[0]); }, false);
  check_op(
      "sign", {i}, [](vars const& v) { return tx::sign(v[0]); },
      [](arrays const& v) { return each([](double a) { return truth(a > 0) - truth(a < 0); }, v[0]); }, false);
}

TEST_CASE("operands that an op has no meaning for are refused with what to do about it") {
  auto refusal = [](tx::dtype type, std::function<void(tx::var)> const& op) -> std::string {
    tx::graph g{};
    tx::var const x = tx::emit_leaf(g, tx::input_info, {type, make_dims({2})}, {});
    try {
      op(x);
    } catch (tx::invalid const& e) {
      return e.what();
    }
    return "accepted";
  };
  using Catch::Contains;
  auto const fix = Contains("FIX");
  using tx::dtype;
  CHECK_THAT(refusal(dtype::i32, [](tx::var x) { tx::pow(x, 2); }), Contains("floating-point") && fix);
  CHECK_THAT(refusal(dtype::i32, [](tx::var x) { tx::sin(x); }), Contains("floating-point") && fix);
  CHECK_THAT(refusal(dtype::i32, [](tx::var x) { tx::floor(x); }), Contains("floating-point") && fix);
  CHECK_THAT(refusal(dtype::i32, [](tx::var x) { tx::reciprocal(x); }), Contains("integer") && fix);
  CHECK_THAT(refusal(dtype::boolean, [](tx::var x) { tx::sign(x); }), Contains("not bool") && fix);
  CHECK_THAT(refusal(dtype::f32, [](tx::var x) { tx::logical_not(x); }), Contains("bool tensors") && fix);
  CHECK_THAT(refusal(dtype::i32, [](tx::var x) { tx::logical_or(x, x); }), Contains("bool tensors") && fix);
  CHECK_THAT(refusal(dtype::f32, [](tx::var x) { tx::logical_and(x, x); }), Contains("bool tensors") && fix);
}
