// What a library of products is asked for, where a device has one: a product, or several that are alike and lie at equal distances, as one.
#pragma once

#include <tx/backends/cuda/target.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <vector>

namespace tx::backends::cuda {

// To [rows, cols] = left [rows, depth] * right [depth, cols]. Distances are in elements.
struct library_product {
  dtype type;     // of both sides
  dtype to_type;  // of results: that of their sums, or of the sides
  std::int64_t rows, cols, depth;
  std::byte const* left;
  std::int64_t left_row, left_col;
  std::byte const* right;
  std::int64_t right_row, right_col;
  std::byte* to;
  std::int64_t apart;    // from row to row of the results, whose columns lie side by side
  std::byte* workspace;  // library_workspace bytes
  std::byte const* added = nullptr;  // results of sums' type that the product is added to, where there are any
  std::int64_t added_apart = 0;      // from row to row
  std::byte const* row = nullptr;    // `cols` halves that are added to each row of results before those are rounded to such, where there are any
  int batch = 1;                     // so many products, each so many elements behind the one before:
  std::int64_t next_left = 0, next_right = 0, next_to = 0, next_added = 0, next_row = 0;
};
// A device may have a library: multiply(p) starts the product, or says that it cannot.
template <class Device>
concept has_library = requires(library_product const& p) { { Device::multiply(p) } -> std::same_as<bool>; };

namespace detail {

// Elements of so many bytes from the first to the second of `all`, if it is as many from each to the next; below 0: it is not, or what lies there is not for a library.
inline std::int64_t distance_in(std::vector<library_product> const& all, std::byte const* library_product::*at, std::int64_t size) {
  std::int64_t const bytes = all[1].*at - all[0].*at;
  for (std::size_t k = 2; k < all.size(); ++k)
    if (all[k].*at - all[k - 1].*at != bytes) return -1;
  return bytes % size == 0 ? bytes / size : -1;
}

}  // namespace detail

// Are they alike, and at equal distances? The first then stands for all. Their order does not matter.
inline bool as_batch(std::vector<library_product>& all) {
  if (all.size() < 2) return false;
  std::ranges::sort(all, [](library_product const& a, library_product const& b) { return a.to < b.to; });
  library_product& p = all[0];
  for (library_product const& o : all)
    if (o.rows != p.rows || o.cols != p.cols || o.depth != p.depth || o.to_type != p.to_type || o.left_row != p.left_row || o.left_col != p.left_col || o.right_row != p.right_row || o.right_col != p.right_col ||
        o.apart != p.apart || o.added_apart != p.added_apart || (o.added != nullptr) != (p.added != nullptr) || (o.row != nullptr) != (p.row != nullptr))
      return false;
  std::int64_t const size = size_of(p.type), to_size = size_of(p.to_type), bytes = all[1].to - p.to;
  for (std::size_t k = 2; k < all.size(); ++k)
    if (all[k].to - all[k - 1].to != bytes) return false;
  p.batch = static_cast<int>(all.size());
  p.next_to = bytes / to_size;
  p.next_left = detail::distance_in(all, &library_product::left, size);
  p.next_right = detail::distance_in(all, &library_product::right, size);
  p.next_added = p.added == nullptr ? 0 : detail::distance_in(all, &library_product::added, to_size);
  p.next_row = p.row == nullptr ? 0 : detail::distance_in(all, &library_product::row, size);
  return bytes > 0 && bytes % to_size == 0 && p.next_left >= 0 && p.next_right >= 0 && p.next_added >= 0 && p.next_row >= 0;
}

}  // namespace tx::backends::cuda
