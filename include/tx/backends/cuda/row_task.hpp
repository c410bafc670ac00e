// A fused group as a task: rows for the blocks, and, where columns are summed, the sum of the shares' partial sums.
#pragma once

#include <tx/backends/cuda/row_body.hpp>

namespace tx::backends::cuda {

template <class F>
struct row_task {
  using types = detail::row_types<F>;
  static constexpr int first_input = types::has_product ? 1 : 0;
  static constexpr int sweeps = exec::row_schedule_of<F>.sweeps;
  static constexpr int stashes = exec::row_schedule_of<F>.stashes;
  static constexpr int element = exec::row_schedule_of<F>.element;
  static constexpr int column_sums = exec::row_schedule_of<F>.column_sums;
  static constexpr int row_sums = exec::row_schedule_of<F>.row_sums;
  static constexpr bool sums = column_sums + row_sums > 0;  // then block s takes share s, row by row

  struct arguments {
    std::int64_t rows = 0;                 // of the call: what shares are cut from
    std::int64_t first = 0, last = 0;      // of this launch
    std::int64_t cols = 0;
    philox_key key{};
    std::byte* scratch = nullptr;          // of share 0: stashed rows where shared memory is too small, then partial sums
    std::int64_t per_share = 0;            // bytes
    std::byte const* product = nullptr;    // row `first`, dense
    int team_size = warp;
    bool stash_in_shared = true;
    place operand[types::operands + 1]{};  // inputs but the product, then outputs
  };
  static_assert(sizeof(arguments) < most_arguments, "tx::cuda: a fused group has more operands than a kernel may be given");

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    row_body<F, Block> body(b, a);
    if constexpr (sums) {
      std::int64_t const begin = share_begin(a.rows, b.block());
      std::int64_t const end = share_begin(a.rows, b.block() + 1);
      if (a.first == 0) body.clear_sums();
      body.rows(begin > a.first ? begin : a.first, end < a.last ? end : a.last, 1);
    } else {
      int const teams = b.threads() / a.team_size;
      body.rows(a.first + std::int64_t{b.block()} * teams, a.last, std::int64_t{b.blocks()} * teams);
    }
  }

  // Where partial sums of share s lie, for let K.
  template <int K>
  static TX_DEVICE std::byte* sum_of(std::byte* scratch, std::int64_t cols) {
    using facts = detail::value_facts<F, types::inputs + K>;
    std::int64_t const row_bytes = scratch_row(cols, element);
    if constexpr (detail::value_facts<F, types::template let<K>::operand[0]>::by_column)
      return scratch + (stashes + facts::sum) * row_bytes;
    else
      return scratch + (stashes + column_sums) * row_bytes + facts::sum * element;
  }
};

// Column sums of the shares, added in order.
template <class F>
struct share_task {
  using rows = row_task<F>;
  using types = typename rows::types;

  struct arguments {
    std::byte* scratch = nullptr;
    std::int64_t per_share = 0;
    std::int64_t cols = 0;
    place out[types::outputs + 1]{};
  };

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    every(b, a, std::make_integer_sequence<int, types::outputs>{});
  }

 private:
  template <class Block, int... O>
  static TX_DEVICE void every(Block& b, arguments const& a, std::integer_sequence<int, O...>) {
    (add<O>(b, a), ...);
  }
  template <int O, class Block>
  static TX_DEVICE void add(Block& b, arguments const& a) {
    constexpr exec::out_sig sig = types::template out<O>::sig;
    if constexpr (sig.shape == form::col_reduce) {
      constexpr int let_number = sig.value - types::inputs;
      using let = typename types::template let<let_number>;
      using T = register_t<sig.type>;
      constexpr bool by_column = detail::value_facts<F, let::operand[0]>::by_column;  // else all columns have one sum
      std::int64_t const cols = sig.per_row ? 1 : a.cols;
      for (std::int64_t c = std::int64_t{b.block()} * b.threads() + b.thread(); c < cols; c += std::int64_t{b.blocks()} * b.threads()) {
        T total = let::rule::template identity<T>();
        for (int s = 0; s < shares; ++s)
          total = let::rule::apply(total, reinterpret_cast<T const*>(rows::template sum_of<let_number>(a.scratch + s * a.per_share, a.cols))[by_column ? c : 0]);
        store<sig.type>(a.out[O].at, c, total);
      }
    }
  }
};

}  // namespace tx::backends::cuda
