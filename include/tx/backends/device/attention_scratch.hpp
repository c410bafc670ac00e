// What the kernels of attention's gradient hand each other: one formula for the planner and for kernels.
#pragma once

#include <tx/core/alignment.hpp>

namespace tx::backends::device {

inline constexpr int attention_lines = 64;  // queries or keys of a tile
template <class N>
constexpr N attention_tiles(N lines) {
  return (lines + attention_lines - 1) / attention_lines;
}

struct attention_scratch {
  std::int64_t texts = 0;
  int heads = 0;
  std::int64_t queries = 0, keys = 0;  // of a text
  bool drops = false;

  // A word for each lane of the warp that has 16 queries and 64 keys.
  static constexpr int words_of_warp = 32, words_of_tile = attention_lines / 16 * words_of_warp;

  // f32 numbers of queries, then words that tell which probabilities are kept (attention_kept.hpp), a bit for each: texts * heads * queries * keys / 8 bytes.
  constexpr std::int64_t products() const { return exec::aligned(4 * texts * heads * queries); }
  constexpr std::int64_t bytes() const { return products() + (drops ? exec::aligned(4 * words_of_tile * texts * heads * attention_tiles(queries) * attention_tiles(keys)) : 0); }
};

}  // namespace tx::backends::device
