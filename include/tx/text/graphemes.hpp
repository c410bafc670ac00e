// Which characters a reader takes for one: letters with their accents, syllables, flags, joined pictures. Unicode calls them extended grapheme clusters
// (Unicode Standard Annex 29).
#pragma once

#include <tx/io/utf8.hpp>
#include <tx/text/grapheme_tables.hpp>
#include <tx/text/paged_table.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace tx::text::detail {

enum class cluster_kind : std::uint8_t {
  other, control, extend, linker, non_joiner, joiner, spacing, carry, lead, vowel, trail, open_syllable, closed_syllable, flag, picture, consonant
};

inline cluster_kind cluster_kind_of(char32_t c) {
  static paged_table<cluster_kind> const table = [] {
    using enum cluster_kind;
    std::vector<cluster_kind> all(0x110000, other);
    auto const set = [&](std::span<code_range const> ranges, cluster_kind kind) { for_each_point(ranges, [&](char32_t p) { all[p] = kind; }); };
    set(control_ranges, control);
    set(extend_ranges, extend);
    set(spacing_ranges, spacing);
    set(carry_ranges, carry);
    set(lead_ranges, lead);
    set(vowel_ranges, vowel);
    set(trail_ranges, trail);
    set(picture_ranges, picture);
    set(consonant_ranges, consonant);
    set(linker_ranges, linker);
    for (char32_t p = 0xAC00; p < 0xD7A4; ++p) all[p] = (p - 0xAC00) % 28 == 0 ? open_syllable : closed_syllable;
    for (char32_t p = 0x1F1E6; p < 0x1F200; ++p) all[p] = flag;
    all[0x200C] = non_joiner;
    all[0x200D] = joiner;
    return paged_table<cluster_kind>(all);
  }();
  return table[c];
}

// What has been read of a cluster, as far as what follows may depend on it.
class cluster_reader {
 public:
  explicit cluster_reader(cluster_kind first) { take(first); }

  bool goes_on(cluster_kind next) const {
    using enum cluster_kind;
    if (before_ == control || next == control) return false;
    switch (next) {
      case extend:
      case linker:
      case non_joiner:
      case joiner:
      case spacing: return true;
      default: break;
    }
    if (before_ == carry) return true;
    switch (next) {
      case lead:
      case open_syllable:
      case closed_syllable: return before_ == lead;
      case vowel: return before_ == lead || before_ == vowel || before_ == open_syllable;
      case trail: return before_ == vowel || before_ == open_syllable || before_ == closed_syllable || before_ == trail;
      case picture: return joins_picture_;
      case flag: return before_ == flag && odd_flags_;
      case consonant: return linked_;
      default: return false;
    }
  }
  void take(cluster_kind next) {
    using enum cluster_kind;
    bool const marks = next == extend || next == linker || next == non_joiner;
    joins_picture_ = next == joiner && of_picture_;
    of_picture_ = next == picture || (marks && of_picture_);
    linked_ = of_consonant_ && (next == linker || (linked_ && (next == extend || next == joiner)));
    of_consonant_ = next == consonant || (of_consonant_ && (next == extend || next == linker || next == joiner));
    odd_flags_ = next == flag && !(before_ == flag && odd_flags_);
    before_ = next;
  }

 private:
  cluster_kind before_ = cluster_kind::other;
  bool of_picture_ = false, joins_picture_ = false;  // a picture and marks behind it; and a joiner
  bool of_consonant_ = false, linked_ = false;       // a consonant and marks behind it; and a linker among them
  bool odd_flags_ = false;                           // a flag is of two letters
};

// Where the cluster that begins at `from` ends; from is below text.size().
inline std::size_t cluster_end(std::string_view text, std::size_t from) {
  io::code_point const first = io::decode_utf8(text, from);
  std::size_t at = from + first.length;
  if (first.value == '\r') return at < text.size() && text[at] == '\n' ? at + 1 : at;
  cluster_reader cluster(cluster_kind_of(first.value));
  while (at < text.size()) {
    io::code_point const c = io::decode_utf8(text, at);
    cluster_kind const kind = cluster_kind_of(c.value);
    if (!cluster.goes_on(kind)) break;
    cluster.take(kind);
    at += c.length;
  }
  return at;
}

}  // namespace tx::text::detail
