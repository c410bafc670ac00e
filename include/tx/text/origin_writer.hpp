// Where the characters of a changed text come from, as tokenizers counts it: each says for how many of the old characters, in order, it stands.
#pragma once

#include <tx/text/text_range.hpp>

#include <algorithm>

namespace tx::text::detail {

// Notes nothing where nobody asks.
class origin_writer {
 public:
  origin_writer(text_slice from, changed_text& to) : from_(from), to_(to) {}

  // The next character, of so many bytes. One that stands for none goes with what is before it.
  void put(std::size_t bytes, std::size_t stands_for) {
    if (from_.origins == nullptr) return;
    std::size_t const place = stands_for == 0 && at_ > 0 ? at_ - 1 : at_;
    to_.origins.insert(to_.origins.end(), bytes, from_.origins[std::min(place, from_.bytes.size() - 1)]);
    for (; stands_for > 0 && at_ < from_.bytes.size(); --stands_for) at_ += io::decode_utf8(from_.bytes, at_).length;
  }

 private:
  text_slice from_;
  changed_text& to_;
  std::size_t at_ = 0;  // of the old text
};

}  // namespace tx::text::detail
