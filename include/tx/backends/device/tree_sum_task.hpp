// What several ranks bring, added up on a device: element by element in the order of dist/tree_sum.hpp, so that sums have the bits of the host's.
//
//   parts [ranks, count] -> to [count]   ((0 + 1) + (2 + 3)) + (4 + 5) of six
#pragma once

#include <tx/backends/device/vocabulary.hpp>
#include <tx/core/dtype.hpp>

namespace tx::backends::device {

template <dtype D>
struct tree_sum_task {
  static constexpr int threads = most_threads;
  static constexpr int most_levels = 16;  // of up to 65,536 ranks

  struct arguments {
    std::byte* to = nullptr;           // may be `own`
    std::byte const* parts = nullptr;  // of rank r from element r * apart on
    std::byte const* own = nullptr;    // of this rank, whose place in `parts` is not read
    std::int64_t apart = 0, count = 0;
    int ranks = 1, rank = 0;
  };

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    for (std::int64_t i = std::int64_t{b.block()} * b.threads() + b.thread(); i < a.count; i += std::int64_t{b.blocks()} * b.threads()) one(a, i);
  }

 private:
  using element = element_t<D>;
  using sum = element_t<sum_type(D)>;  // halves are added in f32 and rounded once

  static TX_DEVICE void one(arguments const& a, std::int64_t i) {
    sum waiting[most_levels];  // subtrees that have no neighbour yet, the larger ones first
    int depth = 0;
    for (int r = 0; r < a.ranks; ++r) {
      std::byte const* const from = r == a.rank ? a.own : a.parts + r * a.apart * static_cast<std::int64_t>(sizeof(element));
      sum x = static_cast<sum>(number_of(reinterpret_cast<element const*>(from)[i]));
      for (int width = r + 1; width % 2 == 0; width /= 2) x = waiting[--depth] + x;
      waiting[depth++] = x;
    }
    sum total = waiting[--depth];
    while (depth > 0) total = waiting[--depth] + total;
    if constexpr (is_storage_only(D)) reinterpret_cast<element*>(a.to)[i] = element::from(total);
    else reinterpret_cast<element*>(a.to)[i] = total;
  }
};

}  // namespace tx::backends::device
