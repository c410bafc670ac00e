// Attention of packed texts to keys of other lengths, with all its gradients: the CPU's kernels, products of padded texts and the op's rule give what
// plain loops give, whatever texts are empty, and however many tokens no text has.
#include "../furthest.hpp"
#include "in_products.hpp"
#include "packed_cross_reference.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/attend_packed.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/take.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <limits>
#include <numeric>

namespace {

using namespace packed_cross;

constexpr int texts = 4;

// T: of what is computed; N: of parameters, arguments and results. Tokens are rows of parameters, so that these have the tokens' gradients.
template <class T_, class N_, int Heads, int KeyHeads, int Head, int LongestQ, int LongestK, bool BiasOfTexts, bool BiasOfQueries>
struct program {
  using T = T_;
  using N = N_;
  static constexpr int heads = Heads, key_heads = KeyHeads, head = Head, longest = LongestQ, longest_keys = LongestK;
  static constexpr int width = Heads * Head, key_width = KeyHeads * Head, most = texts * LongestQ + 9, most_keys = texts * LongestK + 9;
  static constexpr int of_texts = BiasOfTexts ? texts : 1, of_queries = BiasOfQueries ? LongestQ : 1;

  struct model {
    tx::param<tx::tensor<N, most, width>> q;
    tx::param<tx::tensor<N, most_keys, key_width>> k, v;
    tx::param<tx::tensor<N, of_texts, Heads, of_queries, LongestK>> bias;
  };
  using queries = tx::tensor<N, tx::dyn<most, 1>, width>;
  using query_rows = tx::tensor<tx::i32, tx::dyn<most, 1>>;
  using key_rows = tx::tensor<tx::i32, tx::dyn<most_keys, 2>>;
  using begins = tx::tensor<tx::i32, texts + 1>;
  struct told {
    tx::tensor<N> loss;
    queries mixed;
  };

  static constexpr auto weighed = [](model const& m, query_rows of_queries, key_rows of_keys, queries weight, begins query_offsets, begins key_offsets) {
    auto const rows = [](auto const& x, auto const& ids) { return tx::cast<T>(tx::take(x, ids)); };
    auto const mixed = tx::nn::attend_packed<Heads>(rows(m.q, of_queries), rows(m.k, of_keys), rows(m.v, of_keys), tx::nn::texts_at<LongestQ>(query_offsets),
                                                    tx::nn::texts_at<LongestK>(key_offsets), m.bias);
    return told{tx::sum(tx::cast<N>(mixed) * weight), tx::cast<N>(mixed)};
  };
  using step = tx::value_and_grad<weighed, model>;
};

template <class P>
problem drawn(lengths const& queries, lengths const& keys, int before, int behind) {
  problem p{P::heads, P::key_heads, P::head, offsets_of(queries, before), offsets_of(keys, behind), {{P::of_texts, P::heads, P::of_queries, P::longest_keys}}, {}, {}, {}, {}, {}};
  unsigned state = 17;
  auto const fill = [&](numbers& to, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to.push_back(static_cast<double>((state = state * 1664525 + 1013904223) >> 24) / 128 - 1);  // of eight bits: halves have them
  };
  auto const tokens = static_cast<std::size_t>(p.queries.back() + behind), key_tokens = static_cast<std::size_t>(p.keys.back() + before);
  fill(p.q, tokens * P::width);
  fill(p.k, key_tokens * P::key_width);
  fill(p.v, key_tokens * P::key_width);
  fill(p.bias, p.bias_of.count());
  if (P::of_texts == texts)  // what lies past a text's end is not read
    for (std::size_t t = 0; t < queries.size(); ++t)
      for (std::size_t h = 0; h < P::heads; ++h)
        for (std::size_t i = 0; i < P::of_queries; ++i)
          for (std::size_t j = 0; j < P::longest_keys; ++j)
            if (j >= keys[t] || (P::of_queries > 1 && i >= queries[t])) p.bias[p.bias_of.at(t, h, i, j)] = std::numeric_limits<double>::quiet_NaN();
  fill(p.weight, tokens * P::width);
  return p;
}

template <class P, class Backend>
std::vector<numbers> run_on(problem const& p, int threads, float dropout = 0) {
  using N = typename P::N;
  tx::executor<typename P::step, Backend> run{tx::seed(1), {.threads = threads}};
  run.settings.set("dropout", dropout);
  auto const filled = [&](std::string const& name) -> numbers const& { return name == "q" ? p.q : name == "k" ? p.k : name == "v" ? p.v : p.bias; };
  for (auto const& t : run.tensors()) std::copy(filled(t.name).begin(), filled(t.name).end(), t.data.begin());
  auto const counted = [](std::size_t n) {
    std::vector<int> ids(n);
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  };
  auto const r = run(counted(p.q.size() / P::width), counted(p.k.size() / P::key_width), std::vector<N>(p.weight.begin(), p.weight.end()), p.queries, p.keys);
  std::vector<numbers> all{{r.value.mixed.begin(), r.value.mixed.end()}};
  for (auto const& t : r.gradient.tensors()) {
    std::size_t const n = filled(t.name).size();
    all.emplace_back(t.data.begin(), t.data.begin() + static_cast<std::ptrdiff_t>(n));
    CHECK(std::all_of(t.data.begin() + static_cast<std::ptrdiff_t>(n), t.data.end(), [](N x) { return x == 0; }));
  }
  return all;
}

template <class P>
void check(lengths const& queries, lengths const& keys, int before, int behind, double bound) {
  problem const p = drawn<P>(queries, keys, before, behind);
  CAPTURE(queries, keys, before, behind);
  answer const a = solved(p);
  numbers const wanted[] = {a.mixed, a.d_q, a.d_k, a.d_v, a.d_bias};
  auto const one = run_on<P, tx::cpu>(p, 1), two = run_on<P, tx::cpu>(p, 2), products = run_on<P, in_products>(p, 2);
  REQUIRE(one.size() == std::size(wanted));
  for (std::size_t n = 0; n < one.size(); ++n) {
    CAPTURE(n);
    CHECK(one[n] == two[n]);
    CHECK(distance(one[n], wanted[n]) < bound);
    CHECK(distance(products[n], wanted[n]) < bound);
  }
  if (P::longest_keys > 100) return;  // the rule computes each score again wherever it is needed
  auto const plain = run_on<P, tx::reference>(p, 1);
  for (std::size_t n = 0; n < one.size(); ++n) CHECK(distance(plain[n], wanted[n]) < bound);
}

// Dropout leaves out the same probabilities, whoever computes them.
template <class P>
void check_dropped(lengths const& queries, lengths const& keys, double bound) {
  problem const p = drawn<P>(queries, keys, 1, 2);
  auto const one = run_on<P, tx::cpu>(p, 1, 0.3f), two = run_on<P, tx::cpu>(p, 2, 0.3f), products = run_on<P, in_products>(p, 2, 0.3f), plain = run_on<P, tx::reference>(p, 1, 0.3f);
  CHECK(distance(one[0], solved(p).mixed) > 0.01);
  for (std::size_t n = 0; n < one.size(); ++n) {
    CAPTURE(n);
    CHECK(one[n] == two[n]);
    CHECK(distance(one[n], products[n]) < bound);
    CHECK(distance(one[n], plain[n]) < bound);
  }
}

template <class P>
void check_all(double bound) {
  constexpr std::size_t q = P::longest, k = P::longest_keys;
  check<P>({q, 1, q / 2, 3}, {k, k / 3, 1, k / 2}, 0, 0, bound);
  check<P>({q, 5, 0, 1}, {0, 2, k, 0}, 0, 0, bound);            // texts without keys, one without queries
  check<P>({0, 0, 0, 2}, {3, 0, 0, 7}, 2, 3, bound);            // neither, and tokens of no text
  check<P>({q, q, q, q}, {k, k, k, k}, 4, 5, bound);            // all that there may be
  check<P>({1, 0, 0, 0}, {0, 0, 0, 1}, 0, 0, bound);            // no query has a key
  check<P>({0, 2, 1, 0}, {1, 1, 1, 1}, 7, 1, bound);
}

}  // namespace

TEST_CASE("packed attention to fewer keys than queries, and to more", "[packed]") {
  check_all<program<float, float, 4, 2, 5, 90, 30, true, true>>(2e-5);
  check_all<program<float, float, 2, 1, 8, 20, 1200, false, false>>(2e-5);  // keys in stripes
}
TEST_CASE("packed attention to keys apart drops the same probabilities everywhere", "[packed]") {
  check_dropped<program<float, float, 4, 2, 5, 90, 30, true, true>>({80, 0, 33, 7}, {2, 30, 0, 29}, 2e-5);
  check_dropped<program<tx::bf16, float, 2, 2, 8, 30, 90, false, true>>({1, 30, 0, 17}, {90, 65, 2, 1}, 4e-2);
}
TEST_CASE("packed attention of halves to keys apart", "[packed]") { check_all<program<tx::bf16, float, 2, 2, 8, 30, 90, false, true>>(4e-2); }
TEST_CASE("packed attention to keys apart is written out for f64", "[packed]") { check_all<program<double, double, 4, 2, 3, 7, 11, true, false>>(1e-12); }
TEST_CASE("packed attention to keys apart is one kernel forward and one backward", "[packed]") {
  using P = program<float, float, 4, 2, 5, 90, 30, true, true>;
  CHECK(attentions<P::step, tx::cpu_target>() == 2);
  CHECK(attentions<P::step, writes_out>() == 0);
}
