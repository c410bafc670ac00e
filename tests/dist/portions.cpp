// own_rows, reduce_scatter and all_gather as nodes of a graph: their values, their gradients, their errors.
#include "../net/unequal_parts.hpp"
#include "within.hpp"

#include <tx/autodiff/grad.hpp>
#include <tx/backends/cpu.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/dist/reduce_scatter.hpp>
#include <tx/dist/single.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <vector>

using namespace std::chrono_literals;
using namespace tx;

namespace {

constexpr int ranks = 3, rows = 7, of_rank = 3;  // of the last rank one
using cube = tensor<float, 2, rows, 5>;
using portion_of_cube = tensor<float, 2, of_rank, 5>;

struct parts {
  portion_of_cube own, summed;
  cube together;
};
// The axis in the middle, so that there are two blocks; operands need not be dense.
constexpr auto all_three = [](cube x) {
  auto const turned = transpose<0, 2, 1>(transpose<0, 2, 1>(x) * 2);
  return parts{own_rows<1, ranks>(turned), reduce_scatter<1, ranks>(turned) + 1, all_gather<-2, ranks, rows>(own_rows<-2, ranks>(turned))};
};

struct gradients_of {
  cube by_whole;
  portion_of_cube by_portion;
};
// sum(w * reduce_scatter(tanh(x))) and sum(v * all_gather(tanh(y))), of which each rank trains for the sum over all.
constexpr auto of_divided = [](auto const& x, auto const& w) { return sum(w * reduce_scatter<1, ranks>(tanh(x))); };
constexpr auto of_gathered = [](auto const& y, auto const& v) { return sum(v * all_gather<1, ranks, rows>(tanh(y))); };
constexpr auto weighted = [](cube x, portion_of_cube w, portion_of_cube y, cube v) { return gradients_of{grad<of_divided>(x, w), grad<of_gathered>(y, v)}; };

float value_at(int rank, std::size_t i) { return 0.1f * static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 5) % 13) - 0.5f; }
std::vector<float> numbers(int rank, int count) {
  std::vector<float> v;
  for (int i = 0; i < count; ++i) v.push_back(value_at(rank, static_cast<std::size_t>(i)));
  return v;
}
constexpr std::size_t at(int b, int row, int c, int of) { return static_cast<std::size_t>((b * of + row) * 5 + c); }

template <class Program, class Told, class... A>
std::vector<Told> on_ranks(Told (*told)(typename executor<Program, distributed<cpu, dist::local>>::result const&), A const&... arguments) {
  std::vector<Told> got(ranks);
  within(60s, [&] {
    dist::local_group group(ranks);
    group.run([&](dist::local& rank) {
      executor<Program, distributed<cpu, dist::local>> run{seed(0), rank};
      got[static_cast<std::size_t>(rank.rank())] = told(run(arguments[static_cast<std::size_t>(rank.rank())]...));
    });
  });
  return got;
}
using values = std::vector<float>;

}  // namespace

TEST_CASE("a rank's own rows, those of the sum over ranks, and all of them together") {
  std::vector<values> x;
  for (int r = 0; r < ranks; ++r) x.push_back(numbers(r, 2 * rows * 5));
  using program = function<all_three>;
  auto const got = on_ranks<program, std::array<values, 3>>(
      [](auto const& r) { return std::array{values(r.own.begin(), r.own.end()), values(r.summed.begin(), r.summed.end()), values(r.together.begin(), r.together.end())}; }, x);
  for (int r = 0; r < ranks; ++r)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 5; ++c) {
        auto const& [own, summed, together] = got[static_cast<std::size_t>(r)];
        for (int k = 0; k < of_rank; ++k) {
          int const row = r * of_rank + k;
          float sum = 0;
          for (int other = 0; other < ranks && row < rows; ++other) sum += 2 * value_at(other, at(b, row, c, rows));
          CHECK(own[at(b, k, c, of_rank)] == (row < rows ? 2 * value_at(r, at(b, row, c, rows)) : 0));
          CHECK(summed[at(b, k, c, of_rank)] == Approx(sum + 1).margin(1e-6));
        }
        for (int row = 0; row < rows; ++row) CHECK(together[at(b, row, c, rows)] == 2 * value_at(row / of_rank, at(b, row, c, rows)));
      }
}

TEST_CASE("the gradient of what is divided is gathered, and that of what is gathered is divided") {
  std::vector<values> x, w, y, v;
  for (int r = 0; r < ranks; ++r) {
    x.push_back(numbers(r, 2 * rows * 5));
    w.push_back(numbers(r + 3, 2 * of_rank * 5));
    y.push_back(numbers(r + 6, 2 * of_rank * 5));
    v.push_back(numbers(r + 9, 2 * rows * 5));
  }
  using program = function<weighted>;
  auto const got = on_ranks<program, std::array<values, 2>>(
      [](auto const& r) { return std::array{values(r.by_whole.begin(), r.by_whole.end()), values(r.by_portion.begin(), r.by_portion.end())}; }, x, w, y, v);
  auto const slope = [](float z) { return 1 - std::tanh(z) * std::tanh(z); };
  for (int r = 0; r < ranks; ++r)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 5; ++c) {
        auto const& [by_whole, by_portion] = got[static_cast<std::size_t>(r)];
        for (int row = 0; row < rows; ++row)
          CHECK(by_whole[at(b, row, c, rows)] == Approx(value_at(row / of_rank + 3, at(b, row % of_rank, c, of_rank)) * slope(value_at(r, at(b, row, c, rows)))).margin(1e-6));
        for (int k = 0; k < of_rank; ++k) {
          int const row = r * of_rank + k;
          float sum = 0;
          for (int other = 0; other < ranks && row < rows; ++other) sum += value_at(other + 9, at(b, row, c, rows));
          CHECK(by_portion[at(b, k, c, of_rank)] == Approx(sum * slope(value_at(r + 6, at(b, k, c, of_rank)))).margin(1e-6));
        }
      }
}

TEST_CASE("portions are for as many ranks as there are") {
  dist::single alone;
  executor<function<all_three>, distributed<cpu, dist::single>> run{seed(0), alone};
  CHECK_THROWS_AS(run(numbers(0, 2 * rows * 5)), dist::rank_error);
}

TEST_CASE("rules of shapes say what is wrong") {
  graph g{};
  var const x = emit_leaf(g, input_info, {dtype::f32, shape{2, {}, {7, 4}}}, of_input(0)), whole = emit_leaf(g, input_info, {dtype::i32, shape{1, {}, {4}}}, of_input(1));
  CHECK(reduce_scatter(x, 0, 3).dims() == shape{2, {}, {3, 4}});
  CHECK(own_rows(whole, -1, 3).dims() == shape{1, {}, {2}});
  CHECK_THROWS_AS(reduce_scatter(x, 2, 3), invalid);
  CHECK_THROWS_AS(reduce_scatter(whole, 0, 2), invalid);
  CHECK_THROWS_AS(own_rows(x, 0, 0), invalid);
  CHECK_THROWS_AS(all_gather(x, 0, 3, 22), invalid);
  CHECK_THROWS_AS(all_gather(x, 0, 3, 18), invalid);
  CHECK(all_gather(x, 0, 3, 19).dims() == shape{2, {}, {19, 4}});
}

TEST_CASE("parts of which the last ranks have fewer, or none, between threads") {
  int const count = GENERATE(1, 2, 3, 5);
  std::size_t const elements = GENERATE(std::size_t{0}, std::size_t{5}, std::size_t{3'001});
  std::size_t const each = (elements + static_cast<std::size_t>(count) - 1) / static_cast<std::size_t>(count) + (count == 3 ? 2 : 0);
  CAPTURE(count, elements, each);
  std::vector<std::size_t> wrong(static_cast<std::size_t>(count));
  within(60s, [&] {
    dist::local_group group(count);
    group.run([&](dist::local& rank) { wrong[static_cast<std::size_t>(rank.rank())] = wrong_in_unequal_parts<float>(rank, elements, each) + wrong_in_unequal_parts<f16>(rank, elements, each); });
  });
  for (std::size_t const errors : wrong) CHECK(errors == 0);
  dist::single alone;
  CHECK(wrong_in_unequal_parts<float>(alone, elements, elements + 2) == 0);
}
