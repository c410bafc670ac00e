// What ops do at the edges: infinities and NaN, masked rows, halves in memory, dropout, bounded extents.
#include "grad_program.hpp"

#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/elu.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/pow.hpp>
#include <tx/ops/sign.hpp>
#include <tx/ops/sqrt.hpp>

#include <catch2/catch.hpp>

namespace {

using tx::tensor;
template <class T, auto... D>
using p = tx::param<tensor<T, D...>, tx::init::uniform<2, 1>>;
constexpr float inf = std::numeric_limits<float>::infinity();
float const nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::vector<float> numbers(T const& t) {
  return std::vector<float>(t.begin(), t.end());
}
bool same(std::vector<float> const& a, std::vector<float> const& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!(std::abs(a[i] - b[i]) < 1e-6f || a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) return false;
  return true;
}

struct special_result {
  tensor<float, 5> exp, log, sqrt, clipped, sign, masked;
  tensor<float, 1> most;
  tensor<float, 2, 5> softmax, log_softmax;
  tensor<tx::i32, 5> truncated;
  tensor<bool, 5> below;
  tensor<tx::bf16, 5> bf16, cubes;
  tensor<tx::f16, 5> f16;
  tensor<float, 5> halves;
};
constexpr auto special = [](tensor<float, 5> x, tensor<float, 2, 5> y, tensor<tx::bf16, 5> b, tensor<tx::f16, 5> h) {
  auto const t = tx::minimum(tx::maximum(x, -3.7), 3.7);
  return special_result{tx::exp(x),
                        tx::log(x),
                        tx::sqrt(x),
                        t,
                        tx::sign(x),
                        tx::softmax(tx::where(tx::less(x, -1e38), x, -1e9)),
                        tx::max<0>(t),
                        tx::softmax(y),
                        tx::log_softmax(y),
                        tx::cast<tx::i32>(tx::where(tx::equal(x, x), t, 0.0)),
                        tx::less(x, 0),
                        tx::cast<tx::bf16>(x),
                        tx::pow(b, 3),
                        tx::cast<tx::f16>(x),
                        tx::cast<float>(b * 3) + tx::cast<float>(h / 4)};
};

template <class Backend>
void check_specials() {
  tx::executor<tx::function<special>, Backend> run{tx::seed(0)};
  std::vector<tx::bf16> b;
  std::vector<tx::f16> h;
  for (float v : {1.0f, -2.5f, 0.0f, 100.0f, 0.125f}) {
    b.push_back(tx::bf16::from(v));
    h.push_back(tx::f16::from(v));
  }
  std::vector<float> const x{-inf, -2.5f, 0, inf, nan};
  std::vector<float> const y{1, 2, -1e9f, -1e9f, -1e9f, -1e9f, -1e9f, -1e9f, -1e9f, -1e9f};
  auto const r = run(x, y, b, h);
  CHECK(same(numbers(r.exp), {0, std::exp(-2.5f), 1, inf, nan}));
  CHECK(same(numbers(r.log), {nan, nan, -inf, inf, nan}));
  CHECK(same(numbers(r.sqrt), {nan, nan, 0, inf, nan}));
  CHECK(same(numbers(r.clipped), {-3.7f, -2.5f, 0, 3.7f, nan}));
  CHECK(same(numbers(r.sign), {-1, -1, 0, 1, nan}));
  CHECK(r.most[0] == 3.7f);  // NaN is passed over
  float const e = std::exp(1.0f);
  CHECK(same(numbers(r.softmax), {1 / (1 + e), e / (1 + e), 0, 0, 0, 0.2f, 0.2f, 0.2f, 0.2f, 0.2f}));
  CHECK(same({r.log_softmax[0], r.log_softmax[5]}, {-std::log(1 + e), -std::log(5.0f)}));
  CHECK((r.truncated[0] == -3 && r.truncated[1] == -2 && r.truncated[2] == 0 && r.truncated[3] == 3 && r.truncated[4] == 0));
  CHECK((r.below[0] && r.below[1] && !r.below[2] && !r.below[3] && !r.below[4]));
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(same({r.bf16[i].widen()}, {tx::bf16::from(x[i]).widen()}));
    CHECK(r.cubes[i].bits == tx::bf16::from(std::pow(b[i].widen(), 3.0f)).bits);  // rounded once
    CHECK(same({r.f16[i].widen()}, {tx::f16::from(x[i]).widen()}));
    CHECK(r.halves[i] == Approx(b[i].widen() * 3 + h[i].widen() / 4));
  }
}

// ---- slopes that are small beside 1 ----------------------------------------------------------------------------------

struct elu_model {
  p<float, 4> x;
};
constexpr auto elus = [](elu_model const& m) { return tx::sum(tx::elu(m.x)); };

// ---- dropout --------------------------------------------------------------------------------------------------------

struct dropped_model {
  p<float, 64, 33> x;
};
struct dropped_result {
  tensor<float> loss;
  tensor<float, 64, 33> value;
};
constexpr auto dropped = [](dropped_model const& m) {
  auto const y = tx::dropout(m.x);
  return dropped_result{tx::sum(y * 2), y * 1.5};
};
template <class Backend>
using dropped_run = tx::executor<grad_program<dropped_model, dropped, tx::compile_options{}, true>, Backend>;

// ---- bounded extents ------------------------------------------------------------------------------------------------

struct small_model {
  p<float, 11, 6> table;
  p<float, 6, 6> weight;
  p<float, 6, 3> out;
};
struct scored {
  tensor<float, tx::dyn<7>, 3> scores;
  tensor<float, tx::dyn<7>, 1> best;
};
constexpr auto bounded_scores = [](small_model const& m, tensor<tx::i32, tx::dyn<7>, 4> ids) {
  auto const words = tx::embedding(m.table, tx::reshape<-1, 4, 1>(ids));
  auto const mixed = tx::matmul(tx::softmax(tx::matmul(words, tx::transpose(words))), tx::matmul(words, m.weight));
  auto const pooled = tx::matmul(tx::reshape<-1, 6>(tx::slice<1, 0, 1>(mixed)), m.out);
  return scored{tx::softmax(pooled), tx::max<-1>(pooled)};
};
template <int N>
constexpr auto fixed_scores = [](small_model const& m, tensor<tx::i32, N, 4> ids) {
  auto const words = tx::embedding(m.table, tx::reshape<N, 4, 1>(ids));
  auto const mixed = tx::matmul(tx::softmax(tx::matmul(words, tx::transpose(words))), tx::matmul(words, m.weight));
  return tx::softmax(tx::matmul(tx::reshape<N, 6>(tx::slice<1, 0, 1>(mixed)), m.out));
};

// A loss of as many rows as there are; none give 0.
constexpr auto bounded_loss = [](tensor<float, tx::dyn<7>, 3> scores, tensor<tx::i32, tx::dyn<7>> labels) {
  return tx::cross_entropy(scores, labels, tx::label_options{.ignore_index = -100, .label_smoothing = 0.5});
};

}  // namespace

TEST_CASE("infinities, NaN, masked rows, halves: reference") { check_specials<tx::reference>(); }
TEST_CASE("infinities, NaN, masked rows, halves: cpu") { check_specials<tx::cpu>(); }

TEST_CASE("dropout drops its rate, scales the rest, and backward drops the same") {
  dropped_run<tx::cpu> run{tx::seed(3)};
  dropped_run<tx::reference> plain{tx::seed(3)};
  run.settings.set("dropout", 0.3f);
  plain.settings.set("dropout", 0.3f);
  std::vector<float> previous;
  for (int step = 0; step < 3; ++step) {
    auto const r = run();
    auto const q = plain();
    int zeros = 0;
    int wrong = 0;
    for (std::size_t i = 0; i < 64 * 33; ++i) {
      bool const dropped_here = r.values.value[i] == 0;
      zeros += dropped_here;
      float const x = run.elements()[i];
      wrong += !(dropped_here || std::abs(r.values.value[i] - 1.5f * x / 0.7f) < 1e-5f);
      wrong += !(dropped_here ? r.gradient[i] == 0 : std::abs(r.gradient[i] - 2 / 0.7f) < 1e-5f);
      wrong += (q.values.value[i] == 0) != dropped_here;
    }
    CHECK(wrong == 0);
    CHECK(zeros / (64 * 33.0) == Approx(0.3).margin(0.04));
    CHECK(numbers(r.values.value) != previous);  // each step has its own
    previous = numbers(r.values.value);
  }
  run.settings.set("dropout", 0);
  auto const r = run();
  for (std::size_t i = 0; i < 64 * 33; ++i) REQUIRE(r.values.value[i] == run.elements()[i] * 1.5f);
}

TEST_CASE("a smaller count than the bound gives what a program of that size gives, bitwise") {
  tx::executor<tx::function<bounded_scores, small_model>, tx::cpu> any{tx::seed(4)};
  tx::executor<tx::function<fixed_scores<7>, small_model>, tx::cpu> seven{any};
  tx::executor<tx::function<fixed_scores<3>, small_model>, tx::cpu> three{any};
  std::vector<tx::i32> ids;
  for (int i = 0; i < 28; ++i) ids.push_back(i * 5 % 11);
  auto const full = numbers(seven(ids).value);
  auto const part = numbers(three(std::span(ids).first(12)).value);
  auto const told = any(ids);
  CHECK(numbers(told.scores) == full);
  for (std::size_t n : {1u, 3u, 6u}) {
    auto const r = any(std::span(ids).first(4 * n));
    for (std::size_t i = 0; i < 3 * n; ++i) CHECK(r.scores[i] == full[i]);
    if (n == 3)
      for (std::size_t i = 0; i < 9; ++i) CHECK(r.scores[i] == part[i]);
  }
  CHECK_THROWS_AS(any(std::span(ids).first(10)), tx::shape_error);
  ids.push_back(0);
  CHECK_THROWS_AS(any(ids), tx::shape_error);
}

TEST_CASE("a loss with options is the mean of the rows there are and that count") {
  tx::executor<tx::function<bounded_loss>, tx::cpu> run{tx::seed(0)};
  std::vector<float> const scores{0, 0, 0, 2, 1, 0, 5, 5, 5, 1, 1, 3};
  std::vector<tx::i32> const labels{1, 0, -100, 2};
  auto const total = [](double a, double b, double c) { return std::log(std::exp(a) + std::exp(b) + std::exp(c)); };
  double const first = total(0, 0, 0);
  double const second = total(2, 1, 0) - 0.5 * 2 - 0.5 * 1;  // half of the label's, half of the mean over classes
  double const fourth = total(1, 1, 3) - 0.5 * 3 - 0.5 * 5 / 3;
  auto const loss = [&](std::size_t rows) { return static_cast<float>(run(std::span(scores).first(3 * rows), std::span(labels).first(rows)).value); };
  CHECK(loss(0) == 0);
  CHECK(loss(1) == Approx(first));
  CHECK(loss(3) == Approx((first + second) / 2));
  CHECK(loss(4) == Approx((first + second + fourth) / 3));
}

// ---- what a plan must not get wrong ---------------------------------------------------------------------------------

namespace {

struct merged_result {
  tensor<float, 3, 8> rows;
  tensor<float, 1, 3, 1> sums, most;
};
// Axes 0 and 2 become one, which no strides over the operand express: its elements have to move.
constexpr auto merged = [](tensor<float, 2, 3, 4> x) {
  return merged_result{tx::reshape<3, 8>(tx::transpose<1, 0, 2>(x)) * 1.5, tx::sum<0, -1>(x), tx::max<0, -1>(x)};
};
template <class Backend>
void check_merged() {
  tx::executor<tx::function<merged>, Backend> run{tx::seed(0)};
  std::vector<float> x;
  for (int i = 0; i < 24; ++i) x.push_back(static_cast<float>(i * 7 % 24));
  auto const r = run(x);
  for (std::size_t b = 0; b < 3; ++b) {
    float sum = 0;
    float most = 0;
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t c = 0; c < 4; ++c) {
        float const v = x[(a * 3 + b) * 4 + c];
        CHECK(r.rows[b * 8 + a * 4 + c] == v * 1.5f);
        sum += v;
        most = std::max(most, v);
      }
    CHECK(r.sums[b] == sum);
    CHECK(r.most[b] == most);
  }
}

struct pair_result {
  tensor<float, 4, 3> doubled, increased;
};
struct table_model {
  p<float, 11, 3> table;
};
// The rows die in the kernel of both results: one may take their place, and the other still needs them.
constexpr auto pair = [](table_model const& m, tensor<tx::i32, 4, 1> ids) {
  auto const rows = tx::embedding(m.table, ids);
  return pair_result{rows * 2, rows + 1};
};
template <class Backend>
void check_pair() {
  tx::executor<tx::function<pair, table_model>, Backend> run{tx::seed(0)};
  std::vector<tx::i32> const ids{3, 0, 10, 3};
  auto const r = run(ids);
  auto const table = run.elements();
  for (std::size_t i = 0; i < 12; ++i) {
    float const v = table[static_cast<std::size_t>(ids[i / 3]) * 3 + i % 3];
    CHECK(r.doubled[i] == v * 2);
    CHECK(r.increased[i] == v + 1);
  }
}

}  // namespace

TEST_CASE("axes that are no neighbours become one: reference") { check_merged<tx::reference>(); }
TEST_CASE("axes that are no neighbours become one: cpu") { check_merged<tx::cpu>(); }
TEST_CASE("a result may take the place of an operand that others still read: reference") { check_pair<tx::reference>(); }
TEST_CASE("a result may take the place of an operand that others still read: cpu") { check_pair<tx::cpu>(); }

TEST_CASE("the slope of elu far below 0 keeps its digits") {
  std::vector<float> const x{-5, -10, -14, -20};
  tx::executor<grad_program<elu_model, elus>, tx::cpu> run{tx::seed(0)};
  std::ranges::copy(x, run.elements().begin());
  auto const told = run();
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(told.gradient[i] == Approx(std::exp(x[i])).epsilon(1e-5).margin(0));
}
