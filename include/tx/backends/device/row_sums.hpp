// Sums over rows on a device: those of a block's teams, then of groups of blocks, then of the groups. Each is added up in order, whichever block
// comes last, so results depend on nothing but the number of rows.
#pragma once

#include <tx/backends/device/place.hpp>
#include <tx/backends/device/row_cut.hpp>
#include <tx/backends/device/row_types.hpp>
#include <tx/backends/device/target.hpp>

namespace tx::backends::device {

template <class F>
struct row_task;

template <class F, class Block>
class row_sums_of {
  using task = row_task<F>;
  using types = typename task::types;
  template <int K>
  using let = typename types::template let<K>;
  template <int K>
  using type_of = register_t<types::types[types::inputs + K]>;
  template <int K>
  static constexpr bool by_column = detail::value_facts<F, let<K>::operand[0]>::by_column;
  using every_let = std::make_integer_sequence<int, types::lets>;
  using every_output = std::make_integer_sequence<int, types::outputs>;

 public:
  TX_DEVICE row_sums_of(Block& b, typename task::arguments const& a, int share, int shares, int piece)
      : b_(b), a_(a), share_(share), shares_(shares), piece_(piece), first_(piece * a.piece), end_(first_ + a.piece < a.cols ? first_ + a.piece : a.cols) {}

  // All threads of the block; its first `teams` teams have summed rows.
  TX_DEVICE void add(std::int64_t teams) {
    b_.sync();  // each thread has summed columns of its own; from here on they are others'
    if (a_.sums_in_shared) every<0>(every_let{}, static_cast<int>(teams), 0, 1);
    int const group = share_ / share_group, groups = (shares_ + share_group - 1) / share_group;
    int const left = shares_ - group * share_group, own = left < share_group ? left : share_group;
    std::uint32_t* const counters = a_.counters + piece_ * counters_of_piece;
    if (own > 1) {
      if (!b_.last_of(counters + 1 + group, own)) return;
      every<1>(every_let{}, own, group * share_group, 1);
    }
    if (groups > 1) {
      if (!b_.last_of(counters, groups)) return;
      every<1>(every_let{}, groups, 0, share_group);
    }
    if constexpr (repeats(every_output{})) b_.sync();
    store_all(every_output{});
  }

 private:
  TX_DEVICE std::byte* of_share(int share) const { return a_.scratch + share * a_.per_block + (a_.stash_in_shared ? 0 : task::stash_room(a_.cols)); }
  TX_DEVICE std::byte* of_team(int team) const {
    std::int64_t const stash = a_.stash_in_shared ? a_.teams * task::stash_room(a_.piece) : 0;
    return b_.shared() + combine_bytes + stash + team * task::sum_room(a_.piece);
  }

  // From: 0: teams of the block, to the block's place; 1: shares from `first` on, `apart`, to the place of the first.
  template <int From, int... K>
  TX_DEVICE void every(std::integer_sequence<int, K...>, int count, int first, int apart) {
    (one<From, K>(count, first, apart), ...);
  }
  template <int From, int K>
  TX_DEVICE void one(int count, int first, int apart) {
    if constexpr (let<K>::shape == form::col_reduce) {
      using T = type_of<K>;
      using rule = typename let<K>::rule;
      std::int64_t const cols = by_column<K> ? end_ - first_ : 1;
      std::int64_t const in_scratch = by_column<K> ? first_ : 0;
      for (std::int64_t c = b_.thread(); c < cols; c += b_.threads()) {
        T total = rule::template identity<T>();
        for (int s = 0; s < count; ++s) {
          T const* const from = From == 0 ? reinterpret_cast<T const*>(of_team(s) + task::template sum_at<K>(a_.piece)) + c
                                          : reinterpret_cast<T const*>(of_share(first + s * apart) + task::template sum_at<K>(a_.cols)) + in_scratch + c;
          total = rule::apply(total, *from);
        }
        reinterpret_cast<T*>(of_share(From == 0 ? share_ : first) + task::template sum_at<K>(a_.cols))[in_scratch + c] = total;
      }
    }
  }

  // Is a number that one thread has added up stored by all, for each column?
  template <int... O>
  static constexpr bool repeats(std::integer_sequence<int, O...>) {
    return (repeats_one<O>() || ...);
  }
  template <int O>
  static constexpr bool repeats_one() {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::col_reduce) return !sig.per_row && !by_column<sig.value - types::inputs>;
    else return false;
  }
  template <int... O>
  TX_DEVICE void store_all(std::integer_sequence<int, O...>) {
    (store_one<O>(), ...);
  }
  // A launch may have a band of the rows: what the bands before it gave lies behind the last share.
  template <int O>
  TX_DEVICE void store_one() {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::col_reduce) {
      constexpr int k = sig.value - types::inputs;
      using T = type_of<k>;
      auto const* const total = reinterpret_cast<T const*>(of_share(0) + task::template sum_at<k>(a_.cols));
      auto* const before = reinterpret_cast<T*>(of_share(shares_of(a_.rows)) + task::template sum_at<k>(a_.cols));
      std::int64_t const end = sig.per_row ? 1 : end_;
      for (std::int64_t c = first_ + b_.thread(); c < end; c += b_.threads()) {
        std::int64_t const from = by_column<k> ? c : 0;
        T x = total[from];
        if (a_.first > 0) x = let<k>::rule::apply(before[from], x);
        if (by_column<k> && a_.last < a_.rows) before[from] = x;
        store<sig.type>(operand(O).at, c, x);
      }
      if constexpr (!by_column<k>) {
        if (a_.last < a_.rows) {
          b_.sync();
          if (b_.thread() == 0) before[0] = a_.first > 0 ? let<k>::rule::apply(before[0], total[0]) : total[0];
        }
      }
    }
  }
  TX_DEVICE place const& operand(int output) const { return a_.operand[types::inputs - task::first_input + output]; }

  Block& b_;
  typename task::arguments const& a_;
  int share_, shares_, piece_;
  std::int64_t first_, end_;  // columns
};

}  // namespace tx::backends::device
