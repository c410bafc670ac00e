// Elementwise ops: values against <cmath>, gradients against central differences, random shapes and broadcasts.
#include "op_tables.hpp"

#include <tx/ops/abs.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/expm1.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/log1p.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/rsqrt.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/stop_gradient.hpp>

namespace {

using vars = std::vector<tx::var>;
using arrays = std::vector<array>;

double sign_of(bool positive) { return positive ? 1 : 0; }

std::vector<unary> unary_ops() {
  return {
      {"neg", [](tx::var x) { return -x; }, [](double x) { return -x; }, -3, 3},
      {"abs", [](tx::var x) { return tx::abs(x); }, [](double x) { return std::fabs(x); }, -3.1, 3},
      {"exp", [](tx::var x) { return tx::exp(x); }, [](double x) { return std::exp(x); }, -4, 3},
      {"expm1", [](tx::var x) { return tx::expm1(x); }, [](double x) { return std::expm1(x); }, -4, 3},
      {"log", [](tx::var x) { return tx::log(x); }, [](double x) { return std::log(x); }, 0.3, 9},
      {"log1p", [](tx::var x) { return tx::log1p(x); }, [](double x) { return std::log1p(x); }, -0.6, 9},
      {"sqrt", [](tx::var x) { return tx::sqrt(x); }, [](double x) { return std::sqrt(x); }, 0.3, 9},
      {"rsqrt", [](tx::var x) { return tx::rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }, 0.3, 9},
      {"tanh", [](tx::var x) { return tx::tanh(x); }, [](double x) { return std::tanh(x); }, -3, 3},
      {"sigmoid", [](tx::var x) { return tx::sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, -5, 5},
      {"erf", [](tx::var x) { return tx::erf(x); }, [](double x) { return std::erf(x); }, -3, 3},
      {"gelu", [](tx::var x) { return tx::gelu(x); }, [](double x) { return x * 0.5 * std::erfc(-x * std::sqrt(0.5)); }, -3, 3},
      {"gelu_tanh", [](tx::var x) { return tx::gelu_tanh(x); },
       [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.141592653589793) * (x + 0.044715 * x * x * x))); }, -3, 3},
      {"x * 1 + 0", [](tx::var x) { return x * 1.0 + 0.0; }, [](double x) { return x; }, -3, 3},
      {"number - x", [](tx::var x) { return 2.5 - x; }, [](double x) { return 2.5 - x; }, -3, 3},
      {"number / x", [](tx::var x) { return 2.5 / x; }, [](double x) { return 2.5 / x; }, 0.5, 3},
      {"x / number", [](tx::var x) { return x / 4; }, [](double x) { return x / 4; }, -3, 3},
      {"maximum(x, 0)", [](tx::var x) { return tx::maximum(x, 0); }, [](double x) { return x > 0 ? x : 0; }, -3.1, 3},
      {"minimum(x, 1)", [](tx::var x) { return tx::minimum(x, 1); }, [](double x) { return x < 1 ? x : 1; }, -3.1, 3},
      {"x * x * x", [](tx::var x) { return x * x * x; }, [](double x) { return x * x * x; }, -2, 2},
  };
}

std::vector<binary> binary_ops() {
  return {
      {"add", [](tx::var a, tx::var b) { return a + b; }, [](double a, double b) { return a + b; }, -3, 3},
      {"sub", [](tx::var a, tx::var b) { return a - b; }, [](double a, double b) { return a - b; }, -3, 3},
      {"mul", [](tx::var a, tx::var b) { return a * b; }, [](double a, double b) { return a * b; }, -3, 3},
      {"div", [](tx::var a, tx::var b) { return a / b; }, [](double a, double b) { return a / b; }, 0.5, 3},
      {"maximum", [](tx::var a, tx::var b) { return tx::maximum(a, b); }, [](double a, double b) { return a < b ? b : a; }, -3, 3},
      {"minimum", [](tx::var a, tx::var b) { return tx::minimum(a, b); }, [](double a, double b) { return b < a ? b : a; }, -3, 3},
      {"less", [](tx::var a, tx::var b) { return tx::less(a, b); }, [](double a, double b) { return sign_of(a < b); }, -3, 3, false},
      {"less_equal", [](tx::var a, tx::var b) { return tx::less_equal(a, b); }, [](double a, double b) { return sign_of(a <= b); }, -3, 3, false},
      {"equal", [](tx::var a, tx::var b) { return tx::equal(tx::maximum(a, b), b); }, [](double a, double b) { return sign_of(a <= b); }, -3, 3, false},
      {"logical_and", [](tx::var a, tx::var b) { return tx::logical_and(tx::less(a, b), tx::less(-1, a)); },
       [](double a, double b) { return sign_of(a < b && -1 < a); }, -3, 3, false},
      {"a b + a / (b + 4)", [](tx::var a, tx::var b) { return a * b + a / (b + 4); }, [](double a, double b) { return a * b + a / (b + 4); }, -3, 3},
  };
}

}  // namespace

TEST_CASE("elementwise ops of one operand") {
  number_source numbers(1);
  for (unary const& u : unary_ops())
    for (int rank : {0, 1, 1, 2, 2, 3, 3, 4}) check_unary(u, numbers, rank);
}

TEST_CASE("elementwise ops of two operands, broadcast as numpy does") {
  number_source numbers(2);
  for (binary const& b : binary_ops())
    for (int rank : {1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}) check_binary(b, numbers, rank, 0.75);
}

TEST_CASE("both operands broadcast") {
  number_source numbers(3);
  for (binary const& b : binary_ops()) {
    array const x = numbers.spread(make_dims({7, 1, 3, 1}), b.lo, b.hi, 0.25);
    array const y = numbers.spread(make_dims({2, 1, 5}), b.lo, b.hi, 0.75);
    check_op(b.name, {x, y}, [&](vars const& v) { return b.op(v[0], v[1]); }, [&](arrays const& v) { return each(b.plain, v[0], v[1]); },
             b.has_gradient, 1e-7);
  }
}

TEST_CASE("where, with each operand broadcast") {
  number_source numbers(4);
  for (int rank : {1, 2, 2, 3, 3, 4, 4}) {
    tx::shape const full = numbers.dims(rank);
    for (int small = 0; small < 4; ++small) {
      array const c = numbers.integers(small == 0 ? numbers.against(full) : full, 0, 2, tx::dtype::boolean);
      array const a = numbers.spread(small == 1 ? numbers.against(full) : full, -3, 3);
      array const b = numbers.spread(small == 2 ? numbers.against(full) : full, -3, 3);
      check_op("where", {c, a, b}, [](vars const& v) { return tx::where(v[0], v[1], v[2]); },
               [](arrays const& v) {
                 tx::shape const dims = joined(v[0].dims, joined(v[1].dims, v[2].dims));
                 array out = filled(dims);
                 for (std::size_t e = 0; e < out.v.size(); ++e) {
                   auto const at = position_of(dims, e);
                   array const& from = v[0].v[element_at(v[0].dims, at)] != 0 ? v[1] : v[2];
                   out.v[e] = from.v[element_at(from.dims, at)];
                 }
                 return out;
               });
    }
  }
}

TEST_CASE("ties share the gradient") {
  array const a{make_dims({3}), {1, 2, 3}};
  array const b{make_dims({3}), {1, 5, 3}};
  for (bool largest_of : {true, false}) {
    built_op op({a, b}, [&](vars const& v) { return largest_of ? tx::maximum(v[0], v[1]) : tx::minimum(v[0], v[1]); });
    for (int id : op.differentiate(filled(a.dims, 1))) op.g.outputs.push_back({id});
    auto const out = run_graph(op.g, {a, b, filled(a.dims, 1)}, true);
    CHECK(out[0] == (largest_of ? values{0.5, 0, 0.5} : values{0.5, 1, 0.5}));
    CHECK(out[1] == (largest_of ? values{0.5, 1, 0.5} : values{0.5, 0, 0.5}));
  }
  // Clipping: inside the gradient passes, outside it does not.
  array const x{make_dims({5}), {-2, -0.5, 0, 0.5, 2}};
  built_op clip({x}, [](vars const& v) { return tx::minimum(tx::maximum(v[0], -1), 1); });
  clip.g.outputs.push_back({clip.result.id});
  clip.g.outputs.push_back({clip.differentiate(filled(x.dims, 1))[0]});
  auto const clipped = run_graph(clip.g, {x, filled(x.dims, 1)}, true);
  CHECK(clipped[0] == values{-1, -0.5, 0, 0.5, 1});
  CHECK(clipped[1] == values{0, 1, 1, 1, 0});
  // abs at 0
  built_op magnitude({x}, [](vars const& v) { return tx::abs(v[0]); });
  magnitude.g.outputs.push_back({magnitude.differentiate(filled(x.dims, 1))[0]});
  CHECK(run_graph(magnitude.g, {x, filled(x.dims, 1)}, true)[0] == values{-1, -1, 0, 1, 1});
}

TEST_CASE("gradients of values that are used twice add up, unused ones are zero") {
  number_source numbers(5);
  array const x = numbers.spread(make_dims({3, 7}), 0.5, 2);
  check_op("x exp(x) / (x + 1) + x", {x}, [](vars const& v) { return v[0] * tx::exp(v[0]) / (v[0] + 1) + v[0]; },
           [](arrays const& v) { return each([](double a) { return a * std::exp(a) / (a + 1) + a; }, v[0]); });
  check_op("unused", {x, x}, [](vars const& v) { return v[0] + 1; }, [](arrays const& v) { return each([](double a) { return a + 1; }, v[0]); });
  check_op("stopped", {x, x}, [](vars const& v) { return v[1] * tx::stop_gradient(tx::exp(v[1])) - v[1]; },
           [fixed = x](arrays const& v) {
             return each([](double a, double b) { return a * std::exp(b) - a; }, v[1], fixed);  // the second factor does not move
           });
}

TEST_CASE("casts between element types") {
  array const x{make_dims({6}), {-2.7, -0.4, 0, 0.4, 1.5, 2.9}};
  check_op("to f32 and back", {x}, [](vars const& v) { return tx::cast<tx::f64>(tx::cast<tx::f32>(v[0]) * 2); },
           [](arrays const& v) { return each([](double a) { return 2 * a; }, v[0]); });
  check_op("to i32", {x}, [](vars const& v) { return tx::cast<tx::f64>(tx::cast<tx::i32>(v[0])); },
           [](arrays const& v) { return each([](double a) { return std::trunc(a); }, v[0]); }, false);
  built_op op({x}, [](vars const& v) { return tx::cast<tx::f64>(tx::cast<tx::i32>(v[0])) + v[0]; });
  op.g.outputs.push_back({op.differentiate(filled(x.dims, 1))[0]});
  CHECK(run_graph(op.g, {x, filled(x.dims, 1)}, true)[0] == values(6, 1));  // nothing flows through an integer
}

TEST_CASE("dropout records nothing in inference") {
  array const x = number_source(6).spread(make_dims({2, 3}), -1, 1);
  built_op op({x}, [](vars const& v) {
    v[0].g->training = false;
    return tx::dropout(v[0]);
  });
  CHECK(op.result.id == op.leaves[0].id);
  CHECK(op.g.size() == 1);
}

TEST_CASE("wrong operands are refused with what to do about it") {
  auto refusal = [](tx::dtype a, std::vector<int> const& da, tx::dtype b, std::vector<int> const& db, auto op) -> std::string {
    tx::graph g{};
    tx::var const x = tx::emit_leaf(g, tx::input_info, {a, make_dims(da)}, {});
    tx::var const y = tx::emit_leaf(g, tx::input_info, {b, make_dims(db)}, tx::attributes{{1}});
    try {
      op(x, y);
    } catch (tx::invalid const& e) {
      return e.what();
    }
    return "accepted";
  };
  using tx::dtype;
  auto const add = [](tx::var x, tx::var y) { return x + y; };
  CHECK_THAT(refusal(dtype::f32, {2, 3}, dtype::f32, {2}, add), Catch::Contains("do not broadcast") && Catch::Contains("FIX"));
  CHECK_THAT(refusal(dtype::f32, {2}, dtype::f64, {2}, add), Catch::Contains("element types differ") && Catch::Contains("FIX"));
  CHECK_THAT(refusal(dtype::i32, {2}, dtype::i32, {2}, [](tx::var x, tx::var) { return tx::exp(x); }), Catch::Contains("floating-point"));
  CHECK_THAT(refusal(dtype::i32, {2}, dtype::i32, {2}, [](tx::var x, tx::var) { return x * 0.5; }), Catch::Contains("fraction"));
  CHECK_THAT(refusal(dtype::i32, {2}, dtype::f32, {2}, [](tx::var x, tx::var y) { return tx::where(x, y, y); }), Catch::Contains("bool"));
}
