// The communicators of a program's ranks: that of all, and those of the ranks with which this one shares a row or a column of the grid (core/rank_grid.hpp).
#pragma once

#include <tx/core/error.hpp>
#include <tx/core/rank_grid.hpp>

#include <cstddef>
#include <memory>

namespace tx::exec {

template <class Communicator>
class communicators {
 public:
  communicators() = default;
  // products: of the ranks so many divide those of a batch. All ranks call it; `all` must outlive this.
  communicators(Communicator& all, int products) : all_(&all), grid_{all.size(), products} {
    if (products == 1) return;  // batches are those of all, and products are not divided
    if constexpr (requires { all.subset(rank_subset{}); }) {
      for (tx::across const which : {tx::across::batches, tx::across::products}) {
        rank_subset const those = grid_.subset(which, all.rank());
        if (those.count != all.size()) some_[static_cast<std::size_t>(which)] = all.subset(those);
      }
    } else {
      throw value_error("executor: ranks divide products, and the communicator has no subsets. FIX: tx::dist::ranks, local, nccl or rccl");
    }
  }

  rank_grid const& grid() const { return grid_; }
  Communicator& all() const { return *all_; }
  Communicator& across(tx::across which) const {
    if (which == tx::across::products && grid_.products == 1 && grid_.ranks > 1) throw value_error("executor: the program has a collective of the ranks that divide products, and none do. FIX: tx::tensor_parallel<N> or tx::pipeline<N> as an option");
    auto const& some = some_[static_cast<std::size_t>(which)];
    return some != nullptr ? *some : *all_;
  }

 private:
  Communicator* all_ = nullptr;
  rank_grid grid_{};
  std::shared_ptr<Communicator> some_[3]{};  // none: all of them
};

}  // namespace tx::exec
