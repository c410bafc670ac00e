// One thread's share of a fused group: a team of threads takes a row, its threads take columns. What a value is and in which
// sweep it is computed, exec::row_sweeps says, as for every backend.
#pragma once

#include <tx/backends/device/place.hpp>
#include <tx/backends/device/row_types.hpp>
#include <tx/backends/device/target.hpp>

namespace tx::backends::device {

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
  static constexpr int at_once = task::at_once;  // columns of a thread, side by side
  using own_columns = typename types::template column_registers<at_once>;
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
  // Block number `share` over rows, number `piece` over columns.
  TX_DEVICE row_body(Block& b, typename task::arguments const& a, int share, int piece)
      : b_(b), a_(a), team_(b, a.team_size), lane_(team_.lane()), first_(piece * a.piece), end_(first_ + a.piece < a.cols ? first_ + a.piece : a.cols),
        product_(a.product), product_row_(a.first), product_stride_(a.cols) {
    std::byte* const scratch = a.scratch + share * a.per_block;
    std::byte* const shared = b.shared() + combine_bytes;
    stash_ = a.stash_in_shared ? shared + team_.index() * task::stash_room(a.piece) : scratch;
    if constexpr (task::sums) {
      sum_cols_ = a.sums_in_shared ? a.piece : a.cols;
      sums_ = a.sums_in_shared ? shared + (a.stash_in_shared ? a.teams * task::stash_room(a.piece) : 0) + team_.index() * task::sum_room(a.piece)
                               : scratch + (a.stash_in_shared ? 0 : task::stash_room(a.cols));
    }
  }

  // A part of a product's results, by an epilogue that works element by element: columns [first, end) of rows that lie in `results`, which begin at row
  // `first_row` and column `first`, rows `stride` elements apart.
  TX_DEVICE row_body(Block& b, typename task::arguments const& a, std::byte const* results, std::int64_t first_row, std::int64_t first, std::int64_t end, std::int64_t stride)
      : b_(b), a_(a), team_(b, a.team_size), lane_(team_.lane()), first_(first), end_(end), product_(results), product_row_(first_row), product_column_(first), product_stride_(stride) {}

  // Rows begin + the team's number, then each `apart` rows; every thread of the block comes here with the same numbers.
  TX_DEVICE void rows(std::int64_t begin, std::int64_t end, std::int64_t apart) {
    for (std::int64_t base = begin; base < end; base += apart) {
      live_ = base + team_.index() < end;
      row_ = live_ ? base + team_.index() : begin;  // a team without a row of its own only meets the others: it reads and stores nothing
      columns_end_ = live_ ? end_ : first_;
      reads_numbers_ = live_ && (lane_ == 0 || first_ + lane_ * at_once < columns_end_);
      start(std::make_integer_sequence<int, types::inputs>{});
      start_outputs(every_output{});
      all_sweeps(std::make_integer_sequence<int, task::sweeps>{});
      if (live_ && lane_ == 0) finish_row(every_let{}, every_output{});
    }
  }

  // The sums of its team begin at nothing; each thread clears those of its columns.
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
      T const nothing = let<K>::rule::template identity<T>();
      if constexpr (sums_columns<K>) {
        for (std::int64_t c = first_ + lane_ * at_once; c < end_; c += team_.size() * at_once)
          for (int i = 0; i < at_once; ++i) reinterpret_cast<T*>(sum_of<K>(c))[i] = nothing;
      } else if (lane_ == 0) {
        *reinterpret_cast<T*>(sum_of<K>(0)) = nothing;
      }
    }
  }
  // The team's sum, by let K, of column c and those behind it.
  template <int K>
  TX_DEVICE std::byte* sum_of(std::int64_t c) const {
    std::int64_t at = 0;
    if constexpr (sums_columns<K>) at = (c - (a_.sums_in_shared ? first_ : 0)) * static_cast<std::int64_t>(sizeof(type_of<types::inputs + K>));
    return sums_ + task::template sum_at<K>(sum_cols_) + at;
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
      from_[V] = product_ + ((row_ - product_row_) * product_stride_ - product_column_) * (a_.product_rounded ? size_of(detail::type_of_product<F>) : size_of(sig.type));
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
      for (std::int64_t c = first_ + lane_ * at_once; c < columns_end_; c += team_.size() * at_once) {
        own_columns x;
        (fetch<Sweep, V>(x, c), ...);
        TX_UNROLL
        for (int i = 0; i < at_once; ++i) {
          (compute<Sweep, V>(x, i), ...);
          (reduce<Sweep, K>(x, i), ...);
        }
        (stash_columns<Sweep, V>(x, c), ...);
        (sum_columns<Sweep, K>(x, c), ...);
        (store_columns_of<Sweep, O>(x, c), ...);
      }
      (finish_reduction<Sweep, K>(), ...);
    }
  }

  // Column i of those at hand, or the row's number.
  template <int V>
  TX_DEVICE type_of<V> value(own_columns const& x, int i) const {
    if constexpr (facts<V>::by_column) return get<V>(x).x[i];
    else return get<V>(x_);
  }
  template <int K>
  TX_DEVICE auto apply(own_columns const& x, int i) {
    using l = let<K>;
    if constexpr (l::count == 1) return l::rule::apply(value<l::operand[0]>(x, i));
    else if constexpr (l::count == 2) return l::rule::apply(value<l::operand[0]>(x, i), value<l::operand[1]>(x, i));
    else return l::rule::apply(value<l::operand[0]>(x, i), value<l::operand[1]>(x, i), value<l::operand[2]>(x, i));
  }
  // A number of the row that follows from others.
  template <int Sweep, int K>
  TX_DEVICE void derive() {
    constexpr int v = types::inputs + K;
    if constexpr (let<K>::shape == form::map && !facts<v>::by_column && facts<v>::sweep == Sweep)
      get<v>(x_) = as_stored<types::types[v]>(static_cast<type_of<v>>(apply<K>(own_columns{}, 0)));
  }
  template <int V>
  TX_DEVICE std::byte* stashed(std::int64_t c) const {
    return stash_ + facts<V>::stash * detail::kept_row_of<F>(a_.stash_in_shared ? a_.piece : a_.cols) + (c - first_) * static_cast<std::int64_t>(sizeof(type_of<V>));
  }

  // What is read of columns c and those behind it.
  template <int Sweep, int V>
  TX_DEVICE void fetch(own_columns& x, std::int64_t c) {
    constexpr bool wanted = detail::demand_in<F, Sweep>.value[V];
    if constexpr (!wanted) {
    } else if constexpr (V < types::inputs) {
      get<V>(x) = input<V>(c);
    } else if constexpr (detail::demand_in<F, Sweep>.from_stash[V]) {
      get<V>(x) = load_own<type_of<V>, at_once>(stashed<V>(c));
    }
  }
  template <int V>
  TX_DEVICE columns<type_of<V>, at_once> input(std::int64_t c) {
    constexpr exec::in_sig sig = types::template in<V>::sig;
    if constexpr (sig.how == access::product) {
      constexpr dtype rounded = detail::type_of_product<F>;
      if constexpr (rounded != sig.type)
        if (a_.product_rounded) return load_columns<rounded, at_once>(from_[V] + c * size_of(rounded), true);
      return load_columns<sig.type, at_once>(from_[V] + c * size_of(sig.type), true);
    } else if constexpr (sig.how == access::contiguous) {
      return load_columns<sig.type, at_once>(from_[V] + c * size_of(sig.type), operand<V>().wide);
    } else {
      place const& p = operand<V>();
      columns<type_of<V>, at_once> out;
      if constexpr (sig.how == access::random) {
        draw<V>(out, p, static_cast<std::uint32_t>(c));
      } else {
        TX_UNROLL
        for (int i = 0; i < at_once; ++i) {
          if constexpr (sig.how == access::strided) out.x[i] = load<sig.type>(from_[V], (c + i) * p.col);
          else out.x[i] = p.rank == 0 ? static_cast<type_of<V>>(c + i) : get<V>(x_);
        }
      }
      return out;
    }
  }
  // A block of random numbers is four columns.
  template <int V>
  TX_DEVICE void draw(columns<type_of<V>, at_once>& out, place const& p, std::uint32_t c) {
    std::uint64_t const row = p.rows(row_);
    philox_stream const stream{p.stream.low, p.stream.high + *a_.step};
    if constexpr (at_once % 4 == 0) {
      TX_UNROLL
      for (int k = 0; k < at_once; k += 4) {
        philox_block const four = random_block(a_.key, stream, row, c + static_cast<std::uint32_t>(k));
        TX_UNROLL
        for (int i = 0; i < 4; ++i) out.x[k + i] = static_cast<type_of<V>>(to_uniform(four.word[i]));
      }
    } else {
      for (int i = 0; i < at_once; ++i) out.x[i] = static_cast<type_of<V>>(uniform(a_.key, stream, row, c + static_cast<std::uint32_t>(i)));
    }
  }

  template <int Sweep, int V>
  TX_DEVICE void compute(own_columns& x, int i) {
    if constexpr (V >= types::inputs && detail::demand_in<F, Sweep>.value[V] && !detail::demand_in<F, Sweep>.from_stash[V])
      get<V>(x).x[i] = as_stored<types::types[V]>(static_cast<type_of<V>>(apply<V - types::inputs>(x, i)));
  }
  template <int Sweep, int V>
  TX_DEVICE void stash_columns(own_columns const& x, std::int64_t c) {
    if constexpr (V >= types::inputs && detail::demand_in<F, Sweep>.value[V] && !detail::demand_in<F, Sweep>.from_stash[V] && facts<V>::stash >= 0 && facts<V>::sweep == Sweep)
      store_own<type_of<V>, at_once>(stashed<V>(c), get<V>(x));
  }

  template <int Sweep, int K>
  static constexpr bool reduces_row = let<K>::shape == form::row_reduce && facts<let<K>::operand[0]>::sweep == Sweep;
  template <int Sweep, int K>
  TX_DEVICE void start_reduction() {
    constexpr int v = types::inputs + K;
    if constexpr (reduces_row<Sweep, K>) get<v>(x_) = let<K>::rule::template identity<type_of<v>>();
  }
  template <int Sweep, int K>
  TX_DEVICE void reduce(own_columns const& x, int i) {
    constexpr int v = types::inputs + K;
    if constexpr (reduces_row<Sweep, K>) get<v>(x_) = let<K>::rule::apply(get<v>(x_), value<let<K>::operand[0]>(x, i));
  }
  template <int Sweep, int K>
  TX_DEVICE void sum_columns(own_columns const& x, std::int64_t c) {
    if constexpr (sums_columns<K> && facts<let<K>::operand[0]>::sweep == Sweep) {
      using T = type_of<types::inputs + K>;
      auto sum = load_own<T, at_once>(sum_of<K>(c));
      TX_UNROLL
      for (int i = 0; i < at_once; ++i) sum.x[i] = let<K>::rule::apply(sum.x[i], get<let<K>::operand[0]>(x).x[i]);
      store_own<T, at_once>(sum_of<K>(c), sum);
    }
  }
  template <int Sweep, int K>
  TX_DEVICE void finish_reduction() {
    constexpr int v = types::inputs + K;
    if constexpr (reduces_row<Sweep, K>)
      get<v>(x_) = as_stored<types::types[v]>(team_.template combine<typename let<K>::rule>(get<v>(x_), b_.shared()));
  }

  template <int Sweep, int O>
  TX_DEVICE void store_columns_of(own_columns const& x, std::int64_t c) {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::map && !sig.per_row && facts<sig.value>::sweep == Sweep) {
      columns<register_t<sig.type>, at_once> out;
      TX_UNROLL
      for (int i = 0; i < at_once; ++i) out.x[i] = static_cast<register_t<sig.type>>(value<sig.value>(x, i));
      store_columns<sig.type, at_once>(to_[O] + c * size_of(sig.type), out, output<O>().wide);
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
      auto& sum = *reinterpret_cast<type_of<v>*>(sum_of<K>(0));
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
  std::int64_t first_, end_;           // columns of the block's piece
  std::byte const* product_;           // the head's results, from this row and column on
  std::int64_t product_row_, product_column_ = 0, product_stride_;  // elements
  std::byte* stash_ = nullptr;         // of the team
  std::byte* sums_ = nullptr;          // of the team
  std::int64_t sum_cols_ = 0;          // that a row of them has room for
  std::int64_t row_ = 0;
  std::int64_t columns_end_ = 0;       // of those that are read and written
  bool reads_numbers_ = false;  // of the row: by threads that have a column, and the one that finishes the row
  bool live_ = true;
  std::byte const* from_[types::inputs + 1];  // this row of inputs and outputs
  std::byte* to_[types::outputs + 1];
  typename types::registers x_;
};

}  // namespace tx::backends::device
