#include <tx/backends/cpu/gemm_few_rows.hpp>
#include <tx/backends/cpu/gemm_kernel.hpp>
#include <tx/core/math.hpp>

#include <catch2/catch.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

using namespace tx;
namespace cpu = tx::backends::cpu;
using cpu::extent;
using cpu::product;

namespace {

template <class T>
std::vector<T> noise(extent n, unsigned seed) {
  std::minstd_rand random(seed + 1);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (auto& x : v) x = static_cast<T>(random() % 20001) / T(10000) - T(1);
  return v;
}

// An m x n matrix with any strides, inside a buffer whose other elements are NaN: reading one of them shows.
template <class T>
struct product_side {
  std::vector<T> memory;
  cpu::matrix<T> view;

  product_side(extent m, extent n, extent row, extent column, unsigned seed) {
    memory.assign(static_cast<std::size_t>((m ? m - 1 : 0) * row + (n ? n - 1 : 0) * column + 1),
                  std::numeric_limits<T>::quiet_NaN());
    auto const values = noise<T>(m * n, seed);
    for (extent i = 0; i < m; ++i)
      for (extent j = 0; j < n; ++j)
        memory[static_cast<std::size_t>(i * row + j * column)] = values[static_cast<std::size_t>(i * n + j)];
    view = {memory.data(), row, column};
  }
  T operator()(extent i, extent j) const { return view.data[i * view.row + j * view.column]; }
};

// The promised chain of fmas, one element at a time.
template <class T>
std::vector<T> reference(extent m, extent n, extent k, product_side<T> const& a, product_side<T> const& b, std::vector<T> c,
                         extent c_row, product mode) {
  for (extent i = 0; i < m; ++i)
    for (extent j = 0; j < n; ++j) {
      auto& x = c[static_cast<std::size_t>(i * c_row + j)];
      T sum = mode == product::add ? x : T(0);
      for (extent p = 0; p < k; ++p) sum = math::fma(a(i, p), b(p, j), sum);
      x = sum;
    }
  return c;
}

template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void check(extent m, extent n, extent k, product_side<T> const& a, product_side<T> const& b, product mode) {
  extent const c_row = n + 3;  // the gap must stay as it is
  auto const c = noise<T>(m * c_row, 9);
  auto const want = reference(m, n, k, a, b, c, c_row, mode);

  std::vector<char> scratch(cpu::gemm_scratch_bytes<T>(m, n, k) + 8, char(0x7f));
  char* const odd = scratch.data() + 1;
  auto got = c;
  cpu::gemm_block<T>(m, n, k, a.view, b.view, got.data(), c_row, mode, odd);
  CHECK(same_bits(got, want));
  CHECK(scratch.back() == char(0x7f));

  std::vector<T> packed(cpu::packed_b_size<T>(k, n) + 1, T(77));
  cpu::pack_b<T>(k, n, b.view, packed.data());
  CHECK(packed.back() == T(77));
  got = c;
  cpu::gemm_packed<T>(m, n, k, a.view, packed.data(), got.data(), c_row, mode, odd);
  CHECK(same_bits(got, want));
}

}  // namespace

TEMPLATE_TEST_CASE("a product is the chain of fmas for any size and strides", "[gemm]", f32, f64) {
  using T = TestType;
  struct strides {
    char const* name;
    bool transposed;
    extent gap, spread;  // between rows beyond the row, and between the elements of a row
  };
  strides const layouts[] = {
      {"rows", false, 0, 1}, {"columns", true, 0, 1}, {"padded rows", false, 5, 1}, {"spread", true, 2, 3}};
  auto const make = [](extent m, extent n, strides s, unsigned seed) {
    extent const major = std::max<extent>(1, (s.transposed ? m : n) * s.spread + s.gap);
    return s.transposed ? product_side<T>(m, n, s.spread, major, seed) : product_side<T>(m, n, major, s.spread, seed);
  };
  extent const full = cpu::gemm_tile<T>::columns;
  struct size {
    extent m, n, k;
  };
  size const sizes[] = {{1, 1, 1}, {6, full, 16}, {7, full + 1, 3}, {13, 2 * full - 1, 33}, {31, 3 * full + 17, 40},
                        {2, 5, 0}, {0, 4, 4},     {40, 10, 17},     {29, full - 1, 21}};
  for (auto const la : layouts)
    for (auto const lb : layouts)
      for (auto const s : sizes)
        for (auto const mode : {product::assign, product::add}) {
          CAPTURE(la.name, lb.name, s.m, s.n, s.k);
          check(s.m, s.n, s.k, make(s.m, s.k, la, 1), make(s.k, s.n, lb, 2), mode);
        }
}

TEMPLATE_TEST_CASE("every number of rows and of columns up to two tiles", "[gemm]", f32, f64) {
  using T = TestType;
  extent const k = 5;
  for (extent m = 1; m <= 2 * cpu::gemm_tile<T>::rows + 1; ++m)
    for (extent n = 1; n <= cpu::gemm_tile<T>::columns + 2; n += m % 3 + 1)
      check(m, n, k, product_side<T>(m, k, k, 1, 3), product_side<T>(k, n, n, 1, 4), product::add);
}

TEMPLATE_TEST_CASE("blocks over k, rows and columns leave the chain as it is", "[gemm]", f32, f64) {
  using T = TestType;
  using tile = cpu::gemm_tile<T>;
  extent const k = tile::depth + 37;
  SECTION("k") { check(8, 70, k, product_side<T>(8, k, k, 1, 1), product_side<T>(k, 70, 1, k, 2), product::assign); }
  SECTION("k, A packed, B in place") {
    check(8, 70, k, product_side<T>(8, k, 1, 8, 1), product_side<T>(k, 70, 70, 1, 2), product::add);
  }
  SECTION("rows") {
    extent const m = tile::block_rows + 7;
    check(m, 20, k, product_side<T>(m, k, k, 1, 1), product_side<T>(k, 20, 20, 1, 2), product::assign);
    check(m, 20, 9, product_side<T>(m, 9, 1, m, 1), product_side<T>(9, 20, 20, 1, 2), product::assign);
  }
  SECTION("columns") {
    extent const n = 8 * tile::columns + 5;
    check(25, n, 3, product_side<T>(25, 3, 3, 1, 1), product_side<T>(3, n, n, 1, 2), product::add);
    check(25, n, 3, product_side<T>(25, 3, 3, 1, 1), product_side<T>(3, n, 1, 3, 2), product::assign);
  }
}

TEMPLATE_TEST_CASE("few rows by a right side whose columns lie together are the same chain", "[gemm]", f32, f64) {
  using T = TestType;
  for (extent rows : {1, 2, 3, 4})
    for (extent k : {1, 5, 15, 16, 17, 48, 100})
      for (extent n : {1, 3, 8, 15, 16, 33, 48}) {
        product_side<T> const a(rows, k, k + 2, 1, 3), b(k, n, 1, k + 1, 4);
        extent const c_row = n + 3;
        auto const before = noise<T>(rows * c_row, 9);
        auto c = before;
        cpu::detail::multiply_few_rows<T>(rows, k, n, a.view, b.view, c.data(), c_row);
        INFO(rows << " rows, " << k << " deep, " << n << " columns");
        REQUIRE(same_bits(c, reference(rows, n, k, a, b, before, c_row, product::assign)));
      }
}

TEST_CASE("the sum is right to rounding", "[gemm]") {
  extent const m = 37, n = 81, k = 1500;
  product_side<f32> const a(m, k, k, 1, 1), b(k, n, n, 1, 2);
  std::vector<f32> c(static_cast<std::size_t>(m * n));
  std::vector<char> scratch(cpu::gemm_scratch_bytes(m, n, k));
  cpu::gemm_block<f32>(m, n, k, a.view, b.view, c.data(), n, product::assign, scratch.data());
  for (extent i = 0; i < m; ++i)
    for (extent j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (extent p = 0; p < k; ++p) {
        double const term = static_cast<double>(a(i, p)) * static_cast<double>(b(p, j));
        sum += term;
        size += std::abs(term);
      }
      REQUIRE(std::abs(static_cast<double>(c[static_cast<std::size_t>(i * n + j)]) - sum) < 1e-5 * size);
    }
}

TEST_CASE("a row has the same bits alone and in any batch", "[gemm]") {
  extent const m = 300, n = 100, k = 700;
  product_side<f32> const a(m, k, k, 1, 1), b(k, n, n, 1, 2);
  std::vector<f32> packed(cpu::packed_b_size(k, n)), all(static_cast<std::size_t>(m * n)),
      one(static_cast<std::size_t>(n));
  std::vector<char> scratch(cpu::gemm_scratch_bytes(m, n, k));
  cpu::pack_b<f32>(k, n, b.view, packed.data());
  cpu::gemm_packed<f32>(m, n, k, a.view, packed.data(), all.data(), n, product::assign, scratch.data());
  for (extent i = 0; i < m; ++i) {
    cpu::matrix<f32> const row{a.view.data + i * k, k, 1};
    cpu::gemm_packed<f32>(1, n, k, row, packed.data(), one.data(), n, product::assign, scratch.data());
    REQUIRE(std::memcmp(one.data(), &all[static_cast<std::size_t>(i * n)], one.size() * sizeof(f32)) == 0);
    cpu::gemm_block<f32>(1, n, k, row, b.view, one.data(), n, product::assign, scratch.data());
    REQUIRE(std::memcmp(one.data(), &all[static_cast<std::size_t>(i * n)], one.size() * sizeof(f32)) == 0);
  }
}

TEMPLATE_TEST_CASE("operands and result may end where memory ends", "[gemm]", f32, f64) {
  using T = TestType;
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<std::pair<void*, std::size_t>> maps;
  auto const ending_at_a_hole = [&](extent n) {
    auto const bytes = (static_cast<std::size_t>(n) * sizeof(T) + page - 1) / page * page;
    auto* const p =
        static_cast<char*>(mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(p != MAP_FAILED);
    REQUIRE(mprotect(p + bytes, page, PROT_NONE) == 0);
    maps.emplace_back(p, bytes + page);
    return reinterpret_cast<T*>(p + bytes) - n;
  };
  for (extent const m : {1, 5, 6, 26})
    for (extent const n : {1, 15, 63, 64, 65})
      for (bool const transposed : {false, true}) {
        extent const k = 19;
        T* const a = ending_at_a_hole(m * k);
        T* const b = ending_at_a_hole(k * n);
        T* const c = ending_at_a_hole(m * n);
        std::fill_n(a, m * k, T(1));
        std::fill_n(b, k * n, T(2));
        std::vector<char> scratch(cpu::gemm_scratch_bytes<T>(m, n, k));
        cpu::gemm_block<T>(m, n, k, transposed ? cpu::matrix<T>{a, 1, m} : cpu::matrix<T>{a, k, 1},
                           transposed ? cpu::matrix<T>{b, 1, k} : cpu::matrix<T>{b, n, 1}, c, n, product::assign,
                           scratch.data());
        CHECK(std::all_of(c, c + m * n, [](T x) { return x == T(38); }));
      }
  for (auto const& [p, bytes] : maps) munmap(p, bytes);
}
