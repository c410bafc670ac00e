// Parts of which the last ranks have fewer elements, or none: what a communicator of any kind makes of them.
#pragma once

#include "parts.hpp"

#include <tx/core/portion.hpp>

#include <cstring>
#include <span>

// How many elements are other than they should be, of `count` in parts of `each`.
template <class T, class Communicator>
std::size_t wrong_in_unequal_parts(Communicator& all, std::size_t count, std::size_t each) {
  std::vector<T> const from = part<T>(all.rank(), count);
  std::vector<T> own(each, tx::dist::rounded<T>(7));  // what is no part of the sum becomes zero
  all.reduce_scatter(std::span<T const>(from), std::span(own));
  auto const bits = [](T a, T b) { return std::memcmp(&a, &b, sizeof a) == 0; };
  tx::portion const mine = tx::portion_of(static_cast<std::int64_t>(count), static_cast<std::int64_t>(each), all.rank());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < each; ++i) {
    bool const there = static_cast<std::int64_t>(i) < mine.count;
    wrong += !bits(own[i], there ? tree<T>(all.size(), static_cast<std::size_t>(mine.first) + i) : T{});
  }
  std::vector<T> together(count);
  all.all_gather(std::span<T const>(own), std::span(together));
  for (std::size_t i = 0; i < count; ++i) wrong += !bits(together[i], tree<T>(all.size(), i));
  return wrong;
}
