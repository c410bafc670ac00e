// Views of the caller's memory as arguments, and results and parameters copied to and from them.
#include "allocations.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/run/dlpack.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace {

using namespace tx;

struct table {
  param<tensor<f32, 5, 3>> words;
};
struct found {
  tensor<f32, 4, 3> sum;
  tensor<f32, dyn<8>, 2> rows;
};
constexpr auto look_up = [](table const& m, tensor<f32, 4, 3> x, tensor<i32, 4, 1> ids, tensor<f32, dyn<8>, 2> rows) {
  return found{x + embedding(m.words, ids), rows + 1};
};
using program = executor<function<look_up, table>, cpu>;

// What std::mdspan tells, of two axes.
template <class T>
struct plane {
  T* data;
  std::array<std::size_t, 2> extents;
  std::array<std::ptrdiff_t, 2> strides;
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t i) const { return extents[i]; }
  std::ptrdiff_t stride(std::size_t i) const { return strides[i]; }
  T* data_handle() const { return data; }
};
// One without rank().
template <class T>
struct unranked {
  plane<T> in;
  std::size_t extent(std::size_t i) const { return in.extent(i); }
  std::ptrdiff_t stride(std::size_t i) const { return in.stride(i); }
  T* data_handle() const { return in.data; }
};
static_assert(strided_view<plane<f32 const>> && strided_view<unranked<f32>> && strided_view<array_view<i32>>);
static_assert(!strided_view<std::vector<f32>> && !strided_view<std::span<f32>>);

struct values {
  std::vector<f32> x = std::vector<f32>(12), turned = std::vector<f32>(12), r = std::vector<f32>(16);
  std::vector<i32> ids = {4, 0, 3, 1};
  values() {
    for (std::size_t i = 0; i < 12; ++i) x[i] = static_cast<f32>(i * i);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 3; ++j) turned[j * 4 + i] = x[i * 3 + j];
    for (std::size_t i = 0; i < 16; ++i) r[i] = static_cast<f32>(i);
  }
  plane<f32 const> dense() const { return {x.data(), {4, 3}, {3, 1}}; }
  plane<f32 const> across() const { return {turned.data(), {4, 3}, {1, 4}}; }  // the same elements, column by column
  plane<f32 const> rows(std::size_t n) const { return {r.data(), {n, 2}, {2, 1}}; }
};

std::vector<f32> copied(auto const& result) { return {result.begin(), result.end()}; }

}  // namespace

TEST_CASE("views are arguments: row-major ones where they lie, others as copies") {
  values const v;
  program run{seed(1), {.threads = 1}};
  auto const wanted = copied(run(v.x, v.ids, v.r).sum);
  plane<i32 const> const ids{v.ids.data(), {4, 1}, {1, 77}};  // the stride of one element means nothing
#if !defined(UNCOUNTED)
  long before = allocations;
#endif
  CHECK(std::ranges::equal(run(v.dense(), ids, v.rows(8)).sum, wanted));
  CHECK(std::ranges::equal(run(unranked<f32 const>{v.dense()}, v.ids, v.r).sum, wanted));
#if !defined(UNCOUNTED)
  CHECK(allocations == before);
#endif
  CHECK(std::ranges::equal(run(v.across(), v.ids, v.r).sum, wanted));
#if !defined(UNCOUNTED)
  before = allocations;
#endif
  CHECK(std::ranges::equal(run(v.across(), v.ids, v.r).sum, wanted));  // once there is memory for the copy
#if !defined(UNCOUNTED)
  CHECK(allocations == before);
#endif
  std::vector<f32> backwards(v.x.rbegin(), v.x.rend());
  CHECK(std::ranges::equal(run(plane<f32>{backwards.data() + 11, {4, 3}, {-3, -1}}, v.ids, v.r).sum, wanted));
}

TEST_CASE("a view of other extents is refused") {
  values const v;
  program run{seed(1)};
  auto const sum_of = [&](auto const& x) { return run(x, v.ids, v.r).sum; };
  CHECK_THROWS_AS(sum_of(plane<f32 const>{v.x.data(), {3, 4}, {4, 1}}), shape_error);
  CHECK_THROWS_WITH(sum_of(plane<f32 const>{v.x.data(), {3, 4}, {4, 1}}),
                    Catch::Contains("argument 0 has the extents [3, 4]; it must have [4, 3]"));
  CHECK_THROWS_WITH(sum_of(plane<f32 const>{v.x.data(), {3, 3}, {3, 1}}),
                    Catch::EndsWith("[3, 3]; it must have [4, 3]. FIX: the extents that the program was compiled for"));
  array_view<f32 const> flat{{1, {12}, {1}}, v.x.data()};
  CHECK_THROWS_WITH(sum_of(flat), Catch::Contains("argument 0 has 1 axes; it must have 2"));
  CHECK_THROWS_WITH(run(v.x, v.ids, v.rows(9)),
                    Catch::Contains("argument 2 has the extents [9, 2]; it must have [8, 2], or fewer rows"));
  CHECK_THROWS_WITH(run(v.x, v.ids, plane<f32 const>{v.r.data(), {4, 3}, {3, 1}}), Catch::Contains("[4, 3]"));
  std::vector<i32> const apart = {0, -1, 1, -1, 5, -1, 2, -1};
  CHECK_THROWS_WITH(run(v.x, plane<i32 const>{apart.data(), {4, 1}, {2, 1}}, v.r),
                    Catch::Contains("argument 1 holds 5 at element 2"));
}

TEST_CASE("a bounded extent is what the view has") {
  values const v;
  program run{seed(1)};
  for (std::size_t n : {1u, 5u, 8u}) {
    auto const rows = view_of(run(v.x, v.ids, v.rows(n)).rows);
    REQUIRE((rows.rank() == 2 && rows.extent(0) == static_cast<std::int64_t>(n) && rows.extent(1) == 2));
    for (std::size_t i = 0; i < 2 * n; ++i) CHECK(rows.data[i] == v.r[i] + 1);
  }
}

TEST_CASE("results and parameters are copied to and from views") {
  values const v;
  program run{seed(1)};
  auto const sum = run(v.x, v.ids, v.r).sum;
  std::vector<f32> mine(3 * 5, -1.f);
  copy_elements(view_of(sum), plane<f32>{mine.data(), {4, 3}, {1, 5}});  // columns, a gap behind each
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 3; ++j) CHECK(mine[j * 5 + i] == (i < 4 ? sum[i * 3 + j] : -1.f));
  CHECK_THROWS_WITH(copy_elements(view_of(sum), plane<f32>{mine.data(), {3, 4}, {4, 1}}),
                    Catch::Contains("[4, 3]") && Catch::Contains("[3, 4]"));

  auto const words = run.tensors()[0];
  copy_elements(plane<f32>{mine.data(), {5, 3}, {1, 5}}, view_of(words));
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 3; ++j) CHECK(words.data[i * 3 + j] == mine[j * 5 + i]);
}

TEST_CASE("a tensor of another library is an argument, and a parameter lent to one outlives the executor") {
  values const v;
  std::optional<program> run(std::in_place, seed(1));
  auto const wanted = copied((*run)(v.x, v.ids, v.r).sum);
  values theirs = v;
  std::int64_t shape[] = {4, 3}, strides[] = {1, 4};
  dlpack::tensor const across{
      theirs.turned.data(), {dlpack::device_type::cpu, 0}, 2, dlpack::data_type_of(dtype::f32), shape, strides, 0};
  CHECK(std::ranges::equal((*run)(dlpack::borrow<f32 const>(across), v.ids, v.r).sum, wanted));

  auto const kept = copied(run->tensors()[0].data);
  auto const lent = dlpack::lend(view_of(run->tensors()[0]), run->owner());
  run.reset();
  CHECK(std::equal(kept.begin(), kept.end(), static_cast<f32 const*>(lent->dl_tensor.data)));
}
