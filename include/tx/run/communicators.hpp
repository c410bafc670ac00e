// The communicators of a program's ranks: that of all, and those of the ranks with which this one shares a part of the grid (core/rank_grid.hpp).
#pragma once

#include <tx/core/error.hpp>
#include <tx/core/rank_grid.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>

namespace tx::exec {

template <class Communicator>
class communicators {
  static constexpr tx::across some_of[] = {tx::across::work, tx::across::batches, tx::across::stages, tx::across::products};

 public:
  communicators() = default;
  // in: of so many ranks as `all` has. shared: of another program on the same ranks, whose communicators are these too where the grid is the same; else all ranks make some. `all` must outlive this.
  communicators(Communicator& all, rank_grid const& in, communicators const* shared = nullptr) : all_(&all), grid_(in) {
    if (grid_.row() == 1) return;  // batches are those of all, and no work is divided
    if (shared != nullptr && shared->all_ == all_ && shared->grid_ == grid_) {
      *this = *shared;
      return;
    }
    if constexpr (requires { all.subset(rank_subset{}); }) {
      for (tx::across const which : some_of)
        if (subset(which).count != all.size()) some(which) = same_as_before(which) ? same_as_before(which) : all.subset(subset(which));
    } else {
      throw value_error("executor: ranks divide the work of a batch, and the communicator has no subsets. FIX: tx::dist::ranks, local, nccl or rccl");
    }
  }

  rank_grid const& grid() const { return grid_; }
  Communicator& all() const { return *all_; }
  Communicator& across(tx::across which) const {
    bool const of_work = which != tx::across::all && which != tx::across::batches;
    if (of_work && grid_.row() == 1 && grid_.ranks > 1) throw value_error("executor: the program has a collective of the ranks that divide a batch's work, and none do. FIX: tx::tensor_parallel<N> or tx::pipeline<N> as an option");
    auto const& own = some_[static_cast<std::size_t>(which)];
    return own != nullptr ? *own : *all_;
  }
  // f(communicator) of each of them, once.
  template <class F>
  void for_each(F const& f) const {
    f(*all_);
    for (std::size_t k = 0; k < std::size(some_); ++k)
      if (some_[k] != nullptr && std::find(some_, some_ + k, some_[k]) == some_ + k) f(*some_[k]);
  }

 private:
  rank_subset subset(tx::across which) const { return grid_.subset(which, all_->rank()); }
  std::shared_ptr<Communicator>& some(tx::across which) { return some_[static_cast<std::size_t>(which)]; }
  // Of a grid without stages, say, those of the work are those of the products.
  std::shared_ptr<Communicator> same_as_before(tx::across which) {
    for (tx::across const before : some_of) {
      if (before == which) break;
      if (subset(before) == subset(which)) return some(before);
    }
    return nullptr;
  }

  Communicator* all_ = nullptr;
  rank_grid grid_{};
  std::shared_ptr<Communicator> some_[5]{};  // none: all of them
};

}  // namespace tx::exec
