// Attention differentiated twice: its gradient is written out then, as products.
#include "second.hpp"

#include <tx/autodiff/grad.hpp>
#include <tx/backends/cpu.hpp>
#include <tx/nn/attend.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/attention.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/mean.hpp>
#include <tx/train/check_gradient.hpp>

namespace {

using tx::var;
using vars = std::vector<var>;

void check(char const* name, tx::attention_facts const& f, std::vector<array> const& behind, bool packed = false) {
  number_source numbers(23);
  auto const of = [&](int heads, int tokens) { return numbers.spread(packed ? make_dims({tokens, heads * 2}) : make_dims({2, 4, heads * 2}), -1, 1); };
  int const key_tokens = f.keys_apart() ? 9 : 7;
  std::vector<array> in{of(f.heads, 7), of(f.key_heads, key_tokens), of(f.key_heads, key_tokens)};
  in.insert(in.end(), behind.begin(), behind.end());
  check_second(name, in, [&](vars const& v) {
    tx::vec<var> operands{};
    for (var const& x : v) operands.push_back(x);
    if (f.dropout) operands.push_back(tx::constant(*v[0].g, tx::dtype::f32, 0.5));
    var const y = tx::attention(operands, f);
    return y * y + y;
  });
}
array of_type(tx::dtype type, std::vector<int> const& dims, values const& v) { return {make_dims(dims), v, type}; }

struct layer {
  tx::nn::linear<6, 6> query, key, value;
  constexpr auto operator()(auto const& x) const { return tx::nn::attend(apart(query(x)), apart(key(x)), apart(value(x)), tx::nn::causal); }

 private:
  static constexpr auto apart(auto const& x) { return tx::transpose<0, 2, 1, 3>(tx::reshape<2, 5, 2, 3>(x)); }
};
constexpr auto total = [](auto const& x, auto const& m) { return tx::sum(m(x)); };
constexpr auto penalised = [](layer const& m, tx::tensor<float, 2, 5, 6> x) {
  auto const slope = tx::grad<total>(x, m);
  return tx::mean(tx::sum<1>(slope * slope)) + total(x, m) * 0.1;
};

}  // namespace

TEST_CASE("second derivatives of attention", "[second]") {
  number_source numbers(29);
  array const mask = of_type(tx::dtype::boolean, {2, 4}, {1, 1, 0, 1, 0, 1, 1, 1}), bias = numbers.spread(make_dims({1, 2, 4, 4}), -1, 1);
  array const noise = of_type(tx::dtype::f32, {2, 2, 4, 4}, [] {
    values u(64);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = i % 3 == 0 ? 0.25 : 0.75;
    return u;
  }());
  check("plain", {.heads = 2, .key_heads = 2}, {});
  check("grouped and causal, with a bias", {.heads = 2, .key_heads = 1, .causal = true, .bias = true}, {bias});
  check("a mask and dropout", {.heads = 2, .key_heads = 2, .mask = true, .dropout = true}, {mask, noise});
  check("packed", {.heads = 2, .key_heads = 2, .longest = 4}, {of_type(tx::dtype::i32, {4}, {0, 2, 3, 7})}, true);
  array const begins = of_type(tx::dtype::i32, {4}, {0, 4, 4, 6}), keys_begin = of_type(tx::dtype::i32, {4}, {1, 1, 4, 9});  // a text without keys, one without queries
  check("packed, keys apart", {.heads = 2, .key_heads = 1, .longest = 4, .key_longest = 5}, {begins, keys_begin}, true);
}

TEST_CASE("a loss that holds a gradient of attention has the gradient that differences have", "[second]") {
  std::vector<float> x(60);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 23) / 10 - 1;
  auto const worst = tx::check_gradient<penalised, tx::cpu, layer>(x);
  INFO(worst.text());
  CHECK(worst.distance < 2e-3);
}
