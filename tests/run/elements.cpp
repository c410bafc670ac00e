// Elements of any type: which is the first that is not finite, and what the nearest parameters call a layer.
#include <tx/core/elements.hpp>
#include <tx/inspect/nearest_parameter.hpp>

#include <catch2/catch.hpp>

#include <limits>

namespace {

using namespace tx;

template <class T, class Bits>
void check_search(Bits infinity, Bits sign) {
  constexpr dtype type = dtype_v<T>;
  for (std::int64_t n : {1, 7, 4096, 4097, 9000}) {
    std::vector<Bits> bits(static_cast<std::size_t>(n), static_cast<Bits>(infinity - 1));  // the largest number
    bits[0] = static_cast<Bits>(bits[0] | sign);
    auto const first = [&](bool infinities) {
      return first_not_finite(type, reinterpret_cast<std::byte const*>(bits.data()), n, infinities);
    };
    CHECK(first(true) == n);
    for (std::int64_t at : {n - 1, n / 2, std::int64_t{0}}) {
      for (Bits other : {Bits{0}, sign}) {
        auto const k = static_cast<std::size_t>(at);
        Bits const kept = bits[k];
        bits[k] = static_cast<Bits>(infinity | other);
        CHECK(first(true) == at);
        CHECK(first(false) == n);
        ++bits[k];  // NaN
        CHECK(first(true) == at);
        CHECK(first(false) == at);
        CHECK(is_nan(element_at(type, reinterpret_cast<std::byte const*>(bits.data()), at)));
        bits[k] = kept;
      }
    }
  }
}

}  // namespace

TEST_CASE("the first element that is not finite is found in any type") {
  check_search<double>(std::uint64_t{0x7ff0000000000000u}, std::uint64_t{1} << 63);
  check_search<float>(std::uint32_t{0x7f800000u}, std::uint32_t{1} << 31);
  check_search<bf16>(std::uint16_t{0x7f80u}, std::uint16_t{0x8000u});
  check_search<f16>(std::uint16_t{0x7c00u}, std::uint16_t{0x8000u});
  std::int32_t const whole[] = {-1, 0x7fc00000};  // no such thing
  CHECK(first_not_finite(dtype::i32, reinterpret_cast<std::byte const*>(whole), 2, true) == 2);
}

TEST_CASE("a number is rounded as its type holds it") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  CHECK(rounded_to(dtype::f64, 1e200) == 1e200);
  CHECK(rounded_to(dtype::f32, 1e39) == infinite);
  CHECK(rounded_to(dtype::f32, 0.1) == static_cast<double>(0.1f));
  CHECK(rounded_to(dtype::f16, 70000) == infinite);
  CHECK(rounded_to(dtype::bf16, 1.001) == 1);
  CHECK(rounded_to(dtype::i32, -2.7) == -2);
  CHECK(rounded_to(dtype::boolean, 0.5) == 1);
}

TEST_CASE("a layer is what the names of the nearest parameters have in common") {
  CHECK(exec::layer_of({}).empty());
  CHECK(exec::layer_of({"table"}) == "table");
  CHECK(exec::layer_of({"layer.3.query.weight"}) == "layer.3.query");
  CHECK(exec::layer_of({"layer.3.query.bias", "layer.3.key.bias"}) == "layer.3");
  CHECK(exec::layer_of({"layer.3.query.bias", "layer.31.query.bias"}) == "layer");
  CHECK(exec::layer_of({"layer.3.query.bias", "head.bias"}) == "layer.3.query.bias");
}
