// Numbers of a plan, such as strides, that grow with bounded extents.
#pragma once

#include <tx/core/shape.hpp>

namespace tx {

// Such a number: what it is where all bounded extents are at their most, in the low 48 bits, and its factors above them. `bounded` (shape.hpp) is
// the same of one extent, in two members. A fixed number is what it is.
//   dense strides of [B <= 32, S <= 512, 64]: 32,768 with S once, 64, 1
// It is one number, so that two are equal only if they are in every run.
enum class quantity : std::int64_t {};

inline constexpr int quantity_bits = 48;  // of its value at the most; factors lie above
inline constexpr std::int64_t quantity_end = std::int64_t{1} << (quantity_bits - 1);

// Most numbers are fixed. That is asked first everywhere, as each call costs a constant evaluation time and memory.
constexpr bool is_fixed(quantity q) { return static_cast<std::int64_t>(q) < quantity_end && static_cast<std::int64_t>(q) >= -quantity_end; }
constexpr quantity exactly(std::int64_t n) { return static_cast<quantity>(n); }
constexpr std::int64_t most_of(quantity q) {
  auto const code = static_cast<std::int64_t>(q);
  if (code < quantity_end && code >= -quantity_end) return code;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(code) << (64 - quantity_bits)) >> (64 - quantity_bits);
}
constexpr factors factors_of(quantity q) {
  auto const code = static_cast<std::int64_t>(q);
  if (code < quantity_end && code >= -quantity_end) return {};
  return {static_cast<std::uint32_t>((code - most_of(q)) >> quantity_bits)};
}
constexpr quantity proportional(std::int64_t most, factors f) { return static_cast<quantity>(most + (std::int64_t{f.bits} << quantity_bits)); }

constexpr quantity operator*(quantity q, std::int64_t n) {
  auto const code = static_cast<std::int64_t>(q);
  if (code < quantity_end && code >= -quantity_end) return static_cast<quantity>(code * n);
  return n == 0 ? quantity{} : proportional(most_of(q) * n, factors_of(q));
}
constexpr quantity operator*(quantity q, bounded b) {
  auto const code = static_cast<std::int64_t>(q);
  if (code < quantity_end && code >= -quantity_end && b.of.bits == 0) return static_cast<quantity>(code * b.max);
  return proportional(most_of(q) * b.max, factors_of(q) + b.of);
}
constexpr quantity operator*(quantity a, quantity b) { return proportional(most_of(a) * most_of(b), factors_of(a) + factors_of(b)); }

// A sum is a quantity only where both have the same factors, or one is nothing.
constexpr bool have_a_sum(quantity a, quantity b) { return a == quantity{} || b == quantity{} || factors_of(a) == factors_of(b); }
constexpr quantity operator+(quantity a, quantity b) {
  if (!have_a_sum(a, b)) throw invalid("a sum of numbers in proportion to different bounded extents");
  return proportional(most_of(a) + most_of(b), a == quantity{} ? factors_of(b) : factors_of(a));
}

constexpr quantity count_in(shape const& s) { return s.bounds == 0 ? static_cast<quantity>(s.count()) : proportional(s.count(), s.count_factors()); }

}  // namespace tx
