// accumulate<N>: a batch in parts is the batch.
#include "own_option.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

namespace {

constexpr int whole = 12, part = 6;

struct block {
  tx::nn::linear<16, 40> wide;
  tx::nn::linear<40, 16> narrow;
  constexpr auto operator()(auto const& x) const { return x + tx::dropout(narrow(tx::tanh(wide(x)))); }
};
struct model {
  tx::repeat<2, block> layer;
  tx::nn::linear<16, 3> head;
};
struct report {
  tx::tensor<float> loss, square;
};
template <int N>
constexpr auto loss = [](model const& m, tx::tensor<float, N, 16> x, tx::tensor<tx::i32, N> label) {
  auto const l = tx::cross_entropy(m.head(m.layer(x)), label);
  return report{l, l * l};
};
template <int N, class... Options>
using step = tx::train_step<model, loss<N>, tx::adamw, Options...>;
using in_parts = step<part, tx::accumulate<whole / part>>;

struct batch {
  std::vector<float> x = std::vector<float>(whole * 16);
  std::vector<tx::i32> label = std::vector<tx::i32>(whole);
  batch() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 13 % 50) / 25 - 1;
    for (std::size_t i = 0; i < label.size(); ++i) label[i] = static_cast<tx::i32>(i * i % 3);
  }
};

// AdamW's two moments after a step: the gradient and its square, to a factor. (Its update hardly depends on their scale.)
template <class Step>
std::vector<std::vector<float>> moments(float clip_norm) {
  tx::executor<Step, tx::cpu> run{tx::seed(2)};
  run.settings.set("dropout", 0);
  run.settings.set("clip_norm", clip_norm);
  batch const b;
  run(b.x, b.label);
  std::vector<std::vector<float>> all;
  for (int k : {1, 2}) all.emplace_back(run.elements(k).begin(), run.elements(k).end());
  return all;
}
double norm(std::vector<float> const& v) {
  double sum = 0;
  for (float x : v) sum += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(sum);
}
// Each element, to a ten-thousandth of the largest.
void agree(std::vector<std::vector<float>> const& got, std::vector<std::vector<float>> const& want) {
  for (std::size_t k = 0; k < want.size(); ++k) {
    double most = 0;
    for (float x : want[k]) most = std::max(most, std::abs(static_cast<double>(x)));
    REQUIRE(most > 0);
    REQUIRE(got[k].size() == want[k].size());
    for (std::size_t i = 0; i < want[k].size(); ++i) REQUIRE(got[k][i] == Approx(want[k][i]).margin(1e-4 * most));
  }
}

template <class Step, class Backend = tx::cpu>
std::vector<float> trained(float dropout, int steps = 4) {
  tx::executor<Step, Backend> run{tx::seed(2)};
  run.settings["learning_rate"] = 1e-2f;
  run.settings.set("dropout", dropout);
  run.settings.set("clip_norm", 0.3f);
  auto const [x, label] = batch{};
  std::vector<float> all;
  for (int i = 0; i < steps; ++i) all.push_back(run(x, label).loss);
  auto const weights = run.elements();
  all.insert(all.end(), weights.begin(), weights.end());
  return all;
}
void close(std::vector<float> const& got, std::vector<float> const& want, double margin) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) REQUIRE(got[i] == Approx(want[i]).margin(margin));
}

static_assert(in_parts::memory.activations * 19 / 10 < step<whole>::memory.activations, "activations are of a part");
static_assert(in_parts::memory.gradients >= in_parts::memory.parameters, "gradients are of all");

}  // namespace

TEST_CASE("parts of a batch train as the batch does", "[accumulate]") {
  close(trained<in_parts>(0), trained<step<whole>>(0), 2e-4);
  close(trained<step<part, tx::accumulate<2>, tx::clip_gradient>>(0), trained<step<whole, tx::clip_gradient>>(0), 2e-4);
}

TEST_CASE("an option of one's own is one beside tx's", "[accumulate]") {
  using own_step = step<part, own::clipped_in_parts<2>, tx::gradient_norm>;
  static_assert(own_step::options.clips && own_step::options.tells_norm && own_step::parts == 2 && !own_step::division.given);
  static_assert(tx::is_step_option<own::clipped_in_parts<2>> && tx::is_step_option<tx::virtual_shards<2>> && !tx::is_step_option<tx::adamw>);
  CHECK(trained<own_step>(0.1f, 2) == trained<step<part, tx::gradient_norm, tx::clip_gradient, tx::accumulate<2>>>(0.1f, 2));
}

TEST_CASE("divisions of a batch in any order", "[accumulate]") {
  constexpr tx::step_options one = tx::options_of<tx::virtual_shards<4>, tx::data_parallel<2>>(), other = tx::options_of<tx::data_parallel<2>, tx::virtual_shards<4>>();
  static_assert(one.division.given && one.division.ranks == 2 && one.division.shards == 4 && !one.division.is_for(4) && one.division.is_for(2));
  static_assert(other.division.given && other.division.ranks == 2 && other.division.shards == 4);
  static_assert(!tx::options_of<tx::clip_gradient>().division.given && tx::options_of<tx::data_parallel<1>>().division.given);
}

TEST_CASE("gradients are means over the batch, also where they are clipped", "[accumulate]") {
  agree(moments<in_parts>(1), moments<step<whole>>(1));
  using clipped = step<whole, tx::clip_gradient>;
  using clipped_parts = step<part, tx::accumulate<2>, tx::clip_gradient>;
  auto const free = moments<clipped>(1e6f);
  auto const length = static_cast<float>(10 * norm(free[0]));  // the first moment is a tenth of the gradient
  agree(moments<clipped_parts>(1e6f), free);
  agree(moments<clipped_parts>(1.5f * length), free);  // a sum over the parts would be cut
  auto const cut = moments<clipped>(0.5f * length);
  CHECK(norm(cut[0]) == Approx(0.5 * norm(free[0])).epsilon(1e-3));
  agree(moments<clipped_parts>(0.5f * length), cut);
}

TEST_CASE("rows drop the same elements in parts", "[accumulate]") {
  close(trained<in_parts>(0.2f), trained<step<part, tx::virtual_shards<2>>>(0.2f), 2e-4);
}

TEST_CASE("parts on another backend", "[accumulate]") {
  close(trained<in_parts, tx::reference>(0.1f, 2), trained<in_parts>(0.1f, 2), 2e-4);
}

TEST_CASE("results are means over the parts", "[accumulate]") {
  tx::executor<step<1, tx::accumulate<2>>, tx::cpu> both{tx::seed(2)};
  std::vector<float> x(32);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
  std::vector<tx::i32> const label{0, 2};
  float squares = 0, losses = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    tx::executor<step<1>, tx::cpu> one{tx::seed(2)};
    one.settings.set("dropout", 0);
    auto const r = one(std::span(x).subspan(16 * i, 16), std::span(label).subspan(i, 1));
    losses += float(r.loss) / 2;
    squares += float(r.square) / 2;
    CHECK_THROWS_AS(r.loss / 2, tx::invalid);  // no number
  }
  both.settings.set("dropout", 0);
  auto const r = both(x, label);
  CHECK(float(r.loss) == Approx(losses).epsilon(1e-6));
  CHECK(float(r.square) == Approx(squares).epsilon(1e-6));
}

TEST_CASE("labels of every part are checked before anything runs", "[accumulate]") {
  tx::executor<step<3, tx::accumulate<4>>, tx::cpu> run{tx::seed(2)};
  batch b;
  run(b.x, b.label);
  std::vector<float> const before(run.elements().begin(), run.elements().end());
  for (std::size_t const at : {std::size_t{0}, std::size_t{4}, std::size_t{11}}) {
    b.label[at] = 3;
    CHECK_THROWS_WITH(run(b.x, b.label), Catch::Contains("holds 3 at element " + std::to_string(at) + ";"));
    b.label[at] = 1;
  }
  CHECK(std::ranges::equal(run.elements(), before));
}

namespace {
struct ends_early final : tx::exec::observer {
  int kernels;
  explicit ends_early(int k) : kernels(k) {}
  void before_kernel(tx::exec::frame const&, tx::exec::call const&) override {
    if (kernels-- == 0) throw tx::value_error("enough");
  }
};
}  // namespace

TEST_CASE("a run that ends between two parts leaves nothing to the next", "[accumulate]") {
  constexpr int many = 1 << 20;
  batch const b;
  tx::executor<in_parts, tx::cpu> left_alone{tx::seed(2)}, ended{tx::seed(2)};
  ends_early count(many);
  left_alone.observe(count);
  left_alone(b.x, b.label);
  left_alone.end_observing(count);
  ends_early early((many - count.kernels) / 2);  // within the second part
  ended.observe(early);
  CHECK_THROWS_AS(ended(b.x, b.label), tx::value_error);
  ended.end_observing(early);
  ended(b.x, b.label);
  for (int k : {0, 1, 2}) CHECK(std::ranges::equal(ended.elements(k), left_alone.elements(k)));
}
