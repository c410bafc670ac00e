// Batches of rows that lie in memory, shuffled by a seed alone.
#pragma once

#include <tx/train/loop/epochs.hpp>

#include <algorithm>
#include <tuple>

namespace tx::train {

// Columns of so many rows, each of any number of elements a row:
//
//   tx::train::shuffled_rows data({.rows = 60'000, .batch = 128, .seed = 1}, pixels, labels);  // [60000, 784], [60000]
//   auto const& [x, y] = data.next();                                                          // [128, 784], [128]
//
// They must outlive it. What an epoch has left that is no whole batch is left out.
struct rows_options {
  std::size_t rows = 0, batch = 0;
  std::uint64_t seed = 0;
};

template <class... T>
class shuffled_rows {
 public:
  explicit shuffled_rows(rows_options const& o, std::vector<T> const&... columns)
      : columns_(columns...), batch_(o.batch), random_(o.seed), order_(o.rows) {
    if (o.batch == 0 || o.rows < o.batch)
      throw value_error("shuffled_rows: " + std::to_string(o.rows) + " rows make no batch of " + std::to_string(o.batch) + ". FIX: a batch of 1 to as many rows as there are");
    for (std::size_t const elements : {columns.size()...})
      if (elements % o.rows != 0)
        throw shape_error("shuffled_rows: a column has " + std::to_string(elements) + " elements, which is no multiple of its " + std::to_string(o.rows) +
                          " rows. FIX: as many elements for each row");
  }

  // The next batch, valid until the one after it.
  std::tuple<std::vector<T>...> const& next() {
    if (order_.left() < batch_) order_.begin_anew();
    std::apply([&](auto&... to) { (to.clear(), ...); }, out_);
    for (std::size_t k = 0; k < batch_; ++k) append(order_.next(random_), std::index_sequence_for<T...>());
    return out_;
  }

  std::size_t size() const { return order_.size(); }
  std::size_t batch() const { return batch_; }

  void save(to_save& out) const {
    out.put("random", random_.state());
    order_.save(out);
  }
  void restore(saved const& in) {
    order_.restore(in);
    random_ = random_numbers(in.value<std::uint64_t>("random"));
  }

 private:
  template <std::size_t... K>
  void append(std::size_t row, std::index_sequence<K...>) {
    auto const one = [&](auto& to, auto const from) {
      auto const part = from.subspan(row * (from.size() / order_.size()), from.size() / order_.size());
      to.insert(to.end(), part.begin(), part.end());
    };
    (one(std::get<K>(out_), std::get<K>(columns_)), ...);
  }

  std::tuple<std::span<T const>...> columns_;
  std::size_t batch_;
  random_numbers random_;
  epochs order_;
  std::tuple<std::vector<T>...> out_;
};

template <class... T>
shuffled_rows(rows_options const&, std::vector<T> const&...) -> shuffled_rows<T...>;

}  // namespace tx::train
