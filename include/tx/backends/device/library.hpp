// What a library of products is asked for, where a device has one: a product, or several that are alike and lie at equal distances, as one.
#pragma once

#include <tx/backends/device/target.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace tx::backends::device {

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
  std::byte const* row_scales = nullptr;     // of E4M3: [rows] and [cols] of f32; the sum at (r, c) is multiplied by both before anything is added or rounded. Null: by neither
  std::byte const* column_scales = nullptr;
  std::byte const* row = nullptr;    // `cols` halves that are added to each row of results before those are rounded to such, where there are any
  int batch = 1;                     // so many products, each so many elements behind the one before:
  std::int64_t next_left = 0, next_right = 0, next_to = 0, next_added = 0, next_row = 0;
};
// A device may have a library: multiply(p) starts the product, or says that it cannot.
template <class Device>
concept has_library = requires(library_product const& p) { { Device::multiply(p) } -> std::same_as<bool>; };

// Products of these numbers in a list as one.
struct batch_of_products {
  std::vector<std::size_t> of;
  library_product product;
};

namespace detail {

inline bool are_alike(library_product const& a, library_product const& b) {
  return a.rows == b.rows && a.cols == b.cols && a.depth == b.depth && a.to_type == b.to_type && a.left_row == b.left_row && a.left_col == b.left_col && a.right_row == b.right_row &&
         a.right_col == b.right_col && a.apart == b.apart && a.added_apart == b.added_apart && (a.added != nullptr) == (b.added != nullptr) && (a.row != nullptr) == (b.row != nullptr) && a.row_scales == nullptr && b.row_scales == nullptr;
}
// Is `b` as far behind `a` as a batch that begins with `p` has its products from each other? Where it has one so far, it learns that, if a library can do with it.
inline bool goes_on(library_product& p, library_product const& a, library_product const& b) {
  if (!are_alike(a, b)) return false;
  std::int64_t const size = size_of(p.type), to_size = size_of(p.to_type);
  bool fits = true;
  auto const apart = [&](std::byte const* from, std::byte const* to, std::int64_t of) {
    fits = fits && to >= from && (to - from) % of == 0;
    return (to - from) / of;
  };
  std::int64_t const left = apart(a.left, b.left, size), right = apart(a.right, b.right, size), to = apart(a.to, b.to, to_size), added = apart(a.added, b.added, to_size), row = apart(a.row, b.row, size);
  if (!fits || to == 0) return false;
  if (p.batch > 1) return left == p.next_left && right == p.next_right && to == p.next_to && added == p.next_added && row == p.next_row;
  p.next_left = left;
  p.next_right = right;
  p.next_to = to;
  p.next_added = added;
  p.next_row = row;
  return true;
}

}  // namespace detail

// All of them, in the order of their results, as few as they can be.
inline std::vector<batch_of_products> batches(std::span<library_product const> all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return all[k].to; });
  std::vector<batch_of_products> some;
  for (std::size_t const k : order) {
    if (!some.empty() && detail::goes_on(some.back().product, all[some.back().of.back()], all[k])) ++some.back().product.batch;
    else some.push_back({{}, all[k]});
    some.back().of.push_back(k);
  }
  return some;
}

}  // namespace tx::backends::device
