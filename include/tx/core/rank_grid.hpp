// The ranks of a run as a grid. Those of a row have one batch and divide its work: each stage of a pipeline is so many neighbours, which divide products.
//
//   6 ranks, 2 divide products             batch 0: ranks 0 1                    batch 1: ranks 2 3              batch 2: ranks 4 5
//   8 ranks, 2 stages of 2 for products    batch 0: ranks 0 1 and then 2 3       batch 1: ranks 4 5 and then 6 7
#pragma once

namespace tx {

// Which ranks a collective is of, as seen by one of them: all; those of the same batch, which divide its work; those with the same part of the work of different batches; those that have
// other stages of what this one has; or those that divide the products of its stage.
enum class across { all, work, batches, stages, products };

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

// Where ranks divide a tensor: the axis of which this one has a portion, who has the others, and how many rows all have; axis -1: nobody divides it.
struct tensor_portion {
  int axis = -1;
  dividing_ranks ranks = 1;
  int rows = 0;

  constexpr explicit operator bool() const { return axis >= 0; }
};

struct rank_grid {
  int ranks = 1;
  int products = 1;  // ranks that divide those of a stage
  int stages = 1;    // of a batch

  constexpr bool operator==(rank_grid const&) const = default;
  constexpr int row() const { return products * stages; }
  constexpr int batches() const { return ranks / row(); }
  constexpr int batch_of(int rank) const { return rank / row(); }
  constexpr int stage_of(int rank) const { return rank / products % stages; }
  constexpr int product_of(int rank) const { return rank % products; }
  // Those that `rank` is one of.
  constexpr rank_subset subset(across which, int rank) const {
    int const row_first = batch_of(rank) * row();
    switch (which) {
      case across::work: return {row_first, 1, row()};
      case across::batches: return {rank % row(), row(), batches()};
      case across::stages: return {row_first + product_of(rank), products, stages};
      case across::products: return {row_first + stage_of(rank) * products, 1, products};
      case across::all: break;
    }
    return {0, 1, ranks};
  }
  // The number of a rank among those.
  constexpr int number_of(across which, int rank) const { return subset(which, rank).number_of(rank); }
};

}  // namespace tx
