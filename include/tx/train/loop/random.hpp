// Random numbers for the order of data: the same everywhere, unlike the standard's distributions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tx::train {

// SplitMix64 (Steele, Lea and Flood, 2014).
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((*this)() % n); }
  // All there is to know of the numbers to come.
  std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

// Any order is as likely as any other (Fisher and Yates).
template <class T>
void shuffle(std::span<T> items, random_numbers& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace tx::train
