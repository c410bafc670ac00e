// What a student learns of its teacher's attention, against its formula in f64 by plain loops and central differences.
#include "recorded.hpp"

#include <tx/backends/reference.hpp>
#include <tx/nn/attention_distillation.hpp>
#include <tx/train/check_gradient.hpp>

#include <catch2/catch.hpp>

namespace {

template <class T, auto... Dims>
using t = tx::tensor<T, Dims...>;

// Two heads of 3 and of 2 numbers, texts of 3, 1 and 2 tokens, and 2 tokens that no text has.
constexpr int heads = 2, tokens = 8, longest = 4, width = 6, of_teacher = 4;
using offsets = t<tx::i32, 4>;
using own = t<double, tokens, width>;
constexpr auto both = [](own q, own k, own v, t<double, tokens, of_teacher> tq, t<double, tokens, of_teacher> tk, t<double, tokens, of_teacher> tv, offsets o) {
  return tx::nn::self_attention_loss(tx::nn::attention_inputs<heads, own>{q, k, v}, tx::nn::attention_inputs<heads, t<double, tokens, of_teacher>>{tq, tk, tv}, tx::nn::texts_at<longest>(o));
};
// [student's queries, keys and values, teacher's]
constexpr auto slopes = [](own q, own k, own v, t<double, tokens, of_teacher> tq, t<double, tokens, of_teacher> tk, t<double, tokens, of_teacher> tv, offsets o) {
  return tx::grad<both, 0, 1, 2, 3, 4, 5>(q, k, v, tq, tk, tv, o);
};
// A bounded number of tokens, in f32.
using some = t<float, tx::dyn<tokens>, width>;
constexpr auto bounded = [](some q, some k, some v, some tq, some tk, some tv, offsets o) {
  return tx::nn::self_attention_loss(tx::nn::attention_inputs<heads, some>{q, k, v}, tx::nn::attention_inputs<heads, some>{tq, tk, tv}, tx::nn::texts_at<longest>(o));
};

values numbers(std::size_t n, double phase) {
  values v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 1.5 * std::sin(2.3 * static_cast<double>(i) + phase);
  return v;
}

// softmax(a b^T / sqrt(head)) of one head and one query, over the keys of its text.
values probabilities(values const& a, values const& b, int of_width, int head, int query, int first, int end) {
  int const each = of_width / heads;
  values p;
  double all = 0;
  for (int key = first; key < end; ++key) {
    double dot = 0;
    for (int i = 0; i < each; ++i) dot += a[static_cast<std::size_t>(query * of_width + head * each + i)] * b[static_cast<std::size_t>(key * of_width + head * each + i)];
    p.push_back(std::exp(dot / std::sqrt(static_cast<double>(each))));
    all += p.back();
  }
  for (double& x : p) x /= all;
  return p;
}
double expected(std::vector<values> const& in, int teacher_width, std::vector<int> const& begins) {
  double sum = 0;
  int rows = 0;
  for (std::size_t text = 0; text + 1 < begins.size(); ++text)
    for (int query = begins[text]; query < begins[text + 1]; ++query)
      for (int head = 0; head < heads; ++head, ++rows)
        for (auto const& [a, b] : {std::pair{0u, 1u}, std::pair{2u, 2u}}) {
          values const p = probabilities(in[3 + a], in[3 + b], teacher_width, head, query, begins[text], begins[text + 1]);
          values const q = probabilities(in[a], in[b], width, head, query, begins[text], begins[text + 1]);
          for (std::size_t k = 0; k < p.size(); ++k) sum += p[k] * std::log(p[k] / q[k]);
        }
  return sum / rows;
}
std::vector<values> drawn(int teacher_width) {
  std::vector<values> in;
  for (int k = 0; k < 3; ++k) in.push_back(numbers(tokens * width, 0.4 * k + 0.1));
  for (int k = 0; k < 3; ++k) in.push_back(numbers(static_cast<std::size_t>(tokens * teacher_width), 0.9 * k + 0.7));
  return in;
}

}  // namespace

TEST_CASE("attention and relations of values are learned by their divergence from the teacher's", "[distillation]") {
  auto in = drawn(of_teacher);
  double const wanted = expected(in, of_teacher, {0, 3, 4, 6});
  CHECK(wanted > 0.1);
  in.push_back({0, 3, 4, 6});
  CHECK(recorded<tx::no_model, both>().run(in)[0][0] == Approx(wanted).epsilon(1e-12));

  // Slopes by differences of the loops' values; none of the teacher's, and none of tokens that no text has.
  auto const found = recorded<tx::no_model, slopes>().run(in);
  double largest = 0;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < in[k].size(); ++i) {
      auto moved = in;
      double const step = 1e-5;
      moved[k][i] += step;
      double const up = expected(moved, of_teacher, {0, 3, 4, 6});
      moved[k][i] -= 2 * step;
      double const slope = (up - expected(moved, of_teacher, {0, 3, 4, 6})) / (2 * step);
      INFO(k << ", " << i);
      CHECK(found[k][i] == Approx(slope).margin(1e-8));
      largest = std::max(largest, std::abs(slope));
    }
  CHECK(largest > 1e-2);
  for (std::size_t k = 3; k < 6; ++k) CHECK(found[k] == values(tokens * of_teacher, 0.0));
}

TEST_CASE("there is nothing to learn from oneself, from texts of one token, or of none", "[distillation]") {
  auto in = drawn(of_teacher);
  auto const of = [&](values const& begins) {
    auto all = in;
    all.push_back(begins);
    return recorded<tx::no_model, both>().run(all)[0][0];
  };
  CHECK(of({0, 1, 2, 3}) == Approx(0).margin(1e-12));  // all attend to themselves alone
  CHECK(of({0, 0, 0, 0}) == 0);
  CHECK(of({2, 2, 4, 4}) == Approx(expected(in, of_teacher, {2, 4})).epsilon(1e-12));
}

TEST_CASE("a program has as many tokens as a run says, and refuses longer texts", "[distillation]") {
  auto in = drawn(width);
  for (auto& v : in) v.resize(6 * width);
  double const wanted = expected(in, width, {0, 3, 4, 6});
  std::vector<std::vector<float>> f;
  for (auto const& v : in) f.emplace_back(v.begin(), v.end());
  tx::executor<tx::function<bounded>, tx::reference> run;
  auto const loss = [&](std::vector<tx::i32> const& o) { return static_cast<double>(run(f[0], f[1], f[2], f[3], f[4], f[5], o).value); };
  CHECK(loss({0, 3, 4, 6}) == Approx(wanted).epsilon(1e-5));
  CHECK_THROWS_WITH(loss({0, 5, 5, 6}), Catch::Contains("at most 4 above the one before it"));
}
