// A product whose extents are bounded has scratch for any of them: what a target plans for the most is no less than what it needs for fewer.
#include <tx/backends/cpu/target.hpp>
#include <tx/backends/device/target.hpp>

#include <catch2/catch.hpp>

#include <random>

namespace {

using tx::exec::call, tx::exec::operand_ref;

// Sides of a product [rows, depth] x [depth, cols], each as it lies or transposed.
struct sides {
  operand_ref left{}, right{};
};
sides of(call const& c, tx::dtype type, bool left_turned, bool right_turned) {
  std::int64_t const rows = c.batch == 0 ? 0 : c.rows / c.batch;
  sides s;
  s.left.type = s.right.type = type;
  s.left.row = left_turned ? 1 : c.depth;
  s.left.col = left_turned ? rows : 1;
  s.right.row = right_turned ? 1 : c.cols;
  s.right.col = right_turned ? c.depth : 1;
  return s;
}

// What cpu::gemm_task lays out in its scratch, for the extents of a run: one of two ways.
std::int64_t cpu_needs(call const& c, sides const& s) {
  using namespace tx::backends::cpu;
  tx::dtype const type = s.left.type;
  std::int64_t const element = size_of(sum_type(type)), rows = c.batch == 0 ? 0 : c.rows / c.batch;
  if (swaps(c, s.left, s.right, rows))
    return packed_right_bytes(rows, c.depth, type) + aligned(rows * c.cols * element) + shares * swapped_columns * scratch_row(rows, element);
  std::int64_t const packed = (packs_left(c, s.left) ? packed_left_bytes(rows, c.depth, type) : 0) +
                              (packs_right(c, s.right) ? packed_right_bytes(c.cols, c.depth, type) : 0);
  return (is_one_matrix(c) ? 1 : shares) * packed + shares * aligned(panel_rows(rows, c.cols, element) * c.cols * element);
}
// All results, for a kernel of rows behind the product, and the sums of parts of the depth.
std::int64_t cuda_needs(call const& c, sides const& s) {
  using namespace tx::backends::device;
  tx::dtype const type = s.left.type;
  std::int64_t const element = size_of(sum_type(type)), rows = c.batch == 0 ? 0 : c.rows / c.batch, tile = tile_of(type, tx::backends::device::matrix_units::of_warps);
  std::int64_t const tiles = tiles_of(static_cast<int>(tile), rows, c.cols, c.batch);
  int const parts = depth_parts(tiles, c.depth);
  return c.rows * c.cols * element + (parts > 1 ? parts * tiles * tile * tile * element : 0);
}
std::int64_t library_needs(call const& c, sides const& s) {
  using namespace tx::backends::device;
  std::int64_t const own = cuda_needs(c, s);
  return takes_product(s.left.type, c) ? std::max(own, c.rows * c.cols * size_of(sum_type(s.left.type)) + library_workspace) : own;
}

}  // namespace

TEST_CASE("scratch planned for the most is enough for fewer") {
  std::mt19937 random(7);
  auto const draw = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  constexpr tx::factors first = tx::factors::once(1);
  for (int round = 0; round < 20'000; ++round) {
    std::int64_t const each[] = {1 + draw(700), 1 + draw(700), 1 + draw(draw(3) == 0 ? 3000 : 300), draw(3) == 0 ? 1 + draw(40) : 1};  // rows, columns, depth, matrices
    bool const varies[] = {draw(2) == 0, draw(2) == 0, draw(2) == 0, draw(2) == 0};
    tx::dtype const type = draw(2) == 0 ? tx::dtype::f32 : tx::dtype::bf16;
    bool const left_turned = draw(2) == 0, right_turned = draw(2) == 0;
    auto const made = [&](bool fewer) {
      std::int64_t n[4];
      for (int k = 0; k < 4; ++k) n[k] = fewer && varies[k] ? draw(each[k] + 1) : each[k];
      call c{};
      c.rows = n[0] * n[3], c.cols = n[1], c.depth = n[2], c.batch = n[3];
      if (varies[0] || varies[3]) c.of_rows = first;
      if (varies[1]) c.of_cols = first;
      if (varies[2]) c.of_depth = first;
      if (varies[3]) c.of_batch = first;
      return c;
    };
    call const most = made(false);
    sides planned = of(most, type, left_turned, right_turned);
    // Strides that go with a bounded extent, as those of a slice do, whatever the extents of the product are.
    std::int64_t const apart[] = {1 + draw(9), 1 + draw(9), 1 + draw(9), 1 + draw(9)};
    bool const strides_vary = draw(2) == 0;
    auto const widen = [&](sides& s, auto const& times) {
      if (!strides_vary) return;
      s.left.row *= times(0), s.left.col *= times(1), s.right.row *= times(2), s.right.col *= times(3);
      s.left.varying = s.right.varying = 1;
    };
    widen(planned, [&](int k) { return apart[k]; });
    std::int64_t const cpu = tx::backends::cpu::product_scratch(most, planned.left, planned.right);
    std::int64_t const cuda = tx::backends::device::product_scratch<tx::backends::device::matrix_units::of_warps>({}, most, planned.left, planned.right);
    std::int64_t const library = tx::backends::device::library_scratch<tx::backends::device::matrix_units::of_warps>({}, most, planned.left, planned.right);
    for (int k = 0; k < 4; ++k) {
      call const now = made(k > 0);
      sides s = of(now, type, left_turned, right_turned);
      if (k > 0) widen(s, [&](int side) { return 1 + draw(apart[side]); });
      else widen(s, [&](int side) { return apart[side]; });
      REQUIRE(cpu_needs(now, s) <= cpu);
      REQUIRE(cuda_needs(now, s) <= cuda);
      REQUIRE(library_needs(now, s) <= library);
      REQUIRE(tx::backends::device::product_scratch<tx::backends::device::matrix_units::of_warps>({}, now, s.left, s.right) <= cuda);
    }
  }
}
