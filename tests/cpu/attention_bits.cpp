#include "attention_reference.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace attention_test;

namespace {

template <class T>
bool same_bits(T const* a, T const* b, count_t n) {
  return n == 0 || std::memcmp(a, b, size(n) * sizeof(T)) == 0;
}
template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && same_bits(a.data(), b.data(), static_cast<count_t>(a.size()));
}

template <class T>
void same_in_any_cut(settings const& s) {
  problem<T> one(s);
  one.forward(1);
  one.backward(1);
  for (int const shares : {2, 16, 37}) {
    problem<T> other(s);
    other.forward(shares, shares == 16);
    other.backward(shares, shares == 16);
    CAPTURE(shares, s.heads, s.key_heads, s.keys);
    CHECK(same_bits(one.out, other.out));
    CHECK(same_bits(one.greatest, other.greatest));
    CHECK(same_bits(one.log_sum, other.log_sum));
    CHECK(same_bits(one.d_q, other.d_q));
    CHECK(same_bits(one.d_k, other.d_k));
    CHECK(same_bits(one.d_v, other.d_v));
    CHECK(same_bits(one.d_bias, other.d_bias));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("attention has the same bits in any number of shares, in any order", "[attention]", f32, bf16, f64) {
  settings s{.texts = 3, .queries = 130, .keys = 170, .heads = 6, .key_heads = 2, .head = 24, .causal = true, .mask = 1, .rate = 0.2f};
  s.bias = std::array<bool, 4>{true, false, false, false};
  same_in_any_cut<TestType>(s);
  same_in_any_cut<TestType>({.queries = 300, .keys = 1100, .heads = 1, .key_heads = 1, .head = 64});
  same_in_any_cut<TestType>({.heads = 2, .key_heads = 1, .head = 8, .causal = true, .lengths = {70, 0, 1, 200}, .key_lengths = {70, 3, 1, 200}, .rows_behind = 3});
}

TEMPLATE_TEST_CASE("a text has the same bits alone, in a batch, and packed among others", "[attention]", f32, bf16) {
  using T = TestType;
  count_t const n = 1100, heads = 2, head = 33;
  settings const shape{.queries = n, .keys = n, .heads = heads, .key_heads = 1, .head = head, .causal = true, .seed = 4};
  problem<T> alone(shape);
  alone.forward();
  alone.backward();
  settings two = shape;
  two.texts = 2;
  problem<T> batch(two);
  settings of_three = shape;
  of_three.lengths = of_three.key_lengths = {50, n, 7};
  problem<T> packed(of_three);
  auto const within = [&](problem<T>& p, count_t row) {
    std::copy(alone.q.begin(), alone.q.end(), p.q.begin() + row * heads * head);
    std::copy(alone.d_out.begin(), alone.d_out.end(), p.d_out.begin() + row * heads * head);
    std::copy(alone.k.begin(), alone.k.end(), p.k.begin() + row * head);
    std::copy(alone.v.begin(), alone.v.end(), p.v.begin() + row * head);
    p.forward();
    p.backward();
    CHECK(same_bits(alone.out.data(), p.out.data() + row * heads * head, n * heads * head));
    CHECK(same_bits(alone.d_q.data(), p.d_q.data() + row * heads * head, n * heads * head));
    CHECK(same_bits(alone.d_k.data(), p.d_k.data() + row * head, n * head));
    CHECK(same_bits(alone.d_v.data(), p.d_v.data() + row * head, n * head));
  };
  within(batch, n);
  within(packed, 50);
}

TEST_CASE("a query has the same bits whatever queries are beside it", "[attention]") {
  count_t const n = 150, head = 16;
  problem<f32> all({.queries = n, .keys = n, .heads = 2, .key_heads = 2, .head = head, .causal = true});
  all.forward();
  for (count_t const last : {1, 3, 40}) {
    settings few{.queries = last, .keys = n, .heads = 2, .key_heads = 2, .head = head, .causal = true};
    problem<f32> some(few);
    some.k = all.k;
    some.v = all.v;
    some.q.assign(all.q.end() - last * 2 * head, all.q.end());
    some.p.q = some.q.data();
    some.p.k = some.k.data();
    some.p.v = some.v.data();
    some.forward();
    CHECK(same_bits(some.out.data(), all.out.data() + (n - last) * 2 * head, last * 2 * head));
  }
}

TEST_CASE("words of neighbouring rows are Philox's", "[attention]") {
  for (auto const row : {std::uint64_t{0}, std::uint64_t{0xfffffff9}, std::uint64_t{0x1234567890}})
    for (auto const column : {0u, 4u, 1000u, 0xfffffffcu}) {
      auto const key = philox_key::from(0x9e3779b97f4a7c15ull);
      auto const words = cpu::detail::random_words_of_rows(key, {7, 1u << 31}, row, column);
      for (unsigned w = 0; w < 4; ++w)
        for (int i = 0; i < cpu::lanes; ++i)
          REQUIRE(static_cast<std::uint32_t>(words.of[w][i]) == random_block(key, {7, 1u << 31}, row + static_cast<unsigned>(i), column)[w]);
    }
}
