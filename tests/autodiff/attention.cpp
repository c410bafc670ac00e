// Attention differentiated twice: its gradient is written out then, as products.
#include "second.hpp"

#include <tx/autodiff/grad.hpp>
#include <tx/autodiff/recompute.hpp>
#include <tx/backends/cpu.hpp>
#include <tx/nn/attend.hpp>
#include <tx/nn/attend_packed.hpp>
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

TEST_CASE("packed attention counts as many FLOPs as padded attention of its longest text, whatever tokens there are in all") {
  constexpr auto padded = [](tx::tensor<float, 4, 2, 5, 3> x) { return tx::nn::attend(x, x, x); };
  constexpr auto packed = [](tx::tensor<float, 4 * 5, 6> x, tx::tensor<tx::i32, 5> begins) {
    return tx::nn::attend_packed<2>(x, x, x, tx::nn::texts_at<5>(begins));
  };
  auto const flops = []<class F>(F const&) {
    tx::graph g{};
    tx::trace<tx::no_model, F{}>(g);
    for (int i = 0; i < g.size(); ++i)
      if (g[i].op == &tx::attention_info) return tx::detail::product_flops(g, i);
    return std::int64_t{0};
  };
  CHECK(flops(padded) == 4 * (4 * 5 * 6) * 5);
  CHECK(flops(packed) == flops(padded));
}

TEST_CASE("where all is dropped, attention differentiated twice is 0, not NaN") {
  constexpr auto all_dropped = [](layer const& m, tx::tensor<float, 2, 5, 6> x, tx::tensor<float> rate) {
    constexpr auto heads = [](auto const& y) { return tx::transpose<0, 2, 1, 3>(tx::reshape<2, 5, 2, 3>(y)); };
    constexpr auto dropping = [](auto const& y, auto const& r) { return tx::sum(tx::nn::attend(y, y, y, tx::nn::drop(r))); };
    auto const slope = tx::grad<dropping>(heads(m.query(x)), rate);
    return tx::mean(slope * slope);
  };
  tx::executor<tx::value_and_grad<all_dropped, layer>, tx::cpu> run{tx::seed(0)};
  std::vector<float> x(60);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 7;
  auto const nothing = run(x, std::array{1.0f});
  CHECK(nothing.value == 0);
  for (float const g : nothing.gradient.elements()) CHECK(g == 0);
  CHECK(run(x, std::array{0.25f}).value > 0);
}

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
