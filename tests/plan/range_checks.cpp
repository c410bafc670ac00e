// Ids out of range are refused before a run wherever they come from: an argument, or what shows elements of one.
#include <tx/backends/cpu.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/expr/scan.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/full.hpp>
#include <tx/ops/one_hot.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

struct table {
  param<tensor<float, 5, 4>, init::ones> rows;
};

// The elements of an argument, each in turn out of range, at which a run is refused; the message must name them.
template <auto F>
std::vector<int> refused_at(int count) {
  executor<function<F, table>, cpu> run{seed(0)};
  std::vector<int> at;
  std::vector<i32> ids(static_cast<std::size_t>(count), 1);
  run(ids);
  for (int i = 0; i < count; ++i) {
    ids.assign(ids.size(), 1);
    ids[static_cast<std::size_t>(i)] = 7;
    try {
      run(ids);
    } catch (value_error const& e) {
      CHECK_THAT(e.what(), Catch::Contains("argument 0 holds 7 at element " + std::to_string(i) + ";"));
      at.push_back(i);
    }
  }
  return at;
}
using places = std::vector<int>;

template <int N>
using ids_of = tensor<i32, N>;
constexpr auto whole = [](table const& m, ids_of<6> ids) { return take(m.rows, ids + 0); };
constexpr auto part = [](table const& m, ids_of<6> ids) { return take(m.rows, slice<0, 1, 3>(ids)); };
constexpr auto stepped = [](table const& m, ids_of<7> ids) { return take(m.rows, slice<0, 1, 3, 2>(ids)); };
constexpr auto turned = [](table const& m, ids_of<6> ids) { return take(m.rows, transpose(reshape<2, 3>(ids))); };
constexpr auto flipped = [](table const& m, ids_of<6> ids) { return take(m.rows, flip<0>(ids)); };
constexpr auto flipped_part = [](table const& m, ids_of<6> ids) { return take(m.rows, slice<0, 0, 2>(flip<0>(ids))); };
constexpr auto flipped_columns = [](table const& m, ids_of<6> ids) {
  return take(m.rows, slice<0, 0, 2>(reshape<6>(flip<0, 1>(reshape<2, 3>(ids)))));
};
constexpr auto moved = [](table const& m, ids_of<6> ids) {
  return take(m.rows, reshape<6>(transpose(reshape<2, 3>(ids))));
};
constexpr auto column = [](table const& m, ids_of<6> ids) { return take(m.rows, slice<1, 1, 1>(reshape<2, 3>(ids))); };
constexpr auto columns = [](table const& m, ids_of<8> ids) { return take(m.rows, slice<1, 1, 2>(reshape<2, 4>(ids))); };
constexpr auto repeated = [](table const& m, ids_of<2> ids) {
  return take(m.rows, broadcast_to<3, 2>(ids)) + take(m.rows, broadcast_to<3, 2>(ids));
};
constexpr auto read_in_part = [](table const&, ids_of<6> ids) { return slice<0, 0, 1>(one_hot<5>(ids)) + 1.0; };
constexpr auto of_computed = [](table const&, ids_of<6> ids) { return slice<0, 0, 1>(one_hot<5>(ids + 1)) + 1.0; };
constexpr auto converted = [](table const& m, ids_of<6> ids) { return take(m.rows, cast<i64>(ids)); };
constexpr auto converted_part = [](table const& m, ids_of<6> ids) {
  return take(m.rows, slice<0, 1, 2>(cast<i8>(slice<0, 1, 3>(ids))));
};
constexpr auto joined = [](table const& m, ids_of<6> ids) {
  return take(m.rows, flip<0>(concat<0>(slice<0, 4, 2>(ids), cast<i32>(cast<i64>(slice<0, 0, 2>(ids))))));
};
constexpr auto joined_with_computed = [](table const& m, ids_of<6> ids) {
  return take(m.rows, concat<0>(slice<0, 1, 1>(ids), slice<0, 4, 2>(ids) - 3));
};
constexpr auto halves_of_it = [](table const& m, ids_of<6> ids) {
  return take(m.rows, slice<0, 0, 3>(ids)) + take(m.rows, slice<0, 3, 3>(ids));
};

// Two vocabularies side by side, of as many rows as there are.
constexpr auto packed = [](table const& m, tensor<i32, dyn<4>, 3> x) {
  return take(m.rows, reshape<-1>(slice<1, 1, 1>(x))) + one_hot<4>(reshape<-1>(slice<1, 2, 1>(x)));
};

struct block {
  param<tensor<float, 5, 4>, init::ones> rows;
  constexpr auto operator()(auto const& x, auto const& ids) const { return x + take(rows, ids); }
};
struct blocks {
  repeat<3, block> all;
};
constexpr auto in_a_repeat = [](blocks const& m, tensor<float, 2, 4> x, ids_of<4> ids) {
  return m.all(x, slice<0, 1, 2>(ids));
};

// A slice of the ids in each iteration, part of it, and slices of slices.
constexpr auto over_time = [](table const& m, ids_of<6> ids) {
  return scan<3>([&](auto const& h, auto const& now) { return h + sum<0>(take(m.rows, now)); }, zeros<tensor<float, 1, 4>>(ids), reshape<3, 2>(ids));
};
constexpr auto part_over_time = [](table const& m, ids_of<6> ids) {
  return scan<3>([&](auto const& h, auto const& now) { return h + take(m.rows, slice<0, 1, 1>(now)); }, zeros<tensor<float, 1, 4>>(ids), reshape<3, 2>(ids));
};
constexpr auto columns_over_time = [](table const& m, ids_of<6> ids) {
  return scan<2>([&](auto const& h, auto const& now) { return h + sum<0>(take(m.rows, now)); }, zeros<tensor<float, 1, 4>>(ids), transpose(slice<1, 1, 2>(reshape<2, 3>(ids))));
};
constexpr auto nested_over_time = [](table const& m, ids_of<12> ids) {
  auto const outer = [&](auto const& h, auto const& now) {  // [2, 3]
    return scan<2>([&](auto const& inner, auto const& each) { return inner + sum<0>(take(m.rows, slice<0, 0, 2>(each))); }, h, now);
  };
  return scan<2>(outer, zeros<tensor<float, 1, 4>>(ids), reshape<2, 2, 3>(ids));
};

}  // namespace

TEST_CASE("ids are checked of which each iteration sees a slice") {
  CHECK(refused_at<over_time>(6) == places{0, 1, 2, 3, 4, 5});
  CHECK(refused_at<part_over_time>(6) == places{1, 3, 5});
  CHECK(refused_at<columns_over_time>(6) == places{1, 2, 4, 5});
  CHECK(refused_at<nested_over_time>(12) == places{0, 1, 3, 4, 6, 7, 9, 10});
}

TEST_CASE("ids are checked where an argument's elements are only shown") {
  CHECK(refused_at<whole>(6) == places{0, 1, 2, 3, 4, 5});
  CHECK(refused_at<turned>(6) == places{0, 1, 2, 3, 4, 5});
  CHECK(refused_at<flipped>(6) == places{0, 1, 2, 3, 4, 5});
  CHECK(refused_at<moved>(6) == places{0, 1, 2, 3, 4, 5});
  CHECK(refused_at<repeated>(2) == places{0, 1});
  CHECK(refused_at<halves_of_it>(6) == places{0, 1, 2, 3, 4, 5});
}

TEST_CASE("ids are checked where they are converted and joined") {
  CHECK(refused_at<converted>(6) == places{0, 1, 2, 3, 4, 5});
  CHECK(refused_at<converted_part>(6) == places{2, 3});
  CHECK(refused_at<joined>(6) == places{0, 1, 4, 5});
  CHECK(refused_at<joined_with_computed>(6) == places{1});
}

TEST_CASE("of a part of an argument, that part is checked") {
  CHECK(refused_at<part>(6) == places{1, 2, 3});
  CHECK(refused_at<stepped>(7) == places{1, 3, 5});
  CHECK(refused_at<flipped_part>(6) == places{4, 5});
  CHECK(refused_at<flipped_columns>(6) == places{4, 5});
  CHECK(refused_at<column>(6) == places{1, 4});
  CHECK(refused_at<columns>(8) == places{1, 2, 5, 6});
}

TEST_CASE("what is promised of an argument is checked though less of the result is read") {
  CHECK(refused_at<read_in_part>(6) == places{0, 1, 2, 3, 4, 5});
  CHECK(refused_at<of_computed>(6).empty());  // what a program computes names nothing
}

TEST_CASE("columns of a bounded argument have a range each") {
  executor<function<packed, table>, cpu> run{seed(0)};
  std::vector<i32> x{99, 1, 3, -5, 4, 0, 70, 2, 2, 0, 0, 1};
  CHECK(run(x).value.size() == 16);
  x[10] = 5;
  CHECK_THROWS_WITH(run(x), Catch::Contains("holds 5 at element 10") && Catch::Contains("below 5"));
  CHECK(run(std::span(x).first(9)).value.size() == 12);  // the row is not there
  x[8] = 4;
  CHECK_THROWS_WITH(run(std::span(x).first(9)), Catch::Contains("holds 4 at element 8") && Catch::Contains("below 4"));
  CHECK(run(std::span(x).first(6)).value.size() == 8);
  CHECK(run(std::span(x).first(0)).value.size() == 0);
}

TEST_CASE("ids that a repeated block looks up are checked") {
  executor<function<in_a_repeat, blocks>, cpu> run{seed(0)};
  std::vector<float> const x(8);
  CHECK(run(x, std::vector<i32>{9, 1, 2, 9}).value[0] == 3);
  CHECK_THROWS_WITH(run(x, std::vector<i32>{0, 1, 5, 0}), Catch::Contains("argument 1 holds 5 at element 2"));
}
