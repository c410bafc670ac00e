#include <tx/backends/cpu/simd.hpp>

#include <catch2/catch.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace tx;
namespace cpu = tx::backends::cpu;
using cpu::lanes;
using cpu::simd;

namespace {

template <class T>
std::vector<T> some_values(int n, int seed = 0) {
  std::vector<T> v;
  for (int i = 0; i < n; ++i) v.push_back(static_cast<T>((i * 37 + seed * 11) % 23 - 9) / static_cast<T>(2));
  return v;
}

template <class T, int W>
std::vector<T> values_of(simd<T, W> x) {
  std::vector<T> v;
  for (int i = 0; i < W; ++i) v.push_back(x[i]);
  return v;
}

// n values of T that end where the readable memory ends.
template <class T>
class page_end {
 public:
  explicit page_end(int n) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = static_cast<char*>(mmap(nullptr, 3 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + 2 * page_, page_, PROT_NONE) == 0);
    data_ = reinterpret_cast<T*>(base_ + 2 * page_) - n;
  }
  ~page_end() { munmap(base_, 3 * page_); }
  page_end(page_end const&) = delete;
  page_end& operator=(page_end const&) = delete;
  T* data() { return data_; }

 private:
  std::size_t page_;
  char* base_;
  T* data_;
};

}  // namespace

TEMPLATE_TEST_CASE("arithmetic works lane by lane", "[simd]", f32, f64, i32, i64) {
  using V = simd<TestType>;
  auto const a = some_values<TestType>(V::size), b = some_values<TestType>(V::size, 1);
  auto const va = V::load(a.data()), vb = V::load(b.data());
  auto const c = select(vb == V(0), V(1), vb);
  for (int i = 0; i < V::size; ++i) {
    auto const k = static_cast<std::size_t>(i);
    CHECK((va + vb)[i] == a[k] + b[k]);
    CHECK((va - vb)[i] == a[k] - b[k]);
    CHECK((va * vb)[i] == a[k] * b[k]);
    CHECK((va / c)[i] == a[k] / (b[k] == 0 ? TestType(1) : b[k]));
    CHECK((-va)[i] == -a[k]);
    CHECK(abs(va)[i] == std::abs(a[k]));
    CHECK(min(va, vb)[i] == std::min(a[k], b[k]));
    CHECK(max(va, vb)[i] == std::max(a[k], b[k]));
    CHECK(fma(va, vb, va)[i] == a[k] * b[k] + a[k]);
    CHECK((TestType(2) * va + TestType(1))[i] == 2 * a[k] + 1);
    CHECK((va < vb)[i] == (a[k] < b[k]));
    CHECK((va <= vb)[i] == (a[k] <= b[k]));
    CHECK((va > vb)[i] == (a[k] > b[k]));
    CHECK((va >= vb)[i] == (a[k] >= b[k]));
    CHECK((va == vb)[i] == (a[k] == b[k]));
    CHECK((va != vb)[i] == (a[k] != b[k]));
    CHECK((va < vb && va > TestType(0))[i] == (a[k] < b[k] && a[k] > 0));
    CHECK((va < vb || va > TestType(0))[i] == (a[k] < b[k] || a[k] > 0));
    CHECK((!(va < vb))[i] == !(a[k] < b[k]));
    CHECK(select(va < vb, va, TestType(7))[i] == (a[k] < b[k] ? a[k] : TestType(7)));
    CHECK(floor(va)[i] == static_cast<TestType>(std::floor(a[k])));
  }
}

TEMPLATE_TEST_CASE("constants are rounded to the type of a rule's values", "[simd]", f32, f64) {
  using V = simd<TestType>;
  V const x = V(1) + V(0.05) * V(0.1f);
  for (int i = 0; i < V::size; ++i) CHECK(x[i] == TestType(1) + TestType(0.05) * TestType(0.1f));
}

TEMPLATE_TEST_CASE("sqrt and floor are exact, signs and NaN included", "[simd]", f32, f64) {
  using V = simd<TestType>;
  constexpr auto inf = std::numeric_limits<TestType>::infinity();
  std::vector<TestType> x{0,
                          -TestType(0),
                          1,
                          2,
                          TestType(0.5),
                          TestType(-0.5),
                          TestType(-1.5),
                          TestType(2.5),
                          TestType(1e7),
                          TestType(8388607.5),
                          TestType(-8388607.5),
                          TestType(8388609),
                          TestType(3e9),
                          TestType(-3e9),
                          TestType(1e30),
                          inf,
                          -inf,
                          std::numeric_limits<TestType>::denorm_min(),
                          -std::numeric_limits<TestType>::denorm_min(),
                          TestType(0.99999994)};
  for (auto const v : x) {
    auto const f = floor(V(v))[0], r = sqrt(V(v))[0];
    CHECK(f == std::floor(v));
    CHECK(std::signbit(f) == std::signbit(std::floor(v)));
    if (v >= 0) CHECK(r == std::sqrt(v));
    else CHECK(std::isnan(r));
    CHECK(std::signbit(V(v)[V::size - 1]) == std::signbit(v));
    CHECK(std::signbit((-V(v))[0]) == !std::signbit(v));
  }
  CHECK(std::isnan(floor(V(std::numeric_limits<TestType>::quiet_NaN()))[0]));
}

TEMPLATE_TEST_CASE("min and max return their first argument where there is a NaN", "[simd]", f32, f64) {
  using V = simd<TestType>;
  V const nan = std::numeric_limits<TestType>::quiet_NaN(), one = 1;
  CHECK(all(max(nan, one) != max(nan, one)));
  CHECK(all(min(nan, one) != min(nan, one)));
  CHECK(all(max(one, nan) == one));
  CHECK(all(min(one, nan) == one));
  CHECK_FALSE(any(nan < one || nan >= one || nan == nan));
  CHECK(all(nan != nan));
}

TEMPLATE_TEST_CASE("tails read and write no memory beyond them", "[simd]", f32, f64, i32, i64) {
  using V = simd<TestType>;
  auto const values = some_values<TestType>(V::size);
  for (int n = 0; n <= V::size; ++n) {
    page_end<TestType> memory(n);  // a touch beyond n is a segmentation fault
    std::copy_n(values.begin(), n, memory.data());
    auto const x = V::load_n(memory.data(), n);
    for (int i = 0; i < V::size; ++i) CHECK(x[i] == (i < n ? values[static_cast<std::size_t>(i)] : TestType(0)));
    (x + V(1)).store_n(memory.data(), n);
    for (int i = 0; i < n; ++i) CHECK(memory.data()[i] == values[static_cast<std::size_t>(i)] + 1);

    std::vector<TestType> guarded(static_cast<std::size_t>(V::size) + 1, TestType(99));
    x.store_n(guarded.data(), n);
    for (std::size_t i = static_cast<std::size_t>(n); i < guarded.size(); ++i) CHECK(guarded[i] == 99);
  }
}

TEMPLATE_TEST_CASE("loads need no alignment and take any stride", "[simd]", f32, f64, i32, i64) {
  using V = simd<TestType>;
  auto const v = some_values<TestType>(8 * V::size);
  auto const x = V::load(v.data() + 1);
  auto const down = V::load_strided(v.data() + 7 * V::size, -3);
  for (int i = 0; i < V::size; ++i) {
    CHECK(x[i] == v[static_cast<std::size_t>(i + 1)]);
    CHECK(V::load_strided(v.data(), 5)[i] == v[static_cast<std::size_t>(5 * i)]);
    CHECK(down[i] == v[static_cast<std::size_t>(7 * V::size - 3 * i)]);
  }
}

TEST_CASE("conversions are static_cast lane by lane", "[simd]") {
  auto const check = [](auto from, auto to) {
    using U = decltype(from);
    using T = decltype(to);
    auto const v = some_values<U>(lanes);
    auto const x = cpu::convert<T>(simd<U>::load(v.data()));
    for (int i = 0; i < lanes; ++i) CHECK(x[i] == static_cast<T>(v[static_cast<std::size_t>(i)]));
    auto const mask = cpu::convert<bool>(simd<U>::load(v.data()));
    for (int i = 0; i < lanes; ++i) CHECK(mask[i] == (v[static_cast<std::size_t>(i)] != 0));
    for (int i = 0; i < lanes; ++i) CHECK(cpu::convert<T>(mask)[i] == static_cast<T>(mask[i] ? 1 : 0));
  };
  auto const from_each = [&](auto to) {
    check(f32{}, to);
    check(f64{}, to);
    check(i32{}, to);
    check(i64{}, to);
  };
  from_each(f32{});
  from_each(f64{});
  from_each(i32{});
  from_each(i64{});
  CHECK(cpu::convert<f32>(simd<f64>(0.1))[1] == 0.1f);
  CHECK(cpu::convert<i64>(simd<f64>(-3e12))[1] == -3000000000000);
  CHECK(all(cpu::convert<bool>(simd<f32>(0.5f))));
  CHECK(any(simd<bool>(true)));
  CHECK_FALSE(any(simd<bool>(false)));
}

TEMPLATE_TEST_CASE("reductions follow one tree", "[simd]", f32, f64, i32, i64) {
  using V = simd<TestType>;
  auto v = some_values<TestType>(V::size, 3);
  for (auto& x : v) x = x / TestType(3) + TestType(1);  // sums that depend on the order
  auto const x = V::load(v.data());
  CHECK(reduce_max(x) == *std::max_element(v.begin(), v.end()));
  CHECK(reduce_min(x) == *std::min_element(v.begin(), v.end()));
  for (auto n = v.size() / 2; n > 0; n /= 2)
    for (std::size_t i = 0; i < n; ++i) v[i] += v[i + n];
  CHECK(reduce_add(x) == v[0]);
}

TEST_CASE("other widths than the register's work too", "[simd]") {
  auto const v = some_values<f32>(64);
  auto const narrow = simd<f32, 4>::load(v.data());
  auto const wide = simd<f32, 64>::load(v.data());
  CHECK(values_of(narrow * narrow)[3] == v[3] * v[3]);
  CHECK(values_of(select(wide > 0.f, wide, -wide))[61] == std::abs(v[61]));
  CHECK(values_of(sqrt(abs(narrow)))[2] == std::sqrt(std::abs(v[2])));
  CHECK(values_of(cpu::convert<f64>(wide))[60] == static_cast<f64>(v[60]));
}
