// Each instruction against C++'s own arithmetic.
#include "run_kernel.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

std::string letters_of(std::string const& type) {
  return type == "f32"            ? "%f"
         : type == "f64"          ? "%fd"
         : type.substr(1) == "64" ? "%rd1"
         : type.substr(1) == "16" ? "%h"
                                  : "%r1";
}

// The instruction for each pair of numbers: d = op(a, b), with types as PTX names them. %r10, %rd10 and so on hold a, b
// and d.
template <class D, class A>
std::vector<D> results(std::string const& op, std::string const& d_type, std::string const& a_type,
                       std::vector<A> const& a, std::vector<A> const& b) {
  ptx::device gpu;
  auto const count = a.size();
  std::byte* const out = gpu.memory.allocate(count * sizeof(D));
  std::string const x = letters_of(a_type), y = letters_of(d_type);
  std::string const text = " mul.wide.u32 %rd4, %r0, " + std::to_string(sizeof(A)) +
                           ";\n add.s64 %rd5, %rd0, %rd4;\n add.s64 %rd6, %rd1, %rd4;\n ld.global." + a_type + " " + x +
                           "1, [%rd5];\n ld.global." + a_type + " " + x + "2, [%rd6];\n " + op + " " + y + "3, " + x +
                           "1, " + x + "2;\n mul.wide.u32 %rd7, %r0, " + std::to_string(sizeof(D)) +
                           ";\n add.s64 %rd8, %rd2, %rd7;\n st.global." + d_type + " [%rd8], " + y + "3;";
  run_text(gpu, kernel_text(text), {1, static_cast<unsigned>(count), 0, -1},
           {on_device(gpu, a), on_device(gpu, b), out});
  return from_device<D>(out, count);
}
template <class T>
std::vector<T> results(std::string const& op, std::string const& type, std::vector<T> const& a,
                       std::vector<T> const& b) {
  return results<T>(op, type, type, a, b);
}

template <class T>
struct pairs {
  std::vector<T> a, b;
};
template <class T>
pairs<T> corner_cases() {
  T const values[] = {T(0),
                      T(1),
                      T(2),
                      T(7),
                      T(100),
                      static_cast<T>(-1),
                      static_cast<T>(-3),
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::min(),
                      static_cast<T>(std::numeric_limits<T>::max() / 3)};
  pairs<T> p;
  for (T const x : values)
    for (T const y : values) {
      p.a.push_back(x);
      p.b.push_back(y);
    }
  return p;
}

template <class T, class F>
void check_all(std::string const& op, std::string const& type, F f, pairs<T> p = corner_cases<T>()) {
  INFO(op);
  auto const got = results(op, type, p.a, p.b);
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO(+p.a[i] << ", " << +p.b[i]);
    T const wanted = f(p.a[i], p.b[i]);
    CHECK(((got[i] == wanted) || (got[i] != got[i] && wanted != wanted)));
  }
}

pairs<float> float_cases() {
  float const values[] = {0.0f,
                          -0.0f,
                          1.0f,
                          -1.5f,
                          3.1415927f,
                          1e-3f,
                          -7e5f,
                          1.0000001f,
                          std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  pairs<float> p;
  for (float const x : values)
    for (float const y : values) {
      p.a.push_back(x);
      p.b.push_back(y);
    }
  return p;
}

}  // namespace

TEST_CASE("integers of PTX", "[ptx]") {
  check_all<std::int32_t>("add.s32", "s32", [](auto a, auto b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  });
  check_all<std::int64_t>("sub.s64", "s64", [](auto a, auto b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  });
  check_all<std::uint32_t>("mul.lo.u32", "u32", [](auto a, auto b) { return a * b; });
  check_all<std::uint32_t>("mul.hi.u32", "u32",
                           [](auto a, auto b) { return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32); });
  check_all<std::int32_t>("mul.hi.s32", "s32",
                          [](auto a, auto b) { return static_cast<std::int32_t>(std::int64_t{a} * b >> 32); });
  check_all<std::int32_t>("min.s32", "s32", [](auto a, auto b) { return std::min(a, b); });
  check_all<std::uint64_t>("max.u64", "u64", [](auto a, auto b) { return std::max(a, b); });
  check_all<std::int32_t>("div.s32", "s32", [](auto a, auto b) {
    return b == 0 ? -1 : b == -1 ? static_cast<std::int32_t>(0u - static_cast<std::uint32_t>(a)) : a / b;
  });
  check_all<std::int32_t>("rem.s32", "s32", [](auto a, auto b) { return b == 0 ? a : b == -1 ? 0 : a % b; });
  check_all<std::uint32_t>("xor.b32", "u32", [](auto a, auto b) { return a ^ b; });
  check_all<std::uint16_t>("add.s16", "u16", [](auto a, auto b) { return static_cast<std::uint16_t>(a + b); });
  auto const p = corner_cases<std::int32_t>();
  auto const wide = results<std::int64_t>("mul.wide.s32", "s64", "s32", p.a, p.b);
  for (std::size_t i = 0; i < wide.size(); ++i) CHECK(wide[i] == std::int64_t{p.a[i]} * p.b[i]);
}

TEST_CASE("shifts of PTX", "[ptx]") {
  pairs<std::int32_t> p;
  for (std::int32_t const x : {1, -1, 0x12345678, std::numeric_limits<std::int32_t>::min()})
    for (std::int32_t const by : {0, 1, 8, 31, 32, 33, 255}) {
      p.a.push_back(x);
      p.b.push_back(by);
    }
  check_all<std::int32_t>(
      "shl.b32", "s32",
      [](auto a, auto b) { return b > 31 ? 0 : static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << b); }, p);
  check_all<std::int32_t>(
      "shr.s32", "s32", [](auto a, auto b) { return b > 31 ? (a < 0 ? -1 : 0) : a >> b; }, p);
  check_all<std::int32_t>(
      "shr.u32", "s32",
      [](auto a, auto b) { return b > 31 ? 0 : static_cast<std::int32_t>(static_cast<std::uint32_t>(a) >> b); }, p);
}

TEST_CASE("floats of PTX", "[ptx]") {
  check_all<float>(
      "add.rn.f32", "f32", [](float a, float b) { return a + b; }, float_cases());
  check_all<float>(
      "mul.rn.f32", "f32", [](float a, float b) { return a * b; }, float_cases());
  check_all<float>(
      "div.rn.f32", "f32", [](float a, float b) { return a / b; }, float_cases());
  check_all<float>(
      "max.f32", "f32", [](float a, float b) { return std::fmax(a, b); }, float_cases());
  check_all<float>(
      "min.NaN.f32", "f32", [](float a, float b) { return a != a   ? a
                                                          : b != b ? b
                                                                   : std::fmin(a, b); }, float_cases());
  check_all<float>(
      "copysign.f32", "f32", [](float a, float b) { return std::copysign(b, a); }, float_cases());
  // To minus infinity: never above the exact sum, never further from it than a step.
  check_all<float>("add.rm.f32", "f32",
                   [](float a, float b) {
                     float const near = a + b;
                     return static_cast<double>(near) > static_cast<double>(a) + static_cast<double>(b)
                                ? std::nextafterf(near, -std::numeric_limits<float>::infinity())
                                : near;
                   },
                   {{1.0f, 1e8f, -1.0f, 3.0f}, {1e-9f, 1.0f, 1e-9f, 0.1f}});
}

TEST_CASE("conversions of PTX", "[ptx]") {
  std::vector<float> const x{0.5f,   1.5f, -2.5f, 2.7f, -2.7f, 1e20f, -1e20f, std::numeric_limits<float>::quiet_NaN(),
                             300.0f, -1.0f};
  auto const converted = [&](std::string const& op) {
    ptx::device gpu;
    std::byte* const out = gpu.memory.allocate(x.size() * 4);
    run_text(gpu,
             kernel_text(" mul.wide.u32 %rd4, %r0, 4;\n add.s64 %rd5, %rd0, %rd4;\n ld.global.f32 %f1, [%rd5];\n " +
                         op + ";\n add.s64 %rd6, %rd1, %rd4;\n st.global.b32 [%rd6], %r3;"),
             {1, static_cast<unsigned>(x.size()), 0, -1}, {on_device(gpu, x), out});
    return from_device<std::int32_t>(out, x.size());
  };
  constexpr auto most = std::numeric_limits<std::int32_t>::max(), least = std::numeric_limits<std::int32_t>::min();
  CHECK(converted("cvt.rzi.s32.f32 %r3, %f1") == std::vector<std::int32_t>{0, 1, -2, 2, -2, most, least, 0, 300, -1});
  CHECK(converted("cvt.rni.s32.f32 %r3, %f1") == std::vector<std::int32_t>{0, 2, -2, 3, -3, most, least, 0, 300, -1});
  CHECK(converted("cvt.rmi.s32.f32 %r3, %f1") == std::vector<std::int32_t>{0, 1, -3, 2, -3, most, least, 0, 300, -1});
  CHECK(converted("cvt.rzi.u32.f32 %r3, %f1") == std::vector<std::int32_t>{0, 1, 0, 2, 0, -1, 0, 0, 300, 0});

  // NaN to 64 bits, or from 64, is the least number.
  CHECK(converted("cvt.rzi.s64.f32 %rd9, %f1;\n shr.u64 %rd9, %rd9, 32;\n cvt.u32.u64 %r3, %rd9")[7] ==
        std::numeric_limits<std::int32_t>::min());
  CHECK(converted("cvt.rz.f32.u32 %f2, 0xFFFFFFFF;\n mov.b32 %r3, %f2")[0] == 0x4f7fffff);
  CHECK(converted("cvt.rn.f32.u32 %f2, 0xFFFFFFFF;\n mov.b32 %r3, %f2")[0] == 0x4f800000);
  // 1.125 * 1.8125 is half way between two halves of bf16; what is added decides.
  CHECK(converted("mov.b16 %h1, 0x3F90;\n mov.b16 %h2, 0x3FE8;\n mov.b16 %h3, 0x3080;\n fma.rn.bf16 %h4, %h1, %h2, "
                  "%h3;\n cvt.u32.u16 %r3, %h4")[0] == 0x4003);

  auto const halves = converted("cvt.rn.bf16x2.f32 %r3, %f1, 0f3F800000");  // the first one is the higher half
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto const bits = std::bit_cast<std::uint32_t>(halves[i]);
    CHECK((bits & 0xffff) == 0x3f80);
    float const back = std::bit_cast<float>(bits & 0xffff0000u);
    if (x[i] == x[i])
      CHECK(std::abs(back - x[i]) <= std::abs(x[i]) / 256);
    else
      CHECK(back != back);
  }
  CHECK(converted("cvt.rn.f16.f32 %h1, %f1;\n cvt.u32.u16 %r3, %h1")[1] == 0x3e00);
  CHECK(converted("mov.b16 %h1, 0x3E00;\n cvt.f32.f16 %f2, %h1;\n mov.b32 %r3, %f2")[0] ==
        std::bit_cast<std::int32_t>(1.5f));
  CHECK(converted("mov.b32 {%h1, %h2}, 0x40003E00;\n mov.b32 %r3, {%h2, %h1}")[0] == 0x3e004000);
}

TEST_CASE("bits of PTX", "[ptx]") {
  auto const one = [](std::string const& op, std::uint32_t a, std::uint32_t b) {
    ptx::device gpu;
    std::byte* const out = gpu.memory.allocate(4);
    run_text(gpu,
             kernel_text(" mov.u32 %r1, " + std::to_string(a) + ";\n mov.u32 %r2, " + std::to_string(b) + ";\n " + op +
                         ";\n st.global.u32 [%rd0], %r3;"),
             {1, 1, 0, -1}, {out});
    return from_device<std::uint32_t>(out, 1)[0];
  };
  CHECK(one("prmt.b32 %r3, %r1, %r2, 0x5410", 0x33221100, 0x77665544) == 0x55441100);
  CHECK(one("prmt.b32 %r3, %r1, %r2, 0xF", 0x33221100, 0x87665544) == 0x000000ff);
  CHECK(one("lop3.b32 %r3, %r1, %r2, 15, 0x80", 0xff, 0x3c) == (0xffu & 0x3c & 15));
  CHECK(one("lop3.b32 %r3, %r1, %r2, 15, 0x96", 0xff, 0x3c) == (0xffu ^ 0x3c ^ 15));
  CHECK(one("shf.l.wrap.b32 %r3, %r1, %r2, 8", 0x11223344, 0xaabbccdd) == 0xbbccdd11);
  CHECK(one("shf.r.clamp.b32 %r3, %r1, %r2, 32", 0x11223344, 0xaabbccdd) == 0xaabbccdd);
  CHECK(one("bfe.u32 %r3, %r1, 8, 8", 0x11f23344, 0) == 0x33);
  CHECK(one("bfe.s32 %r3, %r1, 16, 8", 0x11f23344, 0) == 0xfffffff2);
  CHECK(one("bfi.b32 %r3, %r1, %r2, 4, 8", 0xab, 0xffffffff) == 0xfffffabf);
  CHECK(one("popc.b32 %r3, %r1", 0xf0f1, 0) == 9);
  CHECK(one("clz.b32 %r3, %r1", 0x00010000, 0) == 15);
  CHECK(one("brev.b32 %r3, %r1", 1, 0) == 0x80000000);
  CHECK(one("mad.lo.s32 %r3, %r1, %r2, 5", 7, 6) == 47);
  CHECK(one("setp.lt.s32 %p1, %r1, %r2;\n selp.b32 %r3, 1, 2, %p1", 0xffffffff, 0) == 1);
  CHECK(one("setp.lo.u32 %p1, %r1, %r2;\n selp.b32 %r3, 1, 2, %p1", 0xffffffff, 0) == 2);
  CHECK(one("setp.eq.u32 %p2, %r2, 0;\n setp.gt.and.u32 %p1|%p3, %r1, 5, %p2;\n selp.b32 %r3, 1, 2, %p1", 9, 0) == 1);
  CHECK(one("setp.nan.f32 %p1, 0f7FC00000, 0f00000000;\n selp.b32 %r3, 1, 2, %p1", 0, 0) == 1);
  CHECK(one("setp.neu.f32 %p1, 0f7FC00000, 0f00000000;\n selp.b32 %r3, 1, 2, %p1", 0, 0) == 1);
  CHECK(one("setp.ne.f32 %p1, 0f7FC00000, 0f00000000;\n selp.b32 %r3, 1, 2, %p1", 0, 0) == 2);
}

TEST_CASE(
    "every half comes back from its float, and what lies between two goes to the nearer one, of two to the even one",
    "[ptx]") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {  // up to the greatest; the sign is a bit apart
    auto const low = ptx::half_value(static_cast<std::uint16_t>(bits));
    wrong += ptx::half_bits(low) != bits;
    wrong += ptx::half_bits(-low) != (bits | 0x8000);
    double const high =
        bits == 0x7bff ? 65536.0 : static_cast<double>(ptx::half_value(static_cast<std::uint16_t>(bits + 1)));
    double const middle = (static_cast<double>(low) + high) / 2;
    wrong += ptx::half(middle).bits != (bits % 2 == 0 ? bits : bits + 1);
    wrong += ptx::half(middle * (1 - 1e-14)).bits != bits;
    wrong += ptx::half(middle * (1 + 1e-14)).bits != bits + 1;
  }
  CHECK(wrong == 0);
  CHECK(ptx::half_value(0x3c00) == 1);
  CHECK(ptx::half_value(0x0001) == 0x1p-24f);
  CHECK(ptx::half_bits(1e9f) == 0x7c00);
  CHECK(std::isnan(ptx::half_value(ptx::half_bits(std::numeric_limits<float>::quiet_NaN()))));
}
