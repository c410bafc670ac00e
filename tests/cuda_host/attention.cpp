// Attention of halves on the device, as a kernel: scores are in f32, and probabilities are rounded before they meet values. The reference computes it op by op, and rounds scores too.
#include "compare.hpp"

#include <tx/nn/attend.hpp>
#include <tx/nn/attend_packed.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/mean.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

namespace {

template <class T, auto... D>
using t = tx::tensor<T, D...>;

// What the gradient of a weighted mean gives to queries, keys and values, which are the parameters.
template <int Texts, int Heads, int KeyHeads, int Queries, int Keys, int Head>
struct given {
  tx::param<t<float, Texts, Heads, Queries, Head>, tx::init::uniform<2, 1>> q;
  tx::param<t<float, Texts, KeyHeads, Keys, Head>, tx::init::uniform<2, 1>> k, v;
};
template <class H, class Model, int Texts, int Keys>
constexpr auto masked_loss = [](Model const& m, t<int, Texts, Keys> ids) {
  auto const out = tx::cast<float>(tx::nn::attend(tx::cast<H>(m.q), tx::cast<H>(m.k), tx::cast<H>(m.v), tx::less(0, ids), tx::nn::drop(0.25)));
  return tx::sum(out * out * 0.25);
};
template <class H, class Model, auto... How>
constexpr auto bounded_loss = [](Model const& m) {
  auto const out = tx::cast<float>(tx::nn::attend(tx::cast<H>(m.q), tx::cast<H>(m.k), tx::cast<H>(m.v), How...));
  return tx::sum(out * out * 0.25);
};

// And to a bias, of which axes have one element for all texts, heads, queries or keys.
template <class Given, class B, int... Axes>
struct biased {
  Given all;
  tx::param<t<float, Axes...>, tx::init::uniform<2, 1>> bias;
};
template <class H, class Model, class B, auto... How>
constexpr auto biased_loss = [](Model const& m) {
  auto const out = tx::cast<float>(tx::nn::attend(tx::cast<H>(m.all.q), tx::cast<H>(m.all.k), tx::cast<H>(m.all.v), tx::cast<B>(m.bias), How...));
  return tx::sum(out * out * 0.25);
};

// How an attention is.
template <auto... How>
struct with {};

struct tokens {
  tx::param<t<float, 150, 32>, tx::init::uniform<2, 1>> q, k, v;
};
template <class H, auto... How>
constexpr auto packed_loss = [](tokens const& m, t<int, 4> offsets) {
  auto const out = tx::cast<float>(tx::nn::attend_packed<2>(tx::cast<H>(m.q), tx::cast<H>(m.k), tx::cast<H>(m.v), tx::nn::texts_at<80>(offsets), How...));
  return tx::sum(out * out * 0.25);
};

struct biased_tokens {
  tokens all;
  tx::param<t<float, 1, 2, 80, 80>, tx::init::uniform<2, 1>> bias;
};
constexpr auto biased_packed_loss = [](biased_tokens const& m, t<int, 4> offsets) {
  auto const out = tx::cast<float>(tx::nn::attend_packed<2>(tx::cast<tx::f16>(m.all.q), tx::cast<tx::f16>(m.all.k), tx::cast<tx::f16>(m.all.v), tx::nn::texts_at<80>(offsets), m.bias));
  return tx::sum(out * out * 0.25);
};
// Masks that are added, of which one is lower than all scores that take part.
constexpr auto added_mask_loss = [](given<2, 2, 2, 70, 90, 16> const& m, t<float, 2, 1, 1, 90> mask) {
  auto const out = tx::cast<float>(tx::nn::attend(tx::cast<tx::f16>(m.q), tx::cast<tx::f16>(m.k), tx::cast<tx::f16>(m.v), mask));
  return tx::sum(out * out * 0.25);
};

template <class Step>
constexpr int kernels_of_attention = [] {
  using program = typename Step::template program<tx::cuda_target>;
  int count = 0;
  for (tx::exec::call const& c : program::calls) count += program::kernels[c.kernel].kind == tx::exec::kernel_kind::whole;
  return count;
}();

// How far parameters are apart after a step, and the loss, which is large, in parts of it.
template <class Step, class... In>
double apart(std::vector<In> const&... in) {
  values device = outcome<Step, interpreted>(1, in...), host = outcome<typename one_by_one<Step>::type, tx::reference>(1, in...);
  device[0] /= host[0];
  host[0] = 1;
  return distance(device, host);
}

}  // namespace

TEMPLATE_TEST_CASE("Attention of texts with a mask and dropout", "", tx::bf16, tx::f16) {
  using model = given<2, 2, 2, 70, 90, 16>;
  using step = tx::train_step<model, masked_loss<TestType, model, 2, 90>, descent>;
  CHECK(kernels_of_attention<step> == 2);
  std::vector<int> ids(180);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i % 90 < 60 + i / 90 * 20 ? 1 : 0;
  CHECK(apart<step>(ids) < (std::is_same_v<TestType, tx::bf16> ? 2e-2 : 3e-3));
}

TEST_CASE("Attention whose queries see keys by their places") {
  using grouped = given<1, 4, 2, 65, 130, 72>;
  CHECK(apart<tx::train_step<grouped, bounded_loss<tx::f16, grouped, tx::nn::causal>, descent>>() < 3e-3);
  using local = given<1, 1, 1, 100, 100, 24>;
  CHECK(apart<tx::train_step<local, bounded_loss<tx::f16, local, tx::nn::local<9>>, descent>>() < 3e-3);
}

TEST_CASE("Attention of which whole tiles are not seen") {
  auto const check = []<class Given, auto... How>(std::type_identity<Given>, with<How...>, double nearly = 3e-3) {
    CHECK(apart<tx::train_step<Given, bounded_loss<tx::f16, Given, How...>, descent>>() < nearly);
  };
  check(std::type_identity<given<1, 2, 1, 200, 200, 16>>{}, with<tx::nn::causal, tx::nn::drop(0.25)>{});
  check(std::type_identity<given<1, 1, 1, 150, 300, 16>>{}, with<tx::nn::local<40>, tx::nn::drop(0.25)>{});
  check(std::type_identity<given<1, 1, 1, 150, 300, 16>>{}, with<tx::nn::causal, tx::nn::local<70>>{});
  // Queries that see no key: all 70 are as probable.
  check(std::type_identity<given<1, 1, 1, 200, 70, 16>>{}, with<tx::nn::local<9>, tx::nn::drop(0.25)>{});
}

TEST_CASE("Tiles that are left out are those that nobody sees, whichever side asks") {
  tx::backends::device::attention_problem p{};
  constexpr int lines = tx::backends::device::attention_lines;
  int left_out = 0;
  for (bool const causal : {false, true})
    for (int const window : {0, 1, 30, 64, 100})
      for (int const first : {-70, 0, 5, 64, 130})
        for (int const queries : {1, 63, 128, 200})
          for (int const keys : {1, 64, 130, 260}) {
            p.f.causal = causal;
            p.f.window = window;
            p.f.first = first;
            auto const sees_any = [&](int i) {
              for (int j = 0; j < keys; ++j)
                if (p.f.sees(i, j)) return true;
              return false;
            };
            bool all_see = true;
            for (int i = 0; i < queries; ++i) all_see = all_see && sees_any(i);
            bool right = true;
            for (int i = 0; i < queries; i += lines)
              for (int j = 0; j < keys; j += lines) {
                auto const of_keys = p.keys_seen(i, queries, keys), of_queries = p.queries_seen(j, queries, keys);
                bool const computed = j >= of_keys.first && j < of_keys.end;
                right = right && computed == (i >= of_queries.first && i < of_queries.end) && of_keys.first % lines == 0;
                bool seen = false;
                for (int query = i; query < std::min(i + lines, queries); ++query)
                  for (int key = j; key < std::min(j + lines, keys); ++key) seen = seen || p.f.sees(query, key);
                right = right && (computed || (all_see && !seen));
                left_out += !computed;
              }
            CAPTURE(causal, window, first, queries, keys);
            CHECK(right);
          }
  CHECK(left_out > 300);
}

TEST_CASE("Attention to a text of which no key takes part") {
  using model = given<2, 2, 2, 70, 90, 16>;
  std::vector<int> ids(180, 1);
  std::fill(ids.begin() + 90, ids.end(), 0);
  CHECK(apart<tx::train_step<model, masked_loss<tx::f16, model, 2, 90>, descent>>(ids) < 3e-3);
}

TEST_CASE("Attention of packed texts") {
  CHECK(apart<tx::train_step<tokens, packed_loss<tx::f16, tx::nn::drop(0.1)>, descent>>(std::vector<int>{3, 3, 80, 140}) < 3e-3);
  CHECK(apart<tx::train_step<tokens, packed_loss<tx::f16, tx::nn::causal>, descent>>(std::vector<int>{3, 3, 80, 140}) < 3e-3);
}

TEST_CASE("Attention with a bias, and its gradient") {
  using two = given<2, 2, 1, 70, 90, 16>;
  auto const check = []<class B, int... Axes>(std::integer_sequence<int, Axes...>, std::type_identity<B>, double nearly = 4e-3) {
    using model = biased<two, B, Axes...>;
    using step = tx::train_step<model, biased_loss<tx::f16, model, B>, descent>;
    CHECK(kernels_of_attention<step> == 2);
    CHECK(apart<step>() < nearly);
  };
  using f32 = std::type_identity<float>;
  check(std::integer_sequence<int, 2, 2, 70, 90>{}, f32{});
  check(std::integer_sequence<int, 1, 2, 70, 90>{}, std::type_identity<tx::f16>{});
  check(std::integer_sequence<int, 2, 1, 1, 90>{}, f32{});
  check(std::integer_sequence<int, 1, 2, 70, 1>{}, f32{});
  check(std::integer_sequence<int, 1, 1, 1, 1>{}, f32{}, 3e-2);  // of 25,200 slopes, whose sum would be 0 if nothing were rounded
}

TEST_CASE("Attention with a bias where queries do not see all keys, and some probabilities are dropped") {
  using model = biased<given<1, 4, 2, 130, 65, 72>, float, 1, 4, 130, 65>;
  CHECK(apart<tx::train_step<model, biased_loss<tx::f16, model, float, tx::nn::local<40>, tx::nn::drop(0.25)>, descent>>() < 3e-2);  // gradients of up to 30
}

TEST_CASE("Attention of packed texts with a bias") { CHECK(apart<tx::train_step<biased_tokens, biased_packed_loss, descent>>(std::vector<int>{3, 3, 80, 140}) < 4e-3); }

TEST_CASE("Attention with a mask that is added") {
  std::vector<float> mask(180);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 90 < 60 + i / 90 * 20 ? 0 : i < 90 ? -std::numeric_limits<float>::infinity() : -1e4f;
  using step = tx::train_step<given<2, 2, 2, 70, 90, 16>, added_mask_loss, descent>;
  CHECK(kernels_of_attention<step> == 2);
  CHECK(apart<step>(mask) < 3e-3);
  mask[3] = mask[17] = 3e38f;  // what must be seen, as great as numbers are
  CHECK(apart<step>(mask) < 3e-3);
}

// Queries, or keys, of which a run has none: no block of the kernels begins.
namespace {
struct five_rows {
  tx::param<t<float, 1, 1, 5, 16>, tx::init::uniform<1, 1>> x;
};
constexpr auto of_keys = [](five_rows const& m, t<float, 1, 1, tx::dyn<70>, 16> k) {
  return tx::sum(tx::cast<float>(tx::nn::attend(tx::cast<tx::f16>(m.x), tx::cast<tx::f16>(k), tx::cast<tx::f16>(k))));
};
constexpr auto of_queries = [](five_rows const& m, t<float, 1, 1, tx::dyn<70>, 16> q) {
  auto const out = tx::cast<float>(tx::nn::attend(tx::cast<tx::f16>(q), tx::cast<tx::f16>(m.x), tx::cast<tx::f16>(m.x)));
  return tx::sum(out * out);
};
template <auto Loss>
void nothing_of_none() {
  tx::executor<tx::train_step<five_rows, Loss, descent>, interpreted> run{tx::seed(3)};
  for (int n : {0, 7, 0}) {
    auto const before = run.read();
    auto const x = numbers<float>(n * 16, -1, 1);
    float const loss = run(tx::array_view<float const>{{4, {1, 1, n, 16}, {n * 16, n * 16, 16, 1}}, x.data()}).loss;
    CHECK(std::isfinite(loss));
    CHECK((loss == 0) == (n == 0));
    CHECK((run.read() == before) == (n == 0));
  }
}
}  // namespace

TEST_CASE("Attention without keys, or without queries, is 0, and so are its gradients") {
  nothing_of_none<of_keys>();
  nothing_of_none<of_queries>();
}
