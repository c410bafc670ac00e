#include <tx/backends/cpu/gemm_kernel.hpp>

#include <catch2/catch.hpp>

#include <cstring>
#include <random>
#include <vector>

using namespace tx;
namespace cpu = tx::backends::cpu;
using cpu::extent;

namespace {

constexpr int width = cpu::lanes;

template <class H>
std::vector<H> halves(extent n, unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<H> v(static_cast<std::size_t>(n));
  for (H& x : v) x = H::from(static_cast<float>(random() % 2001) / 1000.f - 1.f);
  return v;
}

std::uint32_t bits_of(float x) {
  std::uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  return u;
}

}  // namespace

TEMPLATE_TEST_CASE("all halves widen in vectors as one by one", "[halves]", bf16, f16) {
  using H = TestType;
  for (int first = 0; first < 65536; first += width) {
    H in[width];
    for (int i = 0; i < width; ++i) in[i] = H{static_cast<std::uint16_t>(first + i)};
    float out[width];
    cpu::widen<H>(cpu::load_bits(in)).store(out);
    for (int i = 0; i < width; ++i)
      if (in[i].widen() == in[i].widen()) REQUIRE(bits_of(out[i]) == bits_of(in[i].widen()));
      else REQUIRE(out[i] != out[i]);
  }
}

TEMPLATE_TEST_CASE("numbers are rounded and stored in vectors as one by one", "[halves]", bf16, f16) {
  using H = TestType;
  std::mt19937 random(3);
  std::vector<float> in;
  for (int i = 0; i < 65536; ++i) {  // around every half and its ties
    float const x = H{static_cast<std::uint16_t>(i)}.widen();
    std::uint32_t const around = bits_of(x) + static_cast<std::uint32_t>(random() % 5) * 0x800u - 0x1000u;
    float y;
    std::memcpy(&y, &around, sizeof y);
    in.push_back(x);
    in.push_back(y);
  }
  for (std::size_t first = 0; first < in.size(); first += static_cast<std::size_t>(width)) {
    auto const x = cpu::simd<f32>::load(in.data() + first);
    float rounded[width];
    H stored[width];
    cpu::round_to<H>(x).store(rounded);
    cpu::store_rounded(stored, x);
    for (int i = 0; i < width; ++i) {
      H const want = H::from(in[first + static_cast<std::size_t>(i)]);
      REQUIRE(stored[i].bits == want.bits);
      if (want.widen() == want.widen()) REQUIRE(bits_of(rounded[i]) == bits_of(want.widen()));
      else REQUIRE(rounded[i] != rounded[i]);
    }
  }
}

TEMPLATE_TEST_CASE("products of halves are sums in f32, whatever the strides", "[halves][gemm]", bf16, f16) {
  using H = TestType;
  for (extent const m : {1, 7, 8, 21, 67})
    for (extent const n : {1, 15, 48, 70})
      for (extent const k : {1, 2, 17, 64, 701})
        for (int const how : {0, 1, 2, 3}) {
          auto const a = halves<H>(m * k + k, 1), b = halves<H>(k * n + n, 2);
          cpu::matrix<H> const x = how & 1 ? cpu::matrix<H>{a.data(), 1, m} : cpu::matrix<H>{a.data(), k, 1};
          cpu::matrix<H> const y = how & 2 ? cpu::matrix<H>{b.data(), 1, k} : cpu::matrix<H>{b.data(), n, 1};
          extent const c_row = n + 1;
          std::vector<f32> c(static_cast<std::size_t>(m * c_row), 0.5f);
          std::vector<char> scratch(cpu::gemm_scratch_bytes<H>(m, n, k), char(0x7f));  // halves that are NaN
          cpu::gemm_block<H>(m, n, k, x, y, c.data(), c_row, cpu::product::assign, scratch.data());
          bool good = true;
          for (extent i = 0; i < m; ++i) {
            for (extent j = 0; j < n; ++j) {
              double sum = 0, size = 0;
              for (extent p = 0; p < k; ++p) {
                double const term = double{x.data[i * x.row + p * x.column].widen()} * double{y.data[p * y.row + j * y.column].widen()};
                sum += term;
                size += std::abs(term);
              }
              good = good && std::abs(double{c[static_cast<std::size_t>(i * c_row + j)]} - sum) <= 1e-6 * size;
            }
            good = good && c[static_cast<std::size_t>(i * c_row + n)] == 0.5f;
          }
          CAPTURE(m, n, k, how);
          REQUIRE(good);
        }
}

TEMPLATE_TEST_CASE("products of halves larger than the blocks of a cache", "[halves][gemm]", bf16, f16) {
  using H = TestType;
  using tile = cpu::gemm_tile<H>;
  extent const m = tile::block_rows + 5, n = 50, k = 2 * (2 * tile::depth) + 37;
  auto const a = halves<H>(m * k, 1), b = halves<H>(k * n, 2);
  std::vector<f32> c(static_cast<std::size_t>(m * n), 0.5f);
  std::vector<char> scratch(cpu::gemm_scratch_bytes<H>(m, n, k), char(0x7f));
  cpu::matrix<H> const x{a.data(), 1, m}, y{b.data(), n, 1};
  cpu::gemm_block<H>(m, n, k, x, y, c.data(), n, cpu::product::assign, scratch.data());
  cpu::gemm_block<H>(m, n, k, x, y, c.data(), n, cpu::product::add, scratch.data());
  std::vector<double> left(a.size()), right(b.size());
  for (std::size_t i = 0; i < a.size(); ++i) left[i] = double{a[i].widen()};
  for (std::size_t i = 0; i < b.size(); ++i) right[i] = double{b[i].widen()};
  for (extent i = 0; i < m; i += 7)
    for (extent j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (extent p = 0; p < k; ++p) {
        double const term = left[static_cast<std::size_t>(p * m + i)] * right[static_cast<std::size_t>(p * n + j)];
        sum += term;
        size += std::abs(term);
      }
      REQUIRE(std::abs(double{c[static_cast<std::size_t>(i * n + j)]} - 2 * sum) <= 2e-6 * size);
    }
}

// Where the process may not use a matrix unit that the program was compiled for.
TEST_CASE("vector registers read what was packed for a matrix unit", "[halves][gemm]") {
  extent const m = 45, n = 70, k = 701, steps = cpu::steps_of<bf16>(k);
  auto const a = halves<bf16>(m * k, 1), b = halves<bf16>(k * n, 2);
  cpu::matrix<bf16> const x{a.data(), 1, m}, y{b.data(), n, 1};
  std::vector<cpu::unit_t<bf16>> left(static_cast<std::size_t>(cpu::packed_a_size<bf16>(m, k))), right(cpu::packed_b_size<bf16>(k, n));
  cpu::detail::pack_a(m, k, x, left.data());
  cpu::pack_b<bf16>(k, n, y, right.data());
  std::vector<f32> c(static_cast<std::size_t>(m * n)), whole(c.size());
  cpu::detail::multiply_by<bf16>(cpu::detail::vector_tiles<bf16>{}, m, n, steps, cpu::detail::packed_rows<bf16>(left.data(), steps),
                                 cpu::detail::right_packed<bf16>{right.data(), steps, n}, c.data(), n, false, cpu::gemm_tile<bf16>::depth);
  std::vector<char> scratch(cpu::gemm_scratch_bytes<bf16>(m, n, k));
  cpu::gemm_block<bf16>(m, n, k, x, y, whole.data(), n, cpu::product::assign, scratch.data());
  for (std::size_t i = 0; i < c.size(); ++i) REQUIRE(c[i] == Approx(whole[i]).margin(1e-4));
  REQUIRE(std::abs(c[5]) > 1e-3f);
}

TEST_CASE("a row of halves has the same bits alone and in any batch", "[halves][gemm]") {
  extent const m = 100, n = 90, k = 1400;
  auto const a = halves<bf16>(m * k, 1), b = halves<bf16>(k * n, 2);
  std::vector<f32> all(static_cast<std::size_t>(m * n)), one(static_cast<std::size_t>(n));
  std::vector<char> scratch(cpu::gemm_scratch_bytes<bf16>(m, n, k));
  cpu::gemm_block<bf16>(m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, all.data(), n, cpu::product::assign, scratch.data());
  for (extent i = 0; i < m; ++i) {
    cpu::gemm_block<bf16>(1, n, k, {a.data() + i * k, k, 1}, {b.data(), n, 1}, one.data(), n, cpu::product::assign, scratch.data());
    REQUIRE(std::memcmp(one.data(), &all[static_cast<std::size_t>(i * n)], one.size() * sizeof(f32)) == 0);
  }
}
