// The team that a row is computed by, as one of its threads sees it: which columns are its own, and its sums over rows.
#pragma once

#include <tx/backends/device/row_held.hpp>

namespace tx::backends::device {

template <class F>
struct row_task;

// Columns [first, end) of a row are the team's; a thread has some side by side in each of its steps.
template <class F, class Block>
struct row_team {
  static constexpr int at_once = detail::columns_at_once<F>;
  static constexpr held_rows held = detail::held_of<F>;
  static constexpr bool all_have_all = held.any() && detail::row_types<F>::known_columns == held.pieces * held.steps * held.team_size * at_once;

  team<Block, held.team_size> threads;
  int lane, first, end;

  TX_DEVICE row_team(Block& b, int team_log, std::int64_t first_column, std::int64_t end_column)
      : threads(b, team_log), lane(threads.lane()), first(static_cast<int>(first_column)), end(static_cast<int>(end_column)) {}

  TX_DEVICE int apart() const { return threads.size() * at_once; }  // from a step to the next
  TX_DEVICE int column_of(int step) const { return first + lane * at_once + step * apart(); }
  TX_DEVICE bool has(int step) const { return all_have_all || column_of(step) < end; }
};

// Sums over rows of a team: of rows that are held in registers until the last of them, else in memory of the team's.
template <class F, class Block>
class team_sums {
  using task = row_task<F>;
  using types = detail::row_types<F>;
  template <int K>
  using let = typename types::template let<K>;
  template <int K>
  using type_of = register_t<types::types[types::inputs + K]>;
  template <int K>
  static constexpr bool of_columns = detail::sums_columns<F, K>;
  using every_let = std::make_integer_sequence<int, types::lets>;
  static constexpr int at_once = detail::columns_at_once<F>;
  static constexpr held_rows held = detail::held_of<F>;

 public:
  // at: the team's memory, where rows have room for `cols` columns, the first of which is column `from`.
  TX_DEVICE void lie_at(std::byte* at, std::int64_t cols, int from) {
    at_ = at;
    cols_ = cols;
    from_ = from;
  }

  // They begin at nothing; each thread clears those of its columns.
  TX_DEVICE void clear(row_team<F, Block> const& t) { clear(t, every_let{}); }

  // By let K: columns c and those behind it, of step k.
  template <int K, class Columns>
  TX_DEVICE void add(Columns const& x, int k, int c) {
    using T = type_of<K>;
    auto const add_to = [&](columns<T, at_once>& sum) {
      TX_UNROLL
      for (int i = 0; i < at_once; ++i) sum.x[i] = let<K>::rule::apply(sum.x[i], x.x[i]);
    };
    if constexpr (held.any()) {
      add_to(get<K>(held_[k]));
    } else {
      auto sum = load_own<T, at_once>(place_of<K>(c));
      add_to(sum);
      store_own<T, at_once>(place_of<K>(c), sum);
    }
  }
  // And a number of a row, by one thread.
  template <int K, class T>
  TX_DEVICE void add_number(T x) {
    auto& sum = *reinterpret_cast<type_of<K>*>(place_of<K>(0));
    sum = let<K>::rule::apply(sum, x);
  }

  // Behind the last row they are in the team's memory.
  TX_DEVICE void hand_over(row_team<F, Block> const& t) {
    if constexpr (held.any()) hand_over(t, every_let{});
  }

 private:
  template <int K>
  TX_DEVICE std::byte* place_of(int c) const {
    std::int64_t at = 0;
    if constexpr (of_columns<K>) at = (c - from_) * static_cast<std::int64_t>(sizeof(type_of<K>));
    return at_ + task::template sum_at<K>(cols_) + at;
  }
  template <int... K>
  TX_DEVICE void clear(row_team<F, Block> const& t, std::integer_sequence<int, K...>) {
    (clear_one<K>(t), ...);
  }
  template <int K>
  TX_DEVICE void clear_one(row_team<F, Block> const& t) {
    if constexpr (let<K>::shape == form::col_reduce) {
      using T = type_of<K>;
      T const nothing = let<K>::rule::template identity<T>();
      if constexpr (of_columns<K> && held.any()) {
        TX_UNROLL
        for (int k = 0; k < held.steps; ++k)
          for (int i = 0; i < at_once; ++i) get<K>(held_[k]).x[i] = nothing;
      } else if constexpr (of_columns<K>) {
        for (int c = t.column_of(0); c < t.end; c += t.apart())
          for (int i = 0; i < at_once; ++i) reinterpret_cast<T*>(place_of<K>(c))[i] = nothing;
      } else if (t.lane == 0) {
        *reinterpret_cast<T*>(place_of<K>(0)) = nothing;
      }
    }
  }
  template <int... K>
  TX_DEVICE void hand_over(row_team<F, Block> const& t, std::integer_sequence<int, K...>) {
    (hand_over_one<K>(t), ...);
  }
  template <int K>
  TX_DEVICE void hand_over_one(row_team<F, Block> const& t) {
    if constexpr (of_columns<K>) {
      TX_UNROLL
      for (int k = 0; k < held.steps; ++k)
        if (t.has(k)) store_own<type_of<K>, at_once>(place_of<K>(t.column_of(k)), get<K>(held_[k]));
    }
  }

  std::byte* at_ = nullptr;
  std::int64_t cols_ = 0;
  int from_ = 0;
  detail::column_sums_held<F, at_once> held_[held.any() ? held.steps : 1];
};

}  // namespace tx::backends::device
