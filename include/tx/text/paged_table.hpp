// A value for each code point, of which most pages are alike: two looks instead of a megabyte.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace tx::text::detail {

template <class T>
class paged_table {
 public:
  // all: of the code points 0, 1, ..., a multiple of 256 of them.
  explicit paged_table(std::vector<T> const& all) {
    std::map<page, std::uint16_t> known;
    page_of_.resize(all.size() / 256);
    for (std::size_t k = 0; k < page_of_.size(); ++k) {
      page here;
      for (std::size_t c = 0; c < 256; ++c) here[c] = all[256 * k + c];
      auto const [at, is_new] = known.emplace(here, static_cast<std::uint16_t>(pages_.size()));
      if (is_new) pages_.push_back(here);
      page_of_[k] = at->second;
    }
  }

  T operator[](char32_t c) const { return pages_[page_of_[c >> 8]][c & 0xff]; }

 private:
  using page = std::array<T, 256>;

  std::vector<std::uint16_t> page_of_;
  std::vector<page> pages_;
};

}  // namespace tx::text::detail
