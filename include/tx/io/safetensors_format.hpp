// What the safetensors reader and writer share: type names, tensor descriptions, checked sizes.
#pragma once

#include <tx/core/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tx::io {

// A tensor's description and its bytes: row-major, little-endian, owned by someone else. Nothing aligns them: copy them
// (memcpy) into typed storage. A BOOL is a byte 0 or 1.
struct tensor_info {
  std::string name;
  tx::dtype type;
  std::vector<std::int64_t> shape;  // empty for a scalar; sizes may be 0
  std::span<std::byte const> bytes;
};

inline constexpr std::size_t max_safetensors_header = 100'000'000;  // bytes

namespace detail {

// In the order of tx::dtype.
inline constexpr std::string_view safetensors_types[] = {"F64", "F32", "BF16", "F16", "I64",
                                                         "I32", "I16", "I8",   "U8",  "BOOL", "F8_E4M3"};

inline std::optional<tx::dtype> safetensors_type(std::string_view name) {
  for (std::size_t i = 0; i < std::size(safetensors_types); ++i) {
    if (safetensors_types[i] == name) return static_cast<tx::dtype>(i);
  }
  return std::nullopt;
}

inline std::string_view safetensors_name(tx::dtype type) { return safetensors_types[static_cast<std::size_t>(type)]; }

// Bytes a tensor takes up; nothing if a size is negative or a product leaves the range of 64 signed bits.
inline std::optional<std::int64_t> byte_count(tx::dtype type, std::span<std::int64_t const> shape) {
  std::int64_t count = 1;
  auto const times = [&](std::int64_t factor) {
    if (factor < 0 || (factor > 0 && count > std::numeric_limits<std::int64_t>::max() / factor)) return false;
    count *= factor;
    return true;
  };
  for (std::int64_t const size : shape) {
    if (!times(size)) return std::nullopt;
  }
  if (!times(size_of(type))) return std::nullopt;
  return count;
}

}  // namespace detail
}  // namespace tx::io
