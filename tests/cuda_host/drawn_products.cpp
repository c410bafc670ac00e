// Products of drawn extents, of sides that lie in memory in drawn ways: neighbours along either axis or along none, rows that are far apart or begin anywhere.
#include "interpreter.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

namespace {

namespace device = tx::backends::device;

// A matrix of halves among others.
template <tx::dtype D>
struct side {
  int rows, cols;
  std::int64_t row, col, first;
  std::vector<tx::element_t<D>> memory;

  side(int r, int c, std::mt19937& numbers) : rows(r), cols(c) {
    auto const of = [&](std::initializer_list<int> all) { return *(all.begin() + numbers() % all.size()); };
    int const step = of({1, 1, 1, 2, 3, 8});
    bool const along = numbers() % 2 == 0;
    int const apart = (along ? cols : rows) * step, filled = of({0, 1, 8}), whole = of({1, 8});
    std::int64_t const far = (apart + filled + whole - 1) / whole * whole;
    row = along ? far : step;
    col = along ? step : far;
    first = of({0, 1, 8});
    memory.resize(static_cast<std::size_t>(first + (rows - 1) * row + (cols - 1) * col + 1));
    for (auto& x : memory) x = tx::element_t<D>::from(static_cast<float>(static_cast<int>(numbers() % 401) - 200) / 128);
  }
  double operator()(int r, int c) const { return static_cast<double>(memory[static_cast<std::size_t>(first + r * row + c * col)].widen()); }
  device::place place() {
    device::place p{};
    p.at = reinterpret_cast<std::byte*>(memory.data() + first);
    p.row = row;
    p.col = col;
    p.find_wide_side(2);
    return p;
  }
};

template <tx::dtype D, device::matrix_units Units>
void check_drawn(unsigned seeds) {
  using task = device::product_task<D, Units>;
  int wide = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::mt19937 numbers(seed);
    auto const below = [&](int n) { return 1 + static_cast<int>(numbers() % static_cast<unsigned>(n)); };
    int const rows = below(140), cols = below(140), depth = below(150);
    side<D> left(rows, depth, numbers), right(depth, cols, numbers);
    CAPTURE(seed, rows, cols, depth, left.row, left.col, left.first, right.row, right.col, right.first);
    std::vector<float> to(static_cast<std::size_t>(rows * cols), 99);
    typename task::arguments a{};
    a.left = left.place();
    a.right = right.place();
    wide += a.left.wide + a.right.wide;
    a.to.at = reinterpret_cast<std::byte*>(to.data());
    a.to.rank = 1;
    a.to.extent[0] = device::divider(static_cast<std::uint32_t>(rows));
    a.to.stride[0] = cols;
    a.to.find_wide(4, 4);
    a.rows = rows;
    a.cols = cols;
    a.depth = depth;
    a.tiles = (rows + task::tile - 1) / task::tile;
    interpreter::host_device::launch<task>(static_cast<int>(a.tiles) * ((cols + task::tile - 1) / task::tile), task::threads, task::shared_bytes, a);
    double far = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        double sum = 0;
        for (int k = 0; k < depth; ++k) sum += left(r, k) * right(k, c);
        far = std::max(far, std::abs(sum - static_cast<double>(to[static_cast<std::size_t>(r * cols + c)])));
      }
    REQUIRE(far < 1e-3);
  }
  CHECK(wide > static_cast<int>(seeds) / 10);
}

}  // namespace

TEST_CASE("Drawn products on units that a warp shares") {
  check_drawn<tx::dtype::bf16, device::matrix_units::of_warps>(60);
  check_drawn<tx::dtype::f16, device::matrix_units::of_warps>(30);
}
TEST_CASE("Drawn products on units that a wavefront shares, and on none") {
  check_drawn<tx::dtype::bf16, device::matrix_units::of_wavefronts>(60);
  check_drawn<tx::dtype::f16, device::matrix_units::none>(30);
}
