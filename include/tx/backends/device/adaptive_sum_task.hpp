// The two steps of an adaptive sum (dist/adaptive_sum.hpp) on a device, at one level of the tree: inner products of neighbours, and the neighbours combined. A rank has its part of
// the elements of all ranks.
//
//   parts [ranks, each], of which the first `own` elements of a row are there; rows 0 and 1, 2 and 3, ... are neighbours, 2 `width` rows apart
//   products [pairs, tensors, slices, 3]   left.right, left.left, right.right of what this rank has of a tensor, in f64: a block makes one slice of each
//   all [ranks, pairs, tensors, slices, 3] those of all ranks, added up by every block that combines, in this order
//   parts                                  row 2 width p: left * share of left + right * share of right
#pragma once

#include <tx/backends/device/vocabulary.hpp>
#include <tx/core/dtype.hpp>

namespace tx::backends::device {

// Slices of what a rank has of a tensor, each of which has a block: as many as pairs times tensors times these.
constexpr int adaptive_slices(std::int64_t elements) { return elements < 16384 ? 1 : elements < 262144 ? static_cast<int>(elements / 16384) : 16; }

struct adaptive_sum_arguments {
  std::byte* parts = nullptr;
  double* products = nullptr;   // of this rank; where neighbours are combined, of all
  std::int64_t each = 0, own = 0;
  std::int64_t first = 0;       // this rank's first element among all
  std::int64_t of_tensor = 0;   // elements of a tensor
  std::int64_t tensors = 1, pairs = 1, width = 1;
  int ranks = 1, slices = 1;
};

namespace detail {

struct plus {
  static TX_DEVICE double apply(double a, double b) { return a + b; }
};

// Whose elements a block has: of one pair of rows, of one tensor, one slice.
struct adaptive_slice {
  std::int64_t left, right;   // the rows' first elements
  std::int64_t begin, end;    // of the rank's elements
  std::int64_t of_products;   // the first of a slice's numbers
};
inline TX_DEVICE adaptive_slice adaptive_slice_of(adaptive_sum_arguments const& a, std::int64_t block) {
  std::int64_t const slice = block % a.slices, tensor = block / a.slices % a.tensors, pair = block / a.slices / a.tensors;
  std::int64_t begin = tensor * a.of_tensor - a.first, end = begin + a.of_tensor;
  if (begin < 0) begin = 0;
  if (end > a.own) end = a.own;
  std::int64_t const count = end > begin ? end - begin : 0;
  std::int64_t const left = 2 * a.width * pair * a.each;
  return {left, left + a.width * a.each, begin + count * slice / a.slices, begin + count * (slice + 1) / a.slices, block * 3};
}

}  // namespace detail

template <dtype D>
struct adaptive_products_task {
  static constexpr int threads = most_threads;
  static constexpr int shared_bytes = threads / warp * static_cast<int>(sizeof(double));
  using arguments = adaptive_sum_arguments;

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    auto const* const parts = reinterpret_cast<element_t<D> const*>(a.parts);
    detail::adaptive_slice const s = detail::adaptive_slice_of(a, b.block());
    double sum[3] = {};
    for (std::int64_t i = s.begin + b.thread(); i < s.end; i += b.threads()) {
      auto const x = static_cast<double>(number_of(parts[s.left + i])), y = static_cast<double>(number_of(parts[s.right + i]));
      sum[0] += x * y;
      sum[1] += x * x;
      sum[2] += y * y;
    }
    team<Block> const all(b, log_of(threads));
    for (int k = 0; k < 3; ++k) {
      double const total = all.template combine<detail::plus>(sum[k], b.shared());
      if (b.thread() == 0) a.products[s.of_products + k] = total;
    }
  }
};

template <dtype D>
struct adaptive_combination_task {
  static constexpr int threads = most_threads;
  static constexpr int shared_bytes = 2 * static_cast<int>(sizeof(double));
  using arguments = adaptive_sum_arguments;

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    using element = element_t<D>;
    auto* const parts = reinterpret_cast<element*>(a.parts);
    auto* const shares = reinterpret_cast<double*>(b.shared());
    std::int64_t const of_rank = a.pairs * a.tensors * a.slices * 3;
    detail::adaptive_slice const s = detail::adaptive_slice_of(a, b.block());
    if (b.thread() == 0) {
      double sum[3] = {};
      std::int64_t const of_tensor = s.of_products - b.block() % a.slices * 3;
      for (int r = 0; r < a.ranks; ++r)
        for (int k = 0; k < 3 * a.slices; k += 3)
          for (int j = 0; j < 3; ++j) sum[j] += a.products[r * of_rank + of_tensor + k + j];
      shares[0] = sum[1] > 0 ? 1 - sum[0] / (2 * sum[1]) : 1;
      shares[1] = sum[2] > 0 ? 1 - sum[0] / (2 * sum[2]) : 1;
    }
    b.sync();
    double const left = shares[0], right = shares[1];
    for (std::int64_t i = s.begin + b.thread(); i < s.end; i += b.threads()) {
      double const sum = left * static_cast<double>(number_of(parts[s.left + i])) + right * static_cast<double>(number_of(parts[s.right + i]));
      if constexpr (D == dtype::f64) parts[s.left + i] = sum;
      else if constexpr (D == dtype::f32) parts[s.left + i] = static_cast<float>(sum);
      else parts[s.left + i] = element::from(static_cast<float>(sum));
    }
  }
};

}  // namespace tx::backends::device
