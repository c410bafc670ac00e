// One thread's share of a fused group: a team of threads takes a row, its threads take columns, some at a time: a step. What a value is and in which
// sweep it is computed, exec::row_sweeps says, as for every backend. A row is held in registers, or each sweep reads it (row_held.hpp).
#pragma once

#include <tx/backends/device/place.hpp>
#include <tx/backends/device/row_team.hpp>
#include <tx/backends/device/target.hpp>

namespace tx::backends::device {

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
  static constexpr held_rows held = task::held;
  // What is read of a step: for a sweep, or for all of them.
  template <int Sweep>
  using fetched = detail::fetched_inputs<F, held.any() ? detail::any_sweep : Sweep, at_once>;
  template <int K>
  using let = typename types::template let<K>;
  using every_input = std::make_integer_sequence<int, types::inputs>;
  using every_value = std::make_integer_sequence<int, types::values>;
  using every_let = std::make_integer_sequence<int, types::lets>;
  using every_output = std::make_integer_sequence<int, types::outputs>;

 public:
  // Block number `share` over rows, number `piece` over columns.
  TX_DEVICE row_body(Block& b, typename task::arguments const& a, int share, int piece)
      : b_(b), a_(a), team_(b, a.team_log, piece * a.piece, (piece + 1) * a.piece < a.cols ? (piece + 1) * a.piece : a.cols), product_(a.product), product_row_(static_cast<int>(a.first)), product_stride_(a.cols) {
    begin_block();
    std::byte* const scratch = a.scratch + share * a.per_block;
    std::byte* const shared = b.shared() + combine_bytes;
    int const index = team_.threads.index();
    stash_ = a.stash_in_shared ? shared + index * task::stash_room(a.piece) : scratch;
    if constexpr (task::sums) {
      if (a.sums_in_shared) sums_.lie_at(shared + (a.stash_in_shared ? a.teams * task::stash_room(a.piece) : 0) + index * task::sum_room(a.piece), a.piece, team_.first);
      else sums_.lie_at(scratch + (a.stash_in_shared ? 0 : task::stash_room(a.cols)), a.cols, 0);
    }
  }

  // A part of a product's results, by an epilogue that works element by element: columns [first, end) of rows that lie in `results`, which begin at row
  // `first_row` and column `first`, rows `stride` elements apart.
  TX_DEVICE row_body(Block& b, typename task::arguments const& a, std::byte const* results, std::int64_t first_row, std::int64_t first, std::int64_t end, std::int64_t stride)
      : b_(b), a_(a), team_(b, a.team_log, first, end), product_(results), product_row_(static_cast<int>(first_row)), product_column_(first), product_stride_(stride) {
    begin_block();
  }

  // Rows begin + the team's number, then each `apart` rows; every thread of the block comes here with the same numbers.
  TX_DEVICE void rows(std::int64_t begin, std::int64_t end, std::int64_t apart) {
    int const index = team_.threads.index(), all = static_cast<int>(end - begin);
    for (int base = 0; base < all; base += static_cast<int>(apart)) {
      live_ = base + index < all;
      row_ = static_cast<int>(begin) + (live_ ? base + index : 0);  // a team without a row of its own only meets the others: it reads and stores nothing
      columns_end_ = live_ ? team_.end : team_.first;
      reads_numbers_ = live_ && (team_.lane == 0 || team_.column_of(0) < columns_end_);
      start(every_input{});
      start_outputs(every_output{});
      if constexpr (held.any()) hold(every_input{});
      all_sweeps(std::make_integer_sequence<int, task::sweeps>{});
      if (live_ && team_.lane == 0) finish_row(every_let{}, every_output{});
    }
  }

  TX_DEVICE void clear_sums() { sums_.clear(team_); }
  TX_DEVICE void hand_over_sums() { sums_.hand_over(team_); }

 private:
  // Asks memory for all of the row.
  template <int... V>
  TX_DEVICE void hold(std::integer_sequence<int, V...>) {
    TX_UNROLL
    for (int k = 0; k < held.steps; ++k)
      if (live_ && team_.has(k)) (fetch<detail::any_sweep, V>(held_[k], team_.column_of(k)), ...);
  }
  // What is the same for all rows.
  TX_DEVICE void begin_block() {
    if constexpr (types::draws) step_ = *a_.step;
    constants(every_input{});
  }
  template <int... V>
  TX_DEVICE void constants(std::integer_sequence<int, V...>) {
    (constant<V>(), ...);
  }
  template <int V>
  TX_DEVICE void constant() {
    if constexpr (types::template in<V>::sig.how == access::constant) {
      if constexpr (std::is_same_v<type_of<V>, float>) get<V>(x_) = operand<V>().single;
      else get<V>(x_) = static_cast<type_of<V>>(operand<V>().value);
    }
  }
  // Where the row lies.
  TX_DEVICE std::byte* row_of(place const& p, std::int64_t size) const {
    if constexpr (held.any()) return p.at + std::uint64_t{static_cast<std::uint32_t>(row_)} * p.row_bytes;
    else return p.at + p.row_offset(row_) * size;
  }

  // Numbers of the row; all threads of the team have read them before one writes over them.
  template <int... V>
  TX_DEVICE void start(std::integer_sequence<int, V...>) {
    (start_input<V>(), ...);
    if constexpr (((types::template in<V>::sig.how == access::row) || ...) && writes_numbers(every_output{})) {
      // A reduction makes the warps of a larger team meet before the row is finished.
      if (team_.threads.size() <= warp) b_.sync_warp();
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
    if constexpr (sig.how == access::row) {
      get<V>(x_) = reads_numbers_ ? load<sig.type>(row_of(operand<V>(), size_of(sig.type)), 0) : type_of<V>{};
    } else if constexpr (sig.how == access::contiguous || sig.how == access::strided) {
      from_[V] = row_of(operand<V>(), size_of(sig.type));
    } else if constexpr (sig.how == access::product) {
      from_[V] = product_ + ((row_ - product_row_) * product_stride_ - product_column_) * (a_.product_rounded ? size_of(detail::type_of_product<F>) : size_of(sig.type));
    } else if constexpr (sig.how == access::position) {
      get<V>(x_) = operand<V>().rank != 0 ? static_cast<type_of<V>>(operand<V>().position(row_)) : type_of<V>{};
    }
  }
  template <int... O>
  TX_DEVICE void start_outputs(std::integer_sequence<int, O...>) {
    (start_output<O>(), ...);
  }
  template <int O>
  TX_DEVICE void start_output() {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::map && !sig.per_row) to_[O] = row_of(output<O>(), size_of(sig.type));
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
      if constexpr (held.any()) {
        TX_UNROLL
        for (int k = 0; k < held.steps; ++k)
          if (live_ && team_.has(k)) step<Sweep>(held_[k], k, team_.column_of(k), every_value{}, every_let{}, every_output{});
      } else {
        read_and_step<Sweep, V...>();
      }
      (finish_reduction<Sweep, K>(), ...);
    }
  }
  // All of several steps is asked for before the first of it is waited for: a thread waits for memory once for them.
  template <int Sweep, int... V>
  TX_DEVICE void read_and_step() {
    constexpr int ahead = detail::steps_ahead<F, Sweep, at_once>;
    int const apart = team_.apart();
    for (int c = team_.column_of(0); c < columns_end_; c += ahead * apart) {
      fetched<Sweep> from_memory[ahead];
      TX_UNROLL
      for (int k = 0; k < ahead; ++k)
        if (k == 0 || c + k * apart < columns_end_) (fetch<Sweep, V>(from_memory[k], c + k * apart), ...);
      TX_UNROLL
      for (int k = 0; k < ahead; ++k)
        if (k == 0 || c + k * apart < columns_end_) step<Sweep>(from_memory[k], 0, c + k * apart, every_value{}, every_let{}, every_output{});
    }
  }
  // Columns c and those behind it, step k of a row that is held.
  template <int Sweep, int... V, int... K, int... O>
  TX_DEVICE void step(fetched<Sweep> const& from_memory, int k, int c, std::integer_sequence<int, V...>, std::integer_sequence<int, K...>, std::integer_sequence<int, O...>) {
    own_columns x;
    (begin<Sweep, V>(x, from_memory, k, c), ...);
    TX_UNROLL
    for (int i = 0; i < at_once; ++i) {
      (compute<Sweep, V>(x, i), ...);
      (reduce<Sweep, K>(x, i), ...);
    }
    (keep<Sweep, V>(x, k, c), ...);
    (sum_columns<Sweep, K>(x, k, c), ...);
    (store_columns_of<Sweep, O>(x, c), ...);
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
  TX_DEVICE std::byte* stashed(int c) const {
    return stash_ + facts<V>::stash * detail::kept_row_of<F>(a_.stash_in_shared ? a_.piece : a_.cols) + (c - team_.first) * static_cast<std::int64_t>(sizeof(type_of<V>));
  }

  // Asks memory for columns c and those behind it.
  template <int Sweep, int V>
  TX_DEVICE void fetch(detail::fetched_inputs<F, Sweep, at_once>& to, int c) const {
    if constexpr (detail::fetches<F, Sweep, V>) {
      constexpr exec::in_sig sig = types::template in<V>::sig;
      if constexpr (sig.how == access::strided) {
        get<V>(to).as_stored = fetch_apart<sig.type, at_once>(from_[V] + c * operand<V>().col * size_of(sig.type), operand<V>().col);
      } else {
        if constexpr (detail::may_be_rounded<F, V>) {
          constexpr dtype rounded = detail::type_of_product<F>;
          if (a_.product_rounded) {
            get<V>(to).as_rounded = fetch_columns<rounded, at_once>(from_[V] + c * size_of(rounded));
            return;
          }
        }
        get<V>(to).as_stored = fetch_columns<sig.type, at_once>(from_[V] + c * size_of(sig.type));
      }
    }
  }
  // What a step begins with: columns from memory, or kept by an earlier sweep, positions and random numbers.
  template <int Sweep, int V>
  TX_DEVICE void begin(own_columns& x, fetched<Sweep> const& from_memory, int k, int c) {
    constexpr bool wanted = detail::demand_in<F, Sweep>.value[V];
    if constexpr (!wanted) {
    } else if constexpr (detail::fetches<F, Sweep, V>) {
      if constexpr (detail::may_be_rounded<F, V>) get<V>(x) = a_.product_rounded ? get<V>(from_memory).as_rounded.widened() : get<V>(from_memory).as_stored.widened();
      else get<V>(x) = get<V>(from_memory).as_stored.widened();
    } else if constexpr (V < types::inputs) {
      constexpr exec::in_sig sig = types::template in<V>::sig;
      if constexpr (sig.how == access::random) {
        draw<V>(get<V>(x), operand<V>(), static_cast<std::uint32_t>(c));
      } else {
        TX_UNROLL
        for (int i = 0; i < at_once; ++i) get<V>(x).x[i] = operand<V>().rank == 0 ? static_cast<type_of<V>>(c + i) : get<V>(x_);
      }
    } else if constexpr (detail::demand_in<F, Sweep>.from_stash[V]) {
      if constexpr (held.any()) get<V>(x) = get<V>(kept_[k]);
      else get<V>(x) = load_own<type_of<V>, at_once>(stashed<V>(c));
    }
  }
  // A block of random numbers is four columns.
  template <int V>
  TX_DEVICE void draw(columns<type_of<V>, at_once>& out, place const& p, std::uint32_t c) {
    std::uint64_t const row = p.rows(row_);
    philox_stream const stream{p.stream.low, p.stream.high + step_};
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
  TX_DEVICE void keep(own_columns const& x, int k, int c) {
    if constexpr (V >= types::inputs && detail::demand_in<F, Sweep>.value[V] && !detail::demand_in<F, Sweep>.from_stash[V] && facts<V>::stash >= 0 && facts<V>::sweep == Sweep) {
      if constexpr (held.any()) get<V>(kept_[k]) = get<V>(x);
      else store_own<type_of<V>, at_once>(stashed<V>(c), get<V>(x));
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
  TX_DEVICE void reduce(own_columns const& x, int i) {
    constexpr int v = types::inputs + K;
    if constexpr (reduces_row<Sweep, K>) get<v>(x_) = let<K>::rule::apply(get<v>(x_), value<let<K>::operand[0]>(x, i));
  }
  template <int Sweep, int K>
  TX_DEVICE void sum_columns(own_columns const& x, int k, int c) {
    if constexpr (detail::sums_columns<F, K> && facts<let<K>::operand[0]>::sweep == Sweep) sums_.template add<K>(get<let<K>::operand[0]>(x), k, c);
  }
  template <int Sweep, int K>
  TX_DEVICE void finish_reduction() {
    constexpr int v = types::inputs + K;
    if constexpr (reduces_row<Sweep, K>)
      get<v>(x_) = as_stored<types::types[v]>(team_.threads.template combine<typename let<K>::rule>(get<v>(x_), b_.shared()));
  }

  template <int Sweep, int O>
  TX_DEVICE void store_columns_of(own_columns const& x, int c) {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::map && !sig.per_row && facts<sig.value>::sweep == Sweep) {
      columns<register_t<sig.type>, at_once> out;
      TX_UNROLL
      for (int i = 0; i < at_once; ++i) out.x[i] = static_cast<register_t<sig.type>>(value<sig.value>(x, i));
      store_columns<sig.type, at_once>(to_[O] + c * size_of(sig.type), out, true);
    }
  }
  template <int... K, int... O>
  TX_DEVICE void finish_row(std::integer_sequence<int, K...>, std::integer_sequence<int, O...>) {
    (sum_row<K>(), ...);
    (store_row<O>(), ...);
  }
  template <int K>
  TX_DEVICE void sum_row() {
    if constexpr (let<K>::shape == form::col_reduce && !detail::sums_columns<F, K>) sums_.template add_number<K>(get<let<K>::operand[0]>(x_));
  }
  template <int O>
  TX_DEVICE void store_row() {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::map && sig.per_row) {
      place const& p = output<O>();
      store<sig.type>(row_of(p, size_of(sig.type)), 0, get<sig.value>(x_));
    }
  }

  Block& b_;
  typename task::arguments const& a_;
  row_team<F, Block> team_;
  std::byte const* product_;    // the head's results, from this row and column on
  int product_row_;
  std::int64_t product_column_ = 0, product_stride_;  // elements
  std::byte* stash_ = nullptr;         // of the team
  team_sums<F, Block> sums_;
  int row_ = 0;
  std::uint32_t step_ = 0;      // of the random streams
  int columns_end_ = 0;         // of those that are read and written
  bool reads_numbers_ = false;  // of the row: by threads that have a column, and the one that finishes the row
  bool live_ = true;
  std::byte const* from_[types::inputs + 1];  // this row of inputs and outputs
  std::byte* to_[types::outputs + 1];
  typename types::registers x_;
  // Of a row that is held: one of each step.
  static constexpr int steps_held = held.any() ? held.steps : 1;
  detail::fetched_inputs<F, detail::any_sweep, at_once> held_[steps_held];
  detail::kept_values<F, at_once> kept_[steps_held];
};

}  // namespace tx::backends::device
