// A number that stands for many bytes, to tell whether others are the same: FNV-1a (Fowler, Noll, Vo) over words of eight of them, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tx {

inline constexpr std::uint64_t sum_of_no_bytes = 0xcbf29ce484222325;

// of: what came before.
inline std::uint64_t sum_of_bytes(std::span<std::byte const> bytes, std::uint64_t of = sum_of_no_bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at < 8 ? bytes.size() - at : 8);
    of = (of ^ word) * 0x100000001b3;
  }
  return of;
}

}  // namespace tx
