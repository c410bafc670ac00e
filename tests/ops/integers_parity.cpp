// Ops on integers of all sizes against PyTorch's (tests/parity/integers.py), at the ends of their ranges: small ones
// wrap around within a fused kernel as they do in memory. Numbers are compared as f64; integers.cpp has larger ones.
#include "../interpreter/passes.hpp"
#include "torch_groups.hpp"

#include <tx/ops/abs.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/clamp.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/sign.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/where.hpp>
#include <tx/passes/rewrite.hpp>

namespace {

template <class T, auto... D>
using t = tx::tensor<T, D...>;

// Members are named as in the file.
template <class T>
struct results {
  t<T, 17> sum, difference, product, quotient, larger, smaller, sign, size;
  t<tx::i32, 17> ordered;
  t<T, 1> total, most, least;
  t<T, 17> running;
  t<tx::i8, 17> as_i8;
  t<float, 17> as_f32;
  t<bool, 17> as_bool;
  t<T, 17> clamped;
};
std::vector<std::string> const names{"sum",     "difference", "product", "quotient", "larger", "smaller",
                                     "sign",    "size",       "ordered", "total",    "most",   "least",
                                     "running", "as_i8",      "as_f32",  "as_bool",  "clamped"};

template <class T>
constexpr auto computed = [](t<T, 17> a, t<T, 17> b, t<T, 17> divisor, t<T, 17> small) {
  auto const bit = [](auto const& holds, int value) { return tx::cast<tx::i32>(holds) * value; };
  return results<T>{a + b,
                    a - b,
                    a * b,
                    a / divisor,
                    tx::maximum(a, b),
                    tx::minimum(a, b),
                    tx::sign(a),
                    tx::abs(b),
                    bit(tx::less(a + b, a), 1) + bit(tx::less_equal(a * b, b), 2) + bit(tx::equal(a - b, b), 4),
                    tx::sum<0>(small),
                    tx::max<0>(a),
                    tx::min<0>(a),
                    tx::cumsum<0>(small),
                    tx::cast<tx::i8>(a),
                    tx::cast<float>(b),
                    tx::cast<bool>(a),
                    tx::clamp(a, 1, 5)};
};

template <class T, class Backend, tx::compile_options Options = tx::compile_options{}>
void check_integers(std::string const& group) {
  INFO(group);
  torch_numbers const torch{"integers"};
  auto const in = [&](char const* name) { return torch.as<T>(group + "." + name); };
  tx::executor<tx::function<computed<T>, tx::no_model, tx::compiled_with<Options>>, Backend> run{tx::seed(0), {.threads = 2}};
  auto const told = as_values(run(in("a"), in("b"), in("divisor"), in("small")));
  REQUIRE(told.size() == names.size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    INFO(names[k]);
    CHECK(told[k] == torch[group + "." + names[k]]);
  }
}

struct quotients {
  t<tx::i32, 5> small;
  t<tx::i64, 5> large;
};
constexpr auto divided = [](t<tx::i32, 5> a, t<tx::i32, 5> b, t<tx::i64, 5> c, t<tx::i64, 5> d) {
  return quotients{a / b, c / d};
};

constexpr double inf = std::numeric_limits<double>::infinity();
static_assert(tx::math::divide(-7, 2) == -3 && tx::math::divide(5, 0) == 0);
static_assert(tx::math::divide(1.0, -0.0) == -inf && tx::math::divide(-1.0, -0.0) == inf);
static_assert(tx::math::divide(0.0, 0.0) != tx::math::divide(0.0, 0.0));

}  // namespace

TEST_CASE("integers of all sizes are PyTorch's") {
  check_integers<tx::i8, tx::cpu>("i8");
  check_integers<tx::u8, tx::cpu>("u8");
  check_integers<tx::i16, tx::cpu>("i16");
  check_integers<tx::i32, tx::cpu>("i32");
  check_integers<tx::i64, tx::cpu>("i64");
}
TEST_CASE("integers are PyTorch's, a kernel for each op") { check_integers<tx::i8, tx::cpu, unfused>("i8"); }
TEST_CASE("integers are PyTorch's: reference") {
  check_integers<tx::u8, tx::reference>("u8");
  check_integers<tx::i16, tx::reference>("i16");
  check_integers<tx::i64, tx::reference>("i64");
}

TEST_CASE("integer quotients: 0 by 0, no trap at the end of the range") {
  constexpr tx::i32 lowest = std::numeric_limits<tx::i32>::min();
  constexpr tx::i64 last = std::numeric_limits<tx::i64>::min();
  tx::executor<tx::function<divided>, tx::cpu> run{tx::seed(0)};
  auto const r = run(std::vector<tx::i32>{7, -7, 5, lowest, 0}, std::vector<tx::i32>{2, 2, 0, -1, 0},
                     std::vector<tx::i64>{7, -7, 5, last, 0}, std::vector<tx::i64>{-2, 3, 0, -1, 0});
  CHECK(std::vector<tx::i32>(r.small.begin(), r.small.end()) == std::vector<tx::i32>{3, -3, 0, lowest, 0});
  CHECK(std::vector<tx::i64>(r.large.begin(), r.large.end()) == std::vector<tx::i64>{-3, -2, 0, last, 0});
}

TEST_CASE("quotients of constants are folded as they are computed") {
  tx::graph g{};
  auto const number = [&](tx::dtype type, double value) { return tx::constant(g, type, value); };
  g.outputs.push_back({(number(tx::dtype::i32, 7) / number(tx::dtype::i32, 2)).id});
  g.outputs.push_back({(number(tx::dtype::f64, 7) / number(tx::dtype::f64, 2)).id});
  g.outputs.push_back({(number(tx::dtype::f64, -7) / number(tx::dtype::f64, 0)).id});
  tx::graph const simple = at_run_time::simplified(g);
  evaluator const result(simple, [](tx::node const&) { return values{}; });
  CHECK(result[simple.outputs[0].value] == values{3});
  CHECK(result[simple.outputs[1].value] == values{3.5});
  CHECK(result[simple.outputs[2].value] == values{-inf});
}
