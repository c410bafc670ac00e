// One thread's part of a fused group: a team of threads takes a row, its threads take columns. What a value is and in which
// sweep it is computed, exec::row_schedule says, as for every backend.
#pragma once

#include <tx/backends/cuda/place.hpp>
#include <tx/backends/cuda/row_types.hpp>
#include <tx/backends/cuda/target.hpp>

namespace tx::backends::cuda {

template <class F>
struct row_task;

template <class F, class Block>
class row_body {
  using task = row_task<F>;
  using types = typename task::types;
  template <int V>
  using facts = detail::value_facts<F, V>;
  template <int V>
  using type_of = register_t<types::types[V]>;
  template <int K>
  using let = typename types::template let<K>;
  template <int K>
  static constexpr bool sums_columns = let<K>::shape == form::col_reduce && facts<let<K>::operand[0]>::by_column;
  template <int K>
  static constexpr bool sums_rows = let<K>::shape == form::col_reduce && !facts<let<K>::operand[0]>::by_column;
  using every_value = std::make_integer_sequence<int, types::values>;
  using every_let = std::make_integer_sequence<int, types::lets>;
  using every_output = std::make_integer_sequence<int, types::outputs>;

 public:
  TX_DEVICE row_body(Block& b, typename task::arguments const& a)
      : b_(b), a_(a), team_(b, a.team_size), lane_(team_.lane()), scratch_(a.scratch + b.block() * a.per_share) {
    std::int64_t const row_bytes = scratch_row(a.cols, task::element);
    if (a.stash_in_shared) stash_ = b.shared() + combine_bytes + team_.index() * task::stashes * row_bytes;
    else stash_ = scratch_;
  }

  // Rows begin + the team's number, then each `apart` rows; every thread of the block comes here with the same numbers.
  TX_DEVICE void rows(std::int64_t begin, std::int64_t end, std::int64_t apart) {
    for (std::int64_t base = begin; base < end; base += apart) {
      live_ = base + team_.index() < end;
      row_ = live_ ? base + team_.index() : a_.first;  // a team without a row of its own only meets the others: it reads and stores nothing
      columns_ = live_ ? a_.cols : 0;
      reads_numbers_ = live_ && (lane_ == 0 || lane_ < columns_);
      start(std::make_integer_sequence<int, types::inputs>{});
      start_outputs(every_output{});
      all_sweeps(std::make_integer_sequence<int, task::sweeps>{});
      if (live_ && lane_ == 0) finish_row(every_let{}, every_output{});
    }
  }

  // What this thread adds to the sums of its share begins at nothing.
  TX_DEVICE void clear_sums() { clear(every_let{}); }

 private:
  template <int... K>
  TX_DEVICE void clear(std::integer_sequence<int, K...>) {
    (clear_sum<K>(), ...);
  }
  template <int K>
  TX_DEVICE void clear_sum() {
    if constexpr (let<K>::shape == form::col_reduce) {
      using T = type_of<types::inputs + K>;
      T* const sum = reinterpret_cast<T*>(task::template sum_of<K>(scratch_, a_.cols));
      std::int64_t cols = 1;
      if constexpr (sums_columns<K>) cols = a_.cols;
      for (std::int64_t c = lane_; c < cols; c += team_.size()) sum[c] = let<K>::rule::template identity<T>();
    }
  }

  // Numbers of the row; all threads of the team have read them before one writes over them.
  template <int... V>
  TX_DEVICE void start(std::integer_sequence<int, V...>) {
    (start_input<V>(), ...);
    if constexpr (((types::template in<V>::sig.how == access::row) || ...) && writes_numbers(every_output{})) {
      // A reduction makes the warps of a larger team meet before the row is finished.
      if (team_.size() <= warp) b_.sync_warp();
      else if constexpr (!types::reduces_rows) b_.sync();
    }
  }
  template <int... O>
  static constexpr bool writes_numbers(std::integer_sequence<int, O...>) {
    return ((types::template out<O>::sig.shape == form::map && types::template out<O>::sig.per_row) || ...);
  }
  template <int V>
  TX_DEVICE void start_input() {
    constexpr exec::in_sig sig = types::template in<V>::sig;
    if constexpr (sig.how == access::constant) {
      get<V>(x_) = static_cast<type_of<V>>(operand<V>().value);
    } else if constexpr (sig.how == access::row) {
      get<V>(x_) = reads_numbers_ ? load<sig.type>(operand<V>().at, operand<V>().row_offset(row_)) : type_of<V>{};
    } else if constexpr (sig.how == access::contiguous || sig.how == access::strided) {
      from_[V] = operand<V>().at + operand<V>().row_offset(row_) * size_of(sig.type);
    } else if constexpr (sig.how == access::product) {
      from_[V] = a_.product + (row_ - a_.first) * a_.cols * size_of(sig.type);
    } else if constexpr (sig.how == access::position) {
      if (operand<V>().rank != 0) get<V>(x_) = static_cast<type_of<V>>(operand<V>().position(row_));
    }
  }
  template <int... O>
  TX_DEVICE void start_outputs(std::integer_sequence<int, O...>) {
    (start_output<O>(), ...);
  }
  template <int O>
  TX_DEVICE void start_output() {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::map && !sig.per_row) to_[O] = output<O>().at + output<O>().row_offset(row_) * size_of(sig.type);
  }
  template <int V>
  TX_DEVICE place const& operand() const {
    return a_.operand[V - task::first_input];
  }
  template <int K>
  TX_DEVICE place const& output() const {
    return a_.operand[types::inputs - task::first_input + K];
  }

  template <int... P>
  TX_DEVICE void all_sweeps(std::integer_sequence<int, P...>) {
    (sweep<P>(every_value{}, every_let{}, every_output{}), ...);
  }
  template <int Sweep, int... V, int... K, int... O>
  TX_DEVICE void sweep(std::integer_sequence<int, V...>, std::integer_sequence<int, K...>, std::integer_sequence<int, O...>) {
    (derive<Sweep, K>(), ...);
    constexpr bool any = detail::demand_in<F, Sweep>.any;
    if constexpr (any) {
      (start_reduction<Sweep, K>(), ...);
      for (std::int64_t c = lane_; c < columns_; c += team_.size()) {
        (compute<Sweep, V>(c), ...);
        (reduce<Sweep, K>(c), ...);
        (store_column<Sweep, O>(c), ...);
      }
      (finish_reduction<Sweep, K>(), ...);
    }
  }

  template <int K>
  TX_DEVICE auto apply() {
    using l = let<K>;
    if constexpr (l::count == 1) return l::rule::apply(get<l::operand[0]>(x_));
    else if constexpr (l::count == 2) return l::rule::apply(get<l::operand[0]>(x_), get<l::operand[1]>(x_));
    else return l::rule::apply(get<l::operand[0]>(x_), get<l::operand[1]>(x_), get<l::operand[2]>(x_));
  }
  // A number of the row that follows from others.
  template <int Sweep, int K>
  TX_DEVICE void derive() {
    constexpr int v = types::inputs + K;
    if constexpr (let<K>::shape == form::map && !facts<v>::by_column && facts<v>::sweep == Sweep)
      get<v>(x_) = as_stored<types::types[v]>(static_cast<type_of<v>>(apply<K>()));
  }
  template <int V>
  TX_DEVICE auto& stashed(std::int64_t c) {
    return reinterpret_cast<type_of<V>*>(stash_ + facts<V>::stash * scratch_row(a_.cols, task::element))[c];
  }
  template <int Sweep, int V>
  TX_DEVICE void compute(std::int64_t c) {
    constexpr bool wanted = detail::demand_in<F, Sweep>.value[V];
    constexpr bool kept = detail::demand_in<F, Sweep>.from_stash[V];
    if constexpr (!wanted) {
    } else if constexpr (V < types::inputs) {
      get<V>(x_) = input<V>(c);
    } else if constexpr (kept) {
      get<V>(x_) = stashed<V>(c);
    } else {
      get<V>(x_) = as_stored<types::types[V]>(static_cast<type_of<V>>(apply<V - types::inputs>()));
      if constexpr (facts<V>::stash >= 0 && facts<V>::sweep == Sweep) stashed<V>(c) = get<V>(x_);
    }
  }
  template <int V>
  TX_DEVICE type_of<V> input(std::int64_t c) {
    constexpr exec::in_sig sig = types::template in<V>::sig;
    if constexpr (sig.how == access::product) {
      return load<sig.type>(from_[V], c);
    } else {
      place const& p = operand<V>();
      if constexpr (sig.how == access::contiguous) return load<sig.type>(from_[V], c);
      else if constexpr (sig.how == access::strided) return load<sig.type>(from_[V], c * p.col);
      else if constexpr (sig.how == access::position) return p.rank == 0 ? static_cast<type_of<V>>(c) : get<V>(x_);
      else
        return static_cast<type_of<V>>(uniform(a_.key, p.stream, p.random_row + static_cast<std::uint64_t>(row_), static_cast<std::uint32_t>(c)));
    }
  }

  template <int Sweep, int K>
  static constexpr bool reduces_row = let<K>::shape == form::row_reduce && facts<let<K>::operand[0]>::sweep == Sweep;
  template <int Sweep, int K>
  TX_DEVICE void start_reduction() {
    constexpr int v = types::inputs + K;
    if constexpr (reduces_row<Sweep, K>) get<v>(x_) = let<K>::rule::template identity<type_of<v>>();
  }
  template <int Sweep, int K>
  TX_DEVICE void reduce(std::int64_t c) {
    constexpr int v = types::inputs + K;
    using l = let<K>;
    if constexpr (reduces_row<Sweep, K>) {
      get<v>(x_) = l::rule::apply(get<v>(x_), get<l::operand[0]>(x_));
    } else if constexpr (sums_columns<K> && facts<l::operand[0]>::sweep == Sweep) {
      auto& sum = reinterpret_cast<type_of<v>*>(task::template sum_of<K>(scratch_, a_.cols))[c];
      sum = l::rule::apply(sum, get<l::operand[0]>(x_));
    }
  }
  template <int Sweep, int K>
  TX_DEVICE void finish_reduction() {
    constexpr int v = types::inputs + K;
    if constexpr (reduces_row<Sweep, K>)
      get<v>(x_) = as_stored<types::types[v]>(team_.template combine<typename let<K>::rule>(get<v>(x_), b_.shared()));
  }

  template <int Sweep, int O>
  TX_DEVICE void store_column(std::int64_t c) {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::map && !sig.per_row && facts<sig.value>::sweep == Sweep) {
      store<sig.type>(to_[O], c, get<sig.value>(x_));
    }
  }
  template <int... K, int... O>
  TX_DEVICE void finish_row(std::integer_sequence<int, K...>, std::integer_sequence<int, O...>) {
    (sum_row<K>(), ...);
    (store_row<O>(), ...);
  }
  template <int K>
  TX_DEVICE void sum_row() {
    if constexpr (sums_rows<K>) {
      constexpr int v = types::inputs + K;
      auto& sum = *reinterpret_cast<type_of<v>*>(task::template sum_of<K>(scratch_, a_.cols));
      sum = let<K>::rule::apply(sum, get<let<K>::operand[0]>(x_));
    }
  }
  template <int O>
  TX_DEVICE void store_row() {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::map && sig.per_row) {
      place const& p = output<O>();
      store<sig.type>(p.at, p.row_offset(row_), get<sig.value>(x_));
    }
  }

  Block& b_;
  typename task::arguments const& a_;
  team<Block> team_;
  int lane_;
  std::byte* scratch_;
  std::byte* stash_ = nullptr;
  std::int64_t row_ = 0;
  std::int64_t columns_ = 0;    // of it that are read and written
  bool reads_numbers_ = false;  // of the row: by threads that have a column, and the one that finishes the row
  bool live_ = true;
  std::byte const* from_[types::inputs + 1];  // this row of inputs and outputs
  std::byte* to_[types::outputs + 1];
  typename types::registers x_;
};

}  // namespace tx::backends::cuda
