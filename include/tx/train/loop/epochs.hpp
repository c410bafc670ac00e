// Items in an order that is drawn anew for each epoch, with the place in it saved.
#pragma once

#include <tx/train/loop/random.hpp>
#include <tx/train/loop/saved.hpp>

#include <numeric>

namespace tx::train {

// Every item once before any comes again:
//
//   tx::train::random_numbers random(seed);
//   tx::train::epochs order(pairs.size());
//   for (...) use(pairs[order.next(random)]);
class epochs {
 public:
  explicit epochs(std::size_t items) : order_(items), at_(items) { std::iota(order_.begin(), order_.end(), std::int64_t{0}); }

  // `arrange(order)` may put the shuffled items of a new epoch into another order, so that like ones lie beside each other.
  template <class Arrange>
  std::size_t next(random_numbers& random, Arrange&& arrange) {
    if (order_.empty()) throw value_error("epochs: there are no items. FIX: data of at least one");
    if (left() == 0) {
      shuffle(std::span(order_), random);
      arrange(std::span(order_));
      at_ = 0;
    }
    return static_cast<std::size_t>(order_[at_++]);
  }
  std::size_t next(random_numbers& random) {
    return next(random, [](std::span<std::int64_t>) {});
  }

  std::size_t size() const { return order_.size(); }
  std::size_t left() const { return order_.size() - at_; }  // in this epoch
  // What is left of this epoch is left out: the next item is the first of a new one.
  void begin_anew() { at_ = order_.size(); }

  void save(to_save& out) const {
    out.put("at", at_);
    out.put("order", order_);
  }
  // Throws format_error for the place in another number of items, and what is no order. `items` and `option` are the words for that.
  void restore(saved const& in, std::string const& items = "data", std::string const& option = "data") {
    auto const at = in.value<std::int64_t>("at");
    auto order = in.array<std::int64_t>("order");
    std::vector<char> seen(order_.size(), 0);
    bool right = order.size() == order_.size() && at >= 0 && static_cast<std::size_t>(at) <= order.size();
    for (std::int64_t const i : order)
      right = right && i >= 0 && static_cast<std::size_t>(i) < seen.size() && std::exchange(seen[static_cast<std::size_t>(i)], 1) == 0;
    if (!right) throw format_error("the saved place in the data is that of other " + items + ". FIX: resume with the same " + option);
    order_ = std::move(order);
    at_ = static_cast<std::size_t>(at);
  }

 private:
  std::vector<std::int64_t> order_;
  std::size_t at_;  // items of this epoch that have been drawn
};

}  // namespace tx::train
