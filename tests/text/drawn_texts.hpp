// Texts that are drawn, and sums of what becomes of them: drawn_texts.py draws the same.
#pragma once

#include <tx/io/utf8.hpp>
#include <tx/text/code_ranges.hpp>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

// FNV-1a.
struct byte_sum {
  std::uint32_t value = 0x811C9DC5;

  void add(std::string_view bytes) {
    for (char const c : bytes) value = (value ^ static_cast<unsigned char>(c)) * 0x01000193u;
  }
};

struct text_draws {
  static constexpr tx::text::detail::code_range pools[] = {{0x0, 0x24F},       {0x300, 0x36F},     {0x370, 0x5FF},     {0x8D0, 0x8FF},     {0x900, 0xDFF},
                                                           {0x1B00, 0x1BFF},   {0x1D150, 0x1D1E7}, {0x1E000, 0x1E02F}, {0x1E940, 0x1E95F}, {0xAC00, 0xD7A3},
                                                           {0x1E00, 0x1FFF},   {0x2000, 0x33FF},   {0x4E00, 0x4FFF},   {0xF900, 0xFFFF},   {0x10000, 0x10FFFF}};
  std::uint64_t state = 1;

  std::uint32_t under(std::uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state >> 33) % n);
  }
  // A character of any block, each block of 256 as likely as another, but for those where hardly anything is.
  std::string anywhere() {
    std::uint32_t block = under(0x326);
    block = block >= 0xD8 && block < 0xE0 ? block - 8 : block < 0x324 ? block : block - 0x324 + 0xE00;
    std::string out;
    tx::io::append_utf8(out, 256 * block + under(256));
    return out;
  }
  std::string text() {
    std::string out;
    for (std::uint32_t left = 1 + under(12); left > 0; --left) {
      auto const pool = pools[under(std::size(pools))];
      tx::io::append_utf8(out, pool.first + under(static_cast<std::uint32_t>(pool.last - pool.first + 1)));
    }
    return out;
  }
};
