// An endless row of items, every one once in each epoch, in a new order each time, and the share that each of several ranks has of it.
#pragma once

#include <tx/train/loop/permutation.hpp>
#include <tx/train/loop/saved.hpp>

namespace tx::train {

struct rank_share {
  std::uint64_t rank = 0, ranks = 1;  // which one, of how many
};

namespace detail {
inline void check_share(rank_share const& share, char const* who) {
  if (share.rank >= share.ranks)
    throw value_error(std::string(who) + ": rank " + std::to_string(share.rank) + " of " + std::to_string(share.ranks) + ". FIX: ranks are numbered from 0");
}
}  // namespace detail

//   tx::train::shuffled_order order(shards.texts(), seed, {.rank = r, .ranks = n});
//   for (...) use(order.next());
//
// Memory does not depend on the number of items. The row is the same for any number of ranks: of each n items that follow each other in it rank r has the
// one with number r, so that ranks have equally many and no two the same. A place that one rank has saved is that of all of them, and of another number of them.
class shuffled_order {
 public:
  shuffled_order(std::uint64_t items, std::uint64_t seed, rank_share share = {}) : seed_(seed), share_(share), epoch_(items, seed_of(0)) {
    if (items == 0) throw value_error("shuffled_order: there are no items. FIX: data of at least one");
    detail::check_share(share, "shuffled_order");
  }

  std::uint64_t size() const { return epoch_.size(); }
  std::uint64_t place() const { return place_; }  // items of the row that all ranks together have had
  // What stands at a place of the row.
  std::uint64_t at(std::uint64_t place) {
    std::uint64_t const number = place / size();
    if (number != number_) epoch_ = permutation(size(), seed_of(number_ = number));
    return epoch_(place % size());
  }
  std::uint64_t next() {
    std::uint64_t const item = at(place_ + share_.rank);
    place_ += share_.ranks;
    return item;
  }

  void save(to_save& out) const {
    out.put("items", size());
    out.put("items_seed", seed_);
    out.put("place", place_);
  }
  // Throws format_error for the place in another number of items, or in an order of another seed.
  void restore(saved const& in) {
    if (in.value<std::uint64_t>("items") != size()) throw format_error("the saved place in the data is that of other data. FIX: resume with the same data");
    if (auto const seed = in.value<std::uint64_t>("items_seed"); seed != seed_)
      throw format_error("the saved place in the data is that of seed " + std::to_string(seed) + ", not of " + std::to_string(seed_) + ". FIX: resume with the same seed");
    place_ = in.value<std::uint64_t>("place");
  }

 private:
  std::uint64_t seed_of(std::uint64_t epoch) const { return random_numbers(seed_ ^ (epoch * 0xd1342543de82ef95u))(); }

  std::uint64_t seed_;
  rank_share share_;
  std::uint64_t number_ = 0;  // of the epoch whose order this is:
  permutation epoch_;
  std::uint64_t place_ = 0;
};

}  // namespace tx::train
