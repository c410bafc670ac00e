// The ranks of a run as a grid: neighbours divide the products of one batch, and each such row of them has a batch of its own.
//
//   of 6 ranks, 2 of which divide products     batch 0: ranks 0 1     batch 1: ranks 2 3     batch 2: ranks 4 5
#pragma once

namespace tx {

// Which ranks a collective is of: all; those that have different batches, with the same part of the products; or those that divide the products of one batch.
enum class across { all, batches, products };

// Ranks first, first + stride, ..., so many of them. Within them they are numbered anew, from 0.
struct rank_subset {
  int first = 0, stride = 1, count = 1;

  constexpr int operator[](int k) const { return first + k * stride; }
  constexpr bool has(int rank) const { return rank >= first && (rank - first) % stride == 0 && (rank - first) / stride < count; }
  constexpr int number_of(int rank) const { return (rank - first) / stride; }
  // Of these ranks those that have these numbers here.
  constexpr rank_subset within(rank_subset const& numbers) const { return {first + numbers.first * stride, stride * numbers.stride, numbers.count}; }
  constexpr bool operator==(rank_subset const&) const = default;
};

// So many ranks, of those, that divide something between them.
struct dividing_ranks {
  int count = 1;
  across which = across::all;

  constexpr dividing_ranks(int ranks, across of = across::all) : count(ranks), which(of) {}
  constexpr bool operator==(dividing_ranks const&) const = default;
};

struct rank_grid {
  int ranks = 1;
  int products = 1;  // ranks that divide those of one batch

  constexpr int batches() const { return ranks / products; }
  constexpr int batch_of(int rank) const { return rank / products; }
  constexpr int product_of(int rank) const { return rank % products; }
  // Those that `rank` is one of.
  constexpr rank_subset subset(across which, int rank) const {
    if (which == across::batches) return {product_of(rank), products, batches()};
    if (which == across::products) return {batch_of(rank) * products, 1, products};
    return {0, 1, ranks};
  }
};

}  // namespace tx
