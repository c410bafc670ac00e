// An order of many items by a seed, without a list of them.
#pragma once

#include <tx/train/loop/random.hpp>

#include <array>
#include <bit>

namespace tx::train {

// Where each of `items` numbers goes: a permutation, computed for each number alone. It is a Feistel network over the next power of four, walked until it comes
// back below `items`, which takes four turns at most on average. Not every order is drawn, as shuffle() would, only one for each seed.
class permutation {
 public:
  permutation(std::uint64_t items, std::uint64_t seed) : items_(items), half_((items > 1 ? static_cast<int>(std::bit_width(items - 1)) + 1 : 2) / 2) {
    random_numbers random(seed);
    for (auto& key : keys_) key = random();
  }

  std::uint64_t size() const { return items_; }
  // Of a number below size().
  std::uint64_t operator()(std::uint64_t number) const {
    do number = once(number);
    while (number >= items_);
    return number;
  }

 private:
  std::uint64_t once(std::uint64_t number) const {
    std::uint64_t const mask = (std::uint64_t{1} << half_) - 1;
    std::uint64_t left = number >> half_, right = number & mask;
    for (std::uint64_t const key : keys_) {
      std::uint64_t const next = left ^ (random_numbers(key + right)() & mask);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t items_;
  int half_;  // bits of each half
  std::array<std::uint64_t, 8> keys_{};  // a round for each
};

}  // namespace tx::train
