#include <tx/backends/cpu/vector_math.hpp>
#include <tx/core/math.hpp>
#include <tx/ops/softplus.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace tx;
namespace cpu = tx::backends::cpu;
using cpu::lanes;
using V = cpu::simd<f32>;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// Floats as integers in their order, so that neighbours differ by 1 and -0 is 0.
std::int64_t ordinal(float x) {
  auto const i = std::bit_cast<i32>(x);
  return i < 0 ? -std::int64_t{i & 0x7fffffff} : std::int64_t{i};
}
std::int64_t distance(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : std::int64_t{1} << 40;
  return std::abs(ordinal(a) - ordinal(b));
}

// Every exponent and sign with random significands and the extreme ones, and what breaks functions.
std::vector<float> arguments() {
  std::mt19937 random(1);
  std::vector<float> x{0.f,  -0.f,  1.f,     -1.f,     inf,     -inf,    not_a_number, 0.5f,     88.72284f, 88.7229f,
                       89.f, -87.f, -87.34f, -103.97f, -103.98f, -104.f, 1e-8f,        0x1p-24f, 0.625f,    9.02f,
                       3.9f, 3.92f, 4.f,     0x1p20f,  0x1p22f, 1e9f,    -17.33f,      0.6931472f};
  for (std::uint32_t top = 0; top < 512; ++top) {
    for (std::uint32_t low : {0u, 1u, 0x3504f2u, 0x3504f3u, 0x3504f4u, 0x7fffffu})
      x.push_back(std::bit_cast<float>(top << 23 | low));
    // Ordinary magnitudes, where the results vary, get more.
    int const n = (top & 255) > 95 && (top & 255) < 140 ? 4000 : 64;
    for (int i = 0; i < n; ++i)
      x.push_back(std::bit_cast<float>(top << 23 | (static_cast<std::uint32_t>(random()) & 0x7fffffu)));
  }
  for (float limit : {1.f, 0.625f, 0.34657359f, 1.5707964f, 3.1415927f, 6.2831855f, 0.70710677f, 88.72284f}) {
    auto const bits = std::bit_cast<std::uint32_t>(limit);
    for (std::uint32_t i = 0; i < 200; ++i)
      for (std::uint32_t sign : {0u, 0x80000000u}) x.push_back(std::bit_cast<float>((bits + i - 100) | sign));
  }
  while (x.size() % lanes != 0) x.push_back(1.f);
  return x;
}

struct outcome {
  std::int64_t worst = 0;
  float at = 0;
  bool signs_agree = true;
};

template <class F, class Reference>
outcome sweep(F f, Reference reference, std::vector<float> const& x) {
  outcome o;
  for (std::size_t i = 0; i < x.size(); i += lanes) {
    auto const y = f(V::load(&x[i]));
    for (int k = 0; k < lanes; ++k) {
      float const at = x[i + static_cast<std::size_t>(k)];
      auto const want = static_cast<float>(reference(static_cast<double>(at)));
      auto const d = distance(y[k], want);
      if (d > o.worst) {
        o.worst = d;
        o.at = at;
      }
      if (want == 0 && std::signbit(want) != std::signbit(y[k])) o.signs_agree = false;
    }
  }
  return o;
}

template <class F, class Reference>
void within(std::int64_t ulp, F f, Reference reference) {
  static auto const x = arguments();
  auto const o = sweep(f, reference, x);
  CAPTURE(o.at, f(V(o.at))[0], reference(static_cast<double>(o.at)));
  CHECK(o.worst <= ulp);
  CHECK(o.signs_agree);
}

double sigmoid_reference(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE("vector functions are within their ulp of the correctly rounded result", "[vector_math]") {
  SECTION("exp") { within(1, [](V x) { return exp(x); }, [](double x) { return std::exp(x); }); }
  SECTION("expm1") { within(2, [](V x) { return expm1(x); }, [](double x) { return std::expm1(x); }); }
  SECTION("log") { within(1, [](V x) { return log(x); }, [](double x) { return std::log(x); }); }
  SECTION("log1p") { within(2, [](V x) { return log1p(x); }, [](double x) { return std::log1p(x); }); }
  SECTION("tanh") { within(2, [](V x) { return tanh(x); }, [](double x) { return std::tanh(x); }); }
  SECTION("erf") { within(2, [](V x) { return erf(x); }, [](double x) { return std::erf(x); }); }
  SECTION("sigmoid") { within(2, [](V x) { return sigmoid(x); }, sigmoid_reference); }
  SECTION("rsqrt") { within(1, [](V x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }); }
  SECTION("sin") { within(1, [](V x) { return sin(x); }, [](double x) { return std::sin(x); }); }
  SECTION("softplus") {
    within(3, [](V x) { return rules::softplus::apply(x); },
           [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); });
  }
  SECTION("cos") { within(1, [](V x) { return cos(x); }, [](double x) { return std::cos(x); }); }
}

#if defined(NDEBUG)
constexpr std::size_t every = 1;
#else
constexpr std::size_t every = 5;  // minutes where nothing is optimized
#endif
TEST_CASE("pow is within 1 ulp for any pair, as std::pow where it is special", "[vector_math]") {
  std::vector<float> const chosen{
      0.f,   -0.f,       1.f,  -1.f,  inf,   -inf,   not_a_number, 0.5f,           2.f,
      -2.f,  3.f,        -3.f, 1.1f,  0.9f,  1e10f,  1e-10f,       -37.7f,         1e-40f,
      1e38f, 16777215.f, 1e9f, -1e9f, -0.5f, 0.333f, 4e6f + 0.5f,  0x1.fffffep-1f, 0x1.000002p+0f};
  for (std::size_t k = 0; k < chosen.size(); k += every) {
    float const c = chosen[k];
    CAPTURE(c);
    within(1, [c](V x) { return pow(x, c); }, [c](double x) { return std::pow(x, static_cast<double>(c)); });
    within(1, [c](V x) { return pow(V(c), x); }, [c](double x) { return std::pow(static_cast<double>(c), x); });
  }
}

TEST_CASE("a width gives the same bits as any other", "[vector_math]") {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    auto const x = static_cast<float>(random()) * 0x1p-29f - 4.f;
    CHECK(exp(V(x))[0] == exp(cpu::simd<f32, 4>(x))[0]);
    CHECK(tanh(V(x))[0] == tanh(cpu::simd<f32, 4>(x))[0]);
    CHECK(erf(V(x))[0] == erf(cpu::simd<f32, 2 * lanes>(x))[0]);
    CHECK(sin(V(x))[0] == sin(cpu::simd<f32, 4>(x))[0]);
  }
}

TEST_CASE("the f64 forms are std:: lane by lane", "[vector_math]") {
  cpu::simd<f64> x;
  volatile double step = 0.1;  // or the compiler folds one side, with its own rounding
  for (int i = 0; i < lanes; ++i) x.set(i, step * (i + 1));
  for (int i = 0; i < lanes; ++i) {
    CHECK(exp(x)[i] == std::exp(x[i]));
    CHECK(expm1(x)[i] == std::expm1(x[i]));
    CHECK(log(x)[i] == std::log(x[i]));
    CHECK(log1p(x)[i] == std::log1p(x[i]));
    CHECK(tanh(x)[i] == std::tanh(x[i]));
    CHECK(erf(x)[i] == std::erf(x[i]));
    CHECK(sin(x)[i] == std::sin(x[i]));
    CHECK(cos(x)[i] == std::cos(x[i]));
    CHECK(pow(x, 1.5)[i] == std::pow(x[i], 1.5));
    CHECK(sigmoid(x)[i] == Approx(sigmoid_reference(x[i])).epsilon(1e-15));
    CHECK(rsqrt(x)[i] == 1 / std::sqrt(x[i]));
  }
}

// ---- scalars
// ---------------------------------------------------------------------------------------------------------

namespace {

// One body for scalars, vectors and constants.
template <class T>
constexpr T rule(T x) {
  // One by one: some libraries have exp(float) and others outside namespaces too.
  using tx::math::abs, tx::math::exp, tx::math::floor, tx::math::fma, tx::math::max, tx::math::select, tx::math::sigmoid, tx::math::sqrt, tx::math::tanh;
  return select(x > 0.5f, exp(x) * tanh(x) + sqrt(abs(x)), sigmoid(max(x, -3.f)) - floor(fma(x, x, x)));
}

constexpr bool near(double a, double b) { return a == b || math::abs(a - b) <= 1e-15 * math::abs(b); }

static_assert(near(math::exp(1.0), 2.718281828459045235));
static_assert(near(math::log(10.0), 2.302585092994045684));
static_assert(near(math::sqrt(2.0), 1.414213562373095049));
static_assert(near(math::tanh(0.5), 0.462117157260009758));
static_assert(near(math::erf(0.5), 0.520499877813046538));
static_assert(near(math::sin(1.0), 0.841470984807896507));
static_assert(near(math::cos(1.0), 0.540302305868139717));
static_assert(near(math::pow(10.0, 0.3), 1.995262314968879601));
static_assert(near(math::pow(-2.0, 3.0), -8.0));
static_assert(near(math::log1p(1e-10), 9.9999999995e-11));
static_assert(near(math::expm1(1e-10), 1.00000000005e-10));
static_assert(math::exp(1.0f) == 2.71828183f);
static_assert(math::floor(-1.5) == -2.0 && math::floor(1e300) == 1e300);
static_assert(rule(1.0f) > 3.0f);

template <class F, class Reference>
double worst_relative(F f, Reference reference, double lo, double hi) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    double const shrink = i % 2 ? unit(random) * unit(random) * unit(random) : 1;  // half of them towards lo
    double const x = lo + (hi - lo) * unit(random) * shrink;
    auto const want = reference(static_cast<long double>(x));
    auto const e = static_cast<double>(want == 0 ? std::abs(f(x)) : std::abs((f(x) - want) / want));
    worst = std::isnan(e) ? inf : std::max(worst, e);
  }
  return worst;
}

}  // namespace

TEST_CASE("the constant functions are within 1e-15, wherever they are evaluated", "[math]") {
  namespace c = math::constant;
  using L = long double;
  CHECK(worst_relative([](double x) { return c::exp(x); }, [](L x) { return std::exp(x); }, -700, 700) < 1e-15);
  CHECK(worst_relative([](double x) { return c::exp(x); }, [](L x) { return std::exp(x); }, 0, 2) < 1e-15);
  CHECK(worst_relative([](double x) { return c::expm1(x); }, [](L x) { return std::expm1(x); }, 0, 30) < 1e-15);
  CHECK(worst_relative([](double x) { return c::expm1(x); }, [](L x) { return std::expm1(x); }, 0, -30) < 1e-15);
  CHECK(worst_relative([](double x) { return c::log(x); }, [](L x) { return std::log(x); }, 0, 1e5) < 1e-15);
  CHECK(worst_relative([](double x) { return c::log(x); }, [](L x) { return std::log(x); }, 1, 0.3) < 1e-15);
  CHECK(worst_relative([](double x) { return c::log1p(x); }, [](L x) { return std::log1p(x); }, 0, 100) < 1e-15);
  CHECK(worst_relative([](double x) { return c::log1p(x); }, [](L x) { return std::log1p(x); }, 0, -1) < 1e-15);
  CHECK(worst_relative([](double x) { return c::sqrt(x); }, [](L x) { return std::sqrt(x); }, 0, 1e9) < 1e-15);
  CHECK(worst_relative([](double x) { return c::tanh(x); }, [](L x) { return std::tanh(x); }, 0, 25) < 1e-15);
  CHECK(worst_relative([](double x) { return c::erf(x); }, [](L x) { return std::erf(x); }, 0, -7) < 1e-15);
  CHECK(worst_relative([](double x) { return c::sin(x); }, [](L x) { return std::sin(x); }, 0, 1e6) < 1e-15);
  CHECK(worst_relative([](double x) { return c::cos(x); }, [](L x) { return std::cos(x); }, 0, -1e6) < 1e-15);
  for (double const y : {0.3, -1.7, 2., 30., -100., 1000.})
    CHECK(worst_relative([y](double x) { return c::pow(x, y); }, [y](L x) { return std::pow(x, static_cast<L>(y)); },
                         0.6, 1.7) < 1e-15);
  for (double const x : {0., -0., 1., -1., 2., -2.5, 1e300, 1e-320, double{inf}, -double{inf}, double{not_a_number}}) {
    CAPTURE(x);
    auto const same = [](double a, double b) {
      return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)) ||
             (b != 0 && near(a, b));
    };
    CHECK(same(c::exp(x), std::exp(x)));
    CHECK(same(c::expm1(x), std::expm1(x)));
    CHECK(same(c::log(x), std::log(x)));
    CHECK(same(c::log1p(x), std::log1p(x)));
    CHECK(same(c::sqrt(x), std::sqrt(x)));
    CHECK(same(c::tanh(x), std::tanh(x)));
    CHECK(same(c::erf(x), std::erf(x)));
    CHECK(same(c::floor(x), std::floor(x)));
    for (double const y : {0., -0., 1., -1., 3., 0.5, -0.5, double{inf}, -double{inf}, double{not_a_number}})
      CHECK(same(c::pow(x, y), std::pow(x, y)));
  }
}

TEST_CASE("a rule runs on floats, doubles and vectors", "[math]") {
  for (float const x : {-4.f, -1.f, 0.f, 0.25f, 0.75f, 2.f}) {
    CHECK(rule(V(x))[0] == Approx(rule(x)).epsilon(1e-6));
    CHECK(rule(static_cast<double>(x)) == Approx(static_cast<double>(rule(x))).epsilon(1e-6));
  }
}
