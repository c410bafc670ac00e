// E4M3: every number of it, how others are rounded to it, and powers of two that bring rows into its range.
#include <tx/backends/cpu/halves.hpp>
#include <tx/backends/cpu/vector_math.hpp>
#include <tx/backends/reference.hpp>
#include <tx/core/elements.hpp>
#include <tx/core/fitting_power.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace tx;
namespace cpu = tx::backends::cpu;

namespace {

constexpr int width = cpu::lanes;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

// What the code stands for, by the formulas of the format: 4 exponent bits with a bias of 7, 3 fraction bits.
double meaning(int code) {
  int const exponent = code >> 3 & 15, fraction = code & 7;
  double const magnitude = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}
bool is_nan(int code) { return (code & 0x7f) == 0x7f; }

// The nearest of all codes, of two that are as near the even one; NaN from where 480 would be nearest.
int nearest(double x) {
  int const sign = std::signbit(x) ? 0x80 : 0;
  double const magnitude = std::abs(x);
  if (!(magnitude <= 464)) return sign | 0x7f;
  int best = 0;
  for (int code = 1; code < 0x7f; ++code) {
    double const apart = std::abs(meaning(code) - magnitude), least = std::abs(meaning(best) - magnitude);
    if (apart < least || (apart == least && code % 2 == 0)) best = code;
  }
  return sign | best;
}

// Numbers at, between and beside the codes, and others of all sizes.
std::vector<float> numbers() {
  std::vector<float> all{0.f, -0.f, 448.f, 464.f, std::nextafter(464.f, 1000.f), 465.f, 480.f, 1e30f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::min(), 0x1p-10f,
                         std::nextafter(0x1p-10f, 1.f), std::nextafter(0x1p-10f, 0.f)};
  for (int code = 0; code < 0x7e; ++code) {
    auto const middle = static_cast<float>((meaning(code) + meaning(code + 1)) / 2);
    for (float x : {static_cast<float>(meaning(code)), middle, std::nextafter(middle, 1000.f), std::nextafter(middle, -1000.f)}) {
      all.push_back(x);
      all.push_back(-x);
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 40000; ++i) all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  std::uniform_real_distribution<float> exponent(-12, 10), sign(-1, 1);
  for (int i = 0; i < 40000; ++i) {
    float const size = std::exp2(exponent(random));
    all.push_back(sign(random) < 0 ? -size : size);
  }
  while (all.size() % static_cast<std::size_t>(width) != 0) all.push_back(1.f);
  return all;
}

}  // namespace

TEST_CASE("each code of E4M3 is the number of its format, and is rounded to itself", "[e4m3]") {
  for (int code = 0; code < 256; ++code) {
    e4m3 const x{static_cast<std::uint8_t>(code)};
    CAPTURE(code);
    if (is_nan(code)) {
      CHECK(std::isnan(x.widen()));
      CHECK((e4m3::from(x.widen()).bits & 0x7f) == 0x7f);
      continue;
    }
    CHECK(static_cast<double>(x.widen()) == meaning(code));
    CHECK(std::signbit(x.widen()) == ((code & 0x80) != 0));
    CHECK(e4m3::from(x.widen()).bits == code);
    CHECK(bf16::from(x.widen()).widen() == x.widen());  // halves hold all of them: what widened products rely on
  }
  static_assert(e4m3::from(448).bits == 0x7e && e4m3::from(1).bits == 0x38 && e4m3{0x01}.widen() == 0x1p-9f);
  static_assert(sizeof(e4m3) == 1 && size_of(dtype::e4m3) == 1 && is_float(dtype::e4m3) && !is_half(dtype::e4m3) && !is_integer(dtype::e4m3) && sum_type(dtype::e4m3) == dtype::f32);
}

TEST_CASE("numbers are rounded to the nearest of E4M3, ties to even, and beyond its range are NaN", "[e4m3]") {
  for (float const x : numbers()) {
    CAPTURE(x);
    int const got = e4m3::from(x).bits, want = std::isnan(x) ? 0x7f : nearest(x);
    if (std::isnan(x)) REQUIRE(is_nan(got));
    else REQUIRE(got == want);
if (!is_nan(got)) REQUIRE(rounded_to(dtype::e4m3, static_cast<double>(x)) == meaning(want));
  }
}

TEST_CASE("vectors widen and round E4M3 as one by one", "[e4m3]") {
  for (int first = 0; first < 256; first += width) {
    e4m3 in[width];
    for (int i = 0; i < width; ++i) in[i] = e4m3{static_cast<std::uint8_t>(first + i)};
    float out[width];
    cpu::widen<e4m3>(cpu::load_bits(in)).store(out);
    for (int i = 0; i < width; ++i) REQUIRE(bits_of(out[i]) == bits_of(in[i].widen()));
  }
  std::vector<float> const in = numbers();
  for (std::size_t first = 0; first < in.size(); first += static_cast<std::size_t>(width)) {
    auto const x = cpu::simd<f32>::load(in.data() + first);
    float rounded[width];
    e4m3 stored[width];
    cpu::round_to<e4m3>(x).store(rounded);
    cpu::store_rounded(stored, x);
    for (int i = 0; i < width; ++i) {
      e4m3 const want = e4m3::from(in[first + static_cast<std::size_t>(i)]);
      CAPTURE(in[first + static_cast<std::size_t>(i)]);
      REQUIRE(stored[i].bits == want.bits);
      REQUIRE(bits_of(rounded[i]) == bits_of(want.widen()));
    }
  }
}

TEST_CASE("the first element that is no number is found among E4M3", "[e4m3]") {
  std::vector<e4m3> all(5000, e4m3{0x7e});
  auto const* const at = reinterpret_cast<std::byte const*>(all.data());
  for (bool infinities : {false, true}) CHECK(first_not_finite(dtype::e4m3, at, 5000, infinities) == 5000);
  all[4711] = e4m3{0xff};
  for (bool infinities : {false, true}) CHECK(first_not_finite(dtype::e4m3, at, 5000, infinities) == 4711);
}

TEST_CASE("the power of two that brings numbers up to 448 is exact and the greatest, and has its reciprocal", "[e4m3]") {
  CHECK(math::fitting_power(0.f) == 1);
  CHECK(math::fitting_unit(0.f) == 1);
  CHECK(std::isnan(math::fitting_power(std::numeric_limits<float>::quiet_NaN())));
  CHECK(math::fitting_power(std::numeric_limits<float>::infinity()) == 0x1p-120f);
  CHECK(math::fitting_power(1e300) == 0x1p-120);
  CHECK(math::fitting_power(std::numeric_limits<float>::denorm_min()) == 0x1p126f);
  std::vector<float> const all = numbers();
  std::vector<float> powers(all.size()), units(all.size());
  for (std::size_t first = 0; first < all.size(); first += static_cast<std::size_t>(width)) {
    auto const x = cpu::simd<f32>::load(all.data() + first);
    fitting_power(x).store(powers.data() + first);
    fitting_unit(x).store(units.data() + first);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    float const x = all[i], power = math::fitting_power(x), unit = math::fitting_unit(x);
    CAPTURE(x, power, unit);
    if (std::isnan(x)) {
      REQUIRE((std::isnan(power) && std::isnan(unit) && std::isnan(powers[i]) && std::isnan(units[i])));
      continue;
    }
    REQUIRE(bits_of(powers[i]) == bits_of(power));
    REQUIRE(bits_of(units[i]) == bits_of(unit));
    REQUIRE(static_cast<float>(math::fitting_power(static_cast<double>(x))) == power);
    REQUIRE(power * unit == 1.f);
    REQUIRE((bits_of(power) & 0x7fffffu) == 0);
    if (x == 0 || std::isinf(x)) continue;
    double const fitted = std::abs(static_cast<double>(x)) * power;
    REQUIRE(fitted <= 448);
    REQUIRE((fitted > 224 || power == 0x1p126f));
    REQUIRE(static_cast<double>(x * power) == static_cast<double>(x) * power);  // nothing is lost
  }
}
