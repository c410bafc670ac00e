// Bounded extents on any axis, several of them: a program planned for the most computes, for what a run has, what one compiled for just that does.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/variance.hpp>
#include <tx/run/executor.hpp>
#include <tx/run/view.hpp>
#include <tx/step/function.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

constexpr auto batch = dyn<4, 1>, places = dyn<9, 2>;

std::vector<f32> numbers_of(std::size_t count, unsigned seed) {
  std::vector<f32> v;
  for (unsigned i = 0; i < count; ++i) v.push_back(static_cast<f32>((i * 2654435761u + seed * 40503u) % 2000u) / 500.0f - 2.0f);
  return v;
}
template <class T>
array_view<T const> view(std::vector<T> const& v, std::initializer_list<std::int64_t> extents) {
  array_view<T const> out{};
  for (std::int64_t n : extents) out.extents[out.axes++] = n;
  out.pack();
  out.data = v.data();
  return out;
}

template <auto B, auto S>
struct computed {
  tensor<f32, B, S, 6> shares;
  tensor<f32, B, S, S> scores;
  tensor<f32, S> by_place;
  tensor<f32> average, spread;
  tensor<f32, S, B, 2, 3> turned;
  tensor<f32, B, 6> first;
};
template <auto B, auto S>
constexpr auto compute = [](tensor<f32, B, S, 6> x, tensor<f32, S, 6> of_places) {
  auto const y = softmax<1>(x + of_places);
  auto const scores = softmax(matmul(x, transpose(y)));
  return computed<B, S>{y,
                        scores,
                        reshape<S>(sum<0, 2>(matmul(scores, y))),
                        mean(x * y),
                        variance(x, 1),
                        transpose<1, 0, 2, 3>(reshape<B, S, 2, 3>(x - y)),
                        reshape<B, 6>(slice<1, 0, 1>(y))};
};

template <class A, class B>
void check_same(A const& a, B const& b) {
  REQUIRE(a.size() == b.size());
  double furthest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) furthest = std::max(furthest, static_cast<double>(std::abs(a[i] - b[i])));
  CHECK(furthest < 1e-6);
}

template <class Backend, int B, int S>
void check_computed(executor<function<compute<batch, places>>, Backend>& run) {
  auto const x = numbers_of(B * S * 6, 1), p = numbers_of(S * 6, 2);
  executor<function<compute<B, S>>, Backend> fixed;
  auto const got = run(view(x, {B, S, 6}), p);
  auto const wanted = fixed(x, p);
  check_same(got.shares, wanted.shares);
  check_same(got.scores, wanted.scores);
  check_same(got.by_place, wanted.by_place);
  check_same(got.turned, wanted.turned);
  check_same(got.first, wanted.first);
  CHECK(float(got.average) == Approx(float(wanted.average)).epsilon(1e-6));
  CHECK(float(got.spread) == Approx(float(wanted.spread)).epsilon(1e-6));
  auto const turned = view_of(got.turned);
  CHECK((turned.extent(0) == S && turned.extent(1) == B && turned.extent(3) == 3));
}

}  // namespace

TEMPLATE_TEST_CASE("two bounded extents, each on several axes", "", cpu, reference) {
  executor<function<compute<batch, places>>, TestType> run;
  check_computed<TestType, 4, 9>(run);
  check_computed<TestType, 2, 5>(run);
  check_computed<TestType, 3, 1>(run);
  check_computed<TestType, 1, 8>(run);
}

TEST_CASE("a part of two bounded axes that are one needs as many elements of both together as it takes") {
  constexpr auto part = [](tensor<f32, batch, places> x) { return slice<0, 0, 5>(reshape<4 * 9>(x)); };
  executor<function<part>, cpu> run;
  auto const x = numbers_of(36, 1);
  for (auto const& [b, s] : {std::pair{1, 5}, {4, 2}, {1, 9}}) {
    auto const got = run(view(x, {b, s}));
    CHECK(std::vector<f32>(got.value.begin(), got.value.end()) == std::vector<f32>(x.begin(), x.begin() + 5));
  }
  CHECK_THROWS_WITH(run(view(x, {2, 2})), Catch::Contains("up to 36, a product of bounded ones, is 4 in this run, and the program takes element 4 of it. FIX: at least 5"));
}

TEST_CASE("what a run has is told by views, or by what is known of other arguments") {
  executor<function<compute<batch, places>>, cpu> run;
  auto const x = numbers_of(2 * 5 * 6, 1), p = numbers_of(5 * 6, 2);
  CHECK(run(x, p).shares.size() == 60);  // 5 places are told by p, 2 of a batch by what is left
  CHECK_THROWS_WITH(run(x, numbers_of(7 * 6, 2)), Catch::Contains("argument 0 is a f32[<=4, <=9, 6]"));
  CHECK_THROWS_WITH(run(view(x, {2, 5, 6}), numbers_of(4 * 6, 2)), Catch::Contains("argument 1"));
  CHECK_THROWS_WITH(run(view(x, {2, 5, 6}), view(p, {6, 5})), Catch::Contains("argument 1 has the extents [6, 5]; it must have [9, 6], or fewer rows"));
  CHECK_THROWS_WITH(run(view(x, {5, 2, 6}), p), Catch::Contains("[5, 2, 6]; it must have [4, 9, 6], or fewer along axes that are bounded"));
  CHECK_THROWS_WITH(run(view(x, {2, 5, 6}), view(p, {1, 6})), Catch::Contains("argument 1 has 1 rows; an argument before it with the same bounded extent has 5. FIX: as many in each argument that shares the extent, or a tag of its own: tx::dyn<most, tag>"));
  std::vector<f32> const none;
  CHECK_THROWS_WITH(run(view(none, {2, 0, 6}), none), Catch::Contains("dyn<9, 2>, is 0 in this run, and the program takes element 0 of it. FIX: at least 1"));
  CHECK(run(view(none, {0, 5, 6}), p).shares.size() == 0);

  constexpr auto alone = [](tensor<f32, batch, places> v) { return v * 2.0f; };
  executor<function<alone>, cpu> doubled;
  CHECK_THROWS_WITH(doubled(p), Catch::Contains("argument 0 is a f32[<=4, <=9] and was given 30 elements, which do not tell its extents. FIX: a view"));
  auto const rows = view_of(doubled(view(p, {4, 7})).value);
  CHECK((rows.extent(0) == 4 && rows.extent(1) == 7 && rows.data[27] == 2 * p[27]));

  // Each is told by the one behind it.
  constexpr auto chained = [](tensor<f32, batch, places> a, tensor<f32, places, dyn<6, 3>> b, tensor<f32, dyn<6, 3>, dyn<5, 4>> c, tensor<f32, dyn<5, 4>> d) { return sum(a) + sum(b) + sum(c) + sum(d); };
  executor<function<chained>, cpu> sums;
  std::vector<f32> const a(3 * 7, 1.0f), b(7 * 4, 1.0f), c(4 * 2, 1.0f), d(2, 1.0f);
  CHECK(sums(a, b, c, d).value == 21 + 28 + 8 + 2);
}

namespace {

struct tiny {
  static constexpr int layers = 2, hidden = 16, heads = 2, ffn = 24, vocabulary = 11, positions = 12, types = 2;
};
using model = nn::bert_classifier<tiny, 3>;
template <auto B, auto S>
constexpr auto loss = [](model const& m, tensor<i32, B, S> ids, tensor<i32, B, S> mask, tensor<i32, B> labels) {
  return cross_entropy(m(ids, mask), labels);
};

template <int B, int S, class... Options>
void check_training() {
  using bounded_step = train_step<model, loss<batch, places>, sgd, Options...>;
  using fixed_step = train_step<model, loss<B, S>, sgd, Options...>;
  executor<bounded_step, cpu> run{seed(3)};
  executor<fixed_step, cpu> fixed{seed(3)};
  std::vector<i32> ids, mask, labels;
  for (int i = 0; i < B * S; ++i) ids.push_back(i * 7 % 11), mask.push_back(i % 5 != 4 || i % S == 0);
  for (int i = 0; i < B; ++i) labels.push_back(i % 3);
  for (int step = 0; step < 3; ++step) CHECK(run(view(ids, {B, S}), mask, labels).loss == Approx(fixed(ids, mask, labels).loss).epsilon(1e-6));
  auto const a = run.elements(), b = fixed.elements();
  double furthest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) furthest = std::max(furthest, static_cast<double>(std::abs(a[i] - b[i])));
  CHECK(furthest < 1e-6);
  CHECK(bounded_step::memory.peak >= fixed_step::memory.peak);
}

}  // namespace

TEST_CASE("a model trains on texts of any number and length up to the most, dropout and all") {
  check_training<2, 5>();
  check_training<4, 9>();
  check_training<3, 1, clip_gradient>();
}

namespace {

struct parts {
  tensor<f32, 1, places, 1, 6> place_then_head, head_then_place;
  tensor<f32, 2, 1, 1, 6> of_place;
};
constexpr auto take_parts = [](tensor<f32, 2, places, 4, 6> x) {
  return parts{slice<2, 3, 1>(slice<0, 1, 1>(x)), slice<0, 1, 1>(slice<2, 3, 1>(x)), slice<2, 2, 1>(slice<1, 0, 1>(x))};
};

}  // namespace

TEMPLATE_TEST_CASE("slices along fixed axes on both sides of a bounded one, whichever comes first", "", cpu, reference) {
  executor<function<take_parts>, TestType> run;
  for (std::int64_t n : {9, 5, 1}) {
    auto const x = numbers_of(static_cast<std::size_t>(2 * n * 4 * 6), 5);
    auto const got = run(x);
    REQUIRE(got.place_then_head.size() == static_cast<std::size_t>(6 * n));
    auto const at = [&](std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t c) { return x[static_cast<std::size_t>(((b * n + s) * 4 + h) * 6 + c)]; };
    for (std::int64_t s = 0; s < n; ++s)
      for (std::int64_t c = 0; c < 6; ++c) {
        CHECK(got.place_then_head[static_cast<std::size_t>(s * 6 + c)] == at(1, s, 3, c));
        CHECK(got.head_then_place[static_cast<std::size_t>(s * 6 + c)] == at(1, s, 3, c));
      }
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t c = 0; c < 6; ++c) CHECK(got.of_place[static_cast<std::size_t>(b * 6 + c)] == at(b, 0, 2, c));
  }
}

namespace {

constexpr auto look_up = [](tensor<f32, places, 3> table, tensor<i32, 4> ids) { return take(table, ids); };

// A trained bias of scores that are long enough for the CPU's kernel, of texts that may be none.
struct with_bias {
  param<tensor<f32, 1, 2, 512, 512>> bias;
  param<tensor<f32, 8, 8>> weight;
};
constexpr auto bias_loss = [](with_bias const& m, tensor<f32, batch, 512, 8> x) {
  auto const q = transpose<0, 2, 1, 3>(reshape<batch, 512, 2, 4>(matmul(x, m.weight)));
  auto const y = nn::attend(q, q, q, m.bias);
  return sum(y * y);
};

}  // namespace

TEST_CASE("ids into a bounded table are below what it has in a run") {
  executor<function<look_up>, cpu> run;
  auto const table = numbers_of(5 * 3, 1);
  std::vector<i32> ids = {0, 4, 2, 1};
  CHECK(run(table, ids).value[3] == table[12]);
  ids[2] = 5;
  CHECK_THROWS_WITH(run(table, ids), Catch::Contains("argument 1 holds 5 at element 2") && Catch::Contains("below 5"));
}

TEST_CASE("of no texts the gradient of attention's bias is nothing, and not what lay there") {
  executor<value_and_grad<bias_loss, with_bias>, cpu> run{seed(1)};
  auto const x = numbers_of(4 * 512 * 8, 3);
  double largest = 0;
  for (f32 g : run(view(x, {4, 512, 8})).gradient.elements()) largest = std::max(largest, static_cast<double>(std::abs(g)));
  CHECK(largest > 0);
  std::vector<f32> const none;
  for (f32 g : run(view(none, {0, 512, 8})).gradient.elements()) REQUIRE(g == 0);
}

TEST_CASE("halves, and gradients that are clipped, of a batch that is bounded twice") { check_training<3, 7, mixed<bf16>, clip_gradient>(); }
