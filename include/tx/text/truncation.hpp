// Which of two texts loses tokens where both are longer than there is room for, as Hugging Face's tokenizers say it.
#pragma once

#include <tx/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace tx::text {

enum class truncation : std::uint8_t {
  longest_first,  // the longer one is cut to the length of the other, then both
  only_first,
  only_second,
  none,  // no token is lost, however many there are
};

// How many tokens of two texts of so many are kept where there is room for `room`; second is 0 where there is one text. odd_to_first: where both are cut to
// the same length and one more token has room, it is of the first, as the tokenizers of transformers in Python have it, not of the longer text.
// Throws value_error where the text that is to be cut is too short for it; where there is no room at all, both lose all, whichever is to be cut.
inline std::pair<std::size_t, std::size_t> kept(std::size_t first, std::size_t second, std::size_t room, truncation how, bool odd_to_first = false) {
  if (how == truncation::none || first + second <= room) return {first, second};
  if (room == 0) return {0, 0};
  std::size_t const over = first + second - room;
  if (how != truncation::longest_first) {
    std::size_t& cut = how == truncation::only_first ? first : second;
    if (cut <= over)
      throw value_error("the text that is to be cut has " + std::to_string(cut) + " tokens, and " + std::to_string(over) + " are too many. FIX: truncation::longest_first");
    cut -= over;
    return {first, second};
  }
  std::size_t const least = std::min(first, second);
  std::size_t shorter = least, longer = least > room ? least : std::max(least, room - least);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
    if (odd_to_first) return {longer, shorter};
  }
  return first > second ? std::pair{longer, shorter} : std::pair{shorter, longer};
}

}  // namespace tx::text
