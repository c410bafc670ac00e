// The normalizer Precompiled: a map of characters, as the crate spm_precompiled applies it.
#pragma once

#include <tx/text/change_result.hpp>
#include <tx/text/charsmap.hpp>
#include <tx/text/graphemes.hpp>
#include <tx/text/origin_writer.hpp>

#include <memory>
#include <string_view>

namespace tx::text::detail {

// A cluster of less than six bytes is looked up whole, but a string of the map that begins it is enough to replace all of it; characters of other clusters
// are looked up one by one.
class mapped_characters {
 public:
  explicit mapped_characters(std::shared_ptr<charsmap const> map) : map_(std::move(map)) {}

  change_result apply(text_slice from, changed_text& to) const {
    to.clear();
    if (from.origins == nullptr) {
      for_each_part(from.bytes, [&](std::string_view, std::string_view now) { to.bytes += now; });
    } else {
      writer w{origin_writer(from, to), to};
      for_each_part(from.bytes, [&](std::string_view was, std::string_view now) { w.replace(was, now); });
      w.flush();
    }
    return {to.slice(from.origins != nullptr)};
  }

 private:
  // Each new character stands for the next of the old ones, and what a shorter replacement leaves over goes with the character before it, if there is one.
  struct writer {
    origin_writer origins;
    changed_text& to;
    std::size_t bytes = 0, stands_for = 0;  // of the character that is not written yet

    void replace(std::string_view was, std::string_view now) {
      std::size_t const old_count = count(was), new_count = count(now);
      to.bytes += now;
      std::size_t number = 0;
      for (std::size_t i = 0; i < now.size(); ++number) {
        std::size_t const length = io::decode_utf8(now, i).length;
        flush();
        bytes = length;
        stands_for = number < old_count ? 1 : 0;
        i += length;
      }
      if (new_count < old_count && bytes > 0) stands_for += old_count - new_count;
    }
    void flush() {
      if (bytes > 0) origins.put(bytes, stands_for);
      bytes = 0;
    }
    static std::size_t count(std::string_view text) {
      std::size_t n = 0;
      for (char const c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      return n;
    }
  };

  // Calls each(was, now) for the parts of a text in order.
  template <class Each>
  void for_each_part(std::string_view text, Each&& each) const {
    auto const ascii = [&](std::size_t i) { return static_cast<unsigned char>(text[i]) < 0x80; };
    for (std::size_t i = 0; i < text.size();) {
      // A character of ASCII before another one is a cluster.
      if (ascii(i) && text[i] != '\r' && (i + 1 == text.size() || ascii(i + 1))) {
        std::string_view const was = text.substr(i++, 1);
        auto const now = map_->of_ascii(static_cast<unsigned char>(was[0]));
        each(was, now.value_or(was));
        continue;
      }
      std::size_t const end = cluster_end(text, i);
      if (end - i < 6) {
        if (auto const now = map_->shortest(text.substr(i, end - i))) {
          each(text.substr(i, end - i), *now);
          i = end;
          continue;
        }
      }
      while (i < end) {
        std::string_view const was = text.substr(i, io::decode_utf8(text, i).length);
        auto const now = map_->shortest(was);
        each(was, now.value_or(was));
        i += was.size();
      }
    }
  }

  std::shared_ptr<charsmap const> map_;
};

}  // namespace tx::text::detail
