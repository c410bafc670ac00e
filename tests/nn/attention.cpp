// nn::multi_head_attention, rotary and gated_feed_forward against PyTorch and Hugging Face's Llama, values and gradients
// (tests/parity/attention.py); attention over a cache against attention over all at once.
#include "../ops/torch_groups.hpp"

#include <tx/nn/gated_feed_forward.hpp>
#include <tx/nn/multi_head_attention.hpp>
#include <tx/nn/rotary.hpp>
#include <tx/ops/full.hpp>
#include <tx/ops/update_at.hpp>

#include <algorithm>

namespace {

constexpr int batch = 2, queries = 5, keys = 7, heads = 4, width = 8;
using sequence = tx::tensor<float, batch, queries, width>;

struct told {
  tx::tensor<float> loss;
  sequence y;
};
constexpr told weighed_result(sequence const& y) { return {weighed(y), y}; }

template <int KeyHeads = heads>
struct itself {
  tx::nn::multi_head_attention<width, heads, KeyHeads> attention;
  tx::param<sequence> x;
};
constexpr auto to_itself = [](itself<> const& m) { return weighed_result(m.attention(m.x)); };
template <int KeyHeads>
constexpr auto to_the_past = [](itself<KeyHeads> const& m) { return weighed_result(m.attention(m.x, tx::nn::causal)); };
constexpr auto with_one_key_head = [](itself<1> const& m) { return weighed_result(m.attention(m.x)); };
constexpr auto turned = [](itself<> const& m) {
  auto const heads_of = [](auto const& x) { return tx::transpose<0, 2, 1, 3>(tx::reshape<batch, queries, heads, width / heads>(x)); };
  auto const mixed = tx::nn::attend(tx::nn::rotary(heads_of(m.attention.q_proj(m.x))), tx::nn::rotary(m.attention.keys(m.x)),
                                    m.attention.values(m.x), tx::nn::causal);
  return weighed_result(m.attention.o_proj(tx::reshape<batch, queries, width>(tx::transpose<0, 2, 1, 3>(mixed))));
};

struct other {
  tx::nn::multi_head_attention<width, heads, heads, 6> attention;
  tx::param<sequence> x;
  tx::param<tx::tensor<float, batch, keys, 6>> memory;
};
constexpr auto to_memory = [](other const& m, tx::tensor<tx::i32, batch, keys> mask) { return weighed_result(m.attention(m.x, m.memory, mask)); };

struct biased {
  tx::nn::multi_head_attention<width, heads> attention;
  tx::param<sequence> x;
  tx::param<tx::tensor<float, 1, heads, queries, queries>> bias;
};
constexpr auto with_bias = [](biased const& m) { return weighed_result(m.attention(m.x, m.bias)); };

struct places {
  tx::param<tx::tensor<float, 2, 3, 5, 6>> x;
};
struct told_places {
  tx::tensor<float> loss;
  tx::tensor<float, 2, 3, 5, 6> from_zero, at;
};
constexpr auto turn = [](places const& m, tx::tensor<tx::i32, 5> where) {
  auto const from_zero = tx::nn::rotary(m.x), at = tx::nn::rotary(m.x, where);
  return told_places{weighed(from_zero) + weighed(at, 2), from_zero, at};
};

struct gated {
  tx::nn::gated_feed_forward<6, 10> layer;
  tx::param<tx::tensor<float, 3, 4, 6>> x;
};
struct told_gated {
  tx::tensor<float> loss;
  tx::tensor<float, 3, 4, 6> y;
};
constexpr auto through_gate = [](gated const& m) {
  auto const y = m.layer(m.x);
  return told_gated{weighed(y), y};
};

// ---- a cache ---------------------------------------------------------------------------------------------------------

constexpr int longest = 6;
using text = tx::tensor<float, 1, longest, width>;
using place_of_keys = tx::tensor<float, 1, 2, longest, width / heads>;
struct remembering {
  tx::nn::multi_head_attention<width, heads, 2> attention;
  tx::state<place_of_keys> keys, values;
};
constexpr auto at_once = [](remembering const& m, text x) { return m.attention(x, tx::nn::causal); };
constexpr auto word_by_word = [](remembering const& m, tx::tensor<float, 1, 1, width> x, tx::tensor<tx::i32> place) {
  auto const k = tx::update_at<2>(m.keys, m.attention.keys(x), place), v = tx::update_at<2>(m.values, m.attention.values(x), place);
  m.keys.set(k);
  m.values.set(v);
  auto const known = tx::less_equal(tx::iota<1>(tx::zeros<tx::tensor<float, 1, longest>>(x)), place);  // [1, longest]
  return m.attention.attend_to(x, k, v, known);
};

}  // namespace

TEST_CASE("attention to itself is PyTorch's") {
  auto const torch = torch_numbers("attention");
  check_group<tx::cpu, float, itself<>, to_itself>(torch, "itself", {"y"}, 2e-5);
  check_group<tx::cpu, float, itself<>, to_the_past<heads>>(torch, "causal", {"y"}, 2e-5);
}
TEST_CASE("attention with shared key heads is PyTorch's") {
  auto const torch = torch_numbers("attention");
  check_group<tx::cpu, float, itself<2>, to_the_past<2>>(torch, "grouped", {"y"}, 2e-5);
  check_group<tx::cpu, float, itself<1>, with_one_key_head>(torch, "one_key_head", {"y"}, 5e-5);
}
TEST_CASE("attention to another sequence, to some of its places, and with a bias is PyTorch's") {
  auto const torch = torch_numbers("attention");
  std::vector<tx::i32> const mask{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0};
  check_group<tx::cpu, float, other, to_memory>(torch, "memory", {"y"}, 2e-5, mask);
  check_group<tx::cpu, float, biased, with_bias>(torch, "biased", {"y"}, 2e-5);
}
TEST_CASE("rotary places are Llama's") {
  auto const torch = torch_numbers("attention");
  check_group<tx::cpu, float, places, turn>(torch, "rotary", {"from_zero", "at"}, 2e-5, std::vector<tx::i32>{7, 3, 100, 0, 1});
  check_group<tx::cpu, float, itself<>, turned>(torch, "turned", {"y"}, 2e-5);
}
TEST_CASE("a feed-forward with a gate is Llama's") {
  check_group<tx::cpu, float, gated, through_gate>(torch_numbers("attention"), "gated", {"y"}, 2e-5);
}

TEST_CASE("attention over a cache is attention over all that came before") {
  tx::executor<tx::function<at_once, remembering>, tx::cpu> whole{tx::seed(5)};
  tx::executor<tx::function<word_by_word, remembering>, tx::cpu> next{whole};
  std::vector<float> x(longest * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 13) * 0.3f - 2;
  for (int again = 0; again < 2; ++again) {  // a text after another one needs no reset: what is beyond the place is not read
    auto const wanted = whole(x);
    for (int place = 0; place < longest; ++place) {
      auto const y = next(std::span(x).subspan(static_cast<std::size_t>(place) * width, width), std::array{place});
      for (std::size_t j = 0; j < width; ++j) CHECK(y.value[j] == Approx(wanted.value[static_cast<std::size_t>(place) * width + j]).margin(1e-6));
    }
    std::ranges::reverse(x);
  }
  CHECK_THROWS_WITH(next(std::span(x).first(width), std::array{longest}), Catch::Contains("where a slice or what is written begins; it must be below " + std::to_string(longest)) && Catch::Contains("a cache that is full takes no more"));
}

TEST_CASE("rotary of f64 turns by angles of f64") {
  constexpr auto by_double = [](tx::tensor<double, 2, 2> x, tx::tensor<tx::i32, 2> where) { return tx::nn::rotary(x, where); };
  tx::executor<tx::function<by_double>, tx::cpu> run{tx::seed(0)};
  auto const r = run(std::vector<double>{1, 0, 1, 0}, std::vector<tx::i32>{1000, 131'071});
  CHECK(r.value.data[0] == Approx(std::cos(1000.0)).epsilon(1e-13));
  CHECK(r.value.data[1] == Approx(std::sin(1000.0)).epsilon(1e-13));
  CHECK(r.value.data[2] == Approx(std::cos(131'071.0)).epsilon(1e-12));
}
