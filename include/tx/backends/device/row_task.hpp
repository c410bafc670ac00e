// A fused group as a task: rows for the blocks, and, where rows are summed, a share of them for each block. The last blocks to end add up what
// the shares give, group by group.
#pragma once

#include <tx/backends/device/row_body.hpp>
#include <tx/backends/device/row_sums.hpp>

namespace tx::backends::device {

template <class F>
struct row_task {
  using body = F;
  using types = detail::row_types<F>;
  static constexpr auto const& sweeping = exec::row_sweeps_of<F>;
  static constexpr int first_input = types::has_product ? 1 : 0;
  static constexpr int sweeps = sweeping.sweeps;
  static constexpr held_rows held = detail::held_of<F>;
  static constexpr int stashes = held.any() ? 0 : sweeping.stashes;  // rows in shared memory, or in scratch
  static constexpr int element = sweeping.element;
  static constexpr int column_sums = sweeping.column_sums;
  static constexpr int row_sums = sweeping.row_sums;
  static constexpr bool sums = column_sums + row_sums > 0;
  static constexpr int at_once = detail::columns_at_once<F>;
  static constexpr int threads = most_threads;

  struct arguments {
    std::int64_t first = 0, last = 0;      // rows of this launch
    std::int64_t rows = 0;                 // of the call
    std::int64_t cols = 0;
    std::int64_t piece = 0;                // columns of a block
    philox_key key{};
    std::uint32_t const* step = nullptr;   // of the random streams
    std::byte* scratch = nullptr;          // of block 0: stashed rows where shared memory is too small, then sums
    std::int64_t per_block = 0;            // bytes
    std::uint32_t* counters = nullptr;
    std::byte const* product = nullptr;    // row `first`, dense
    bool product_rounded = false;          // to type_of_product
    int team_log = 0, teams = 1;           // 1 << team_log threads of a row, and rows at once in a block
    divider pieces;                        // of columns
    bool stash_in_shared = true, sums_in_shared = true;
    place operand[types::operands + 1]{};  // inputs but the product, then outputs
  };
  static_assert(sizeof(arguments) < most_arguments, "tx: a fused group has more operands than a kernel may be given");

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    int const share = static_cast<int>(a.pieces.quotient(static_cast<std::uint32_t>(b.block()))), shares = static_cast<int>(a.pieces.quotient(static_cast<std::uint32_t>(b.blocks())));
    int const piece = b.block() - share * static_cast<int>(a.pieces.by);
    int const teams = a.teams;
    row_body<F, Block> body(b, a, share, piece);
    if constexpr (sums) {
      std::int64_t const begin = a.first + share_begin(a.last - a.first, share, shares), end = a.first + share_begin(a.last - a.first, share + 1, shares);
      body.clear_sums();
      body.rows(begin, end, teams);
      body.hand_over_sums();
      row_sums_of<F, Block>(b, a, share, shares, piece).add(end - begin < teams ? end - begin : teams);
    } else {
      body.rows(a.first + std::int64_t{share} * teams, a.last, std::int64_t{shares} * teams);
    }
  }

  static TX_DEVICE std::int64_t stash_room(std::int64_t cols) { return stashes * detail::kept_row_of<F>(cols); }
  // Of one team, or of a block in scratch: full rows, then single numbers.
  static TX_DEVICE std::int64_t sum_room(std::int64_t cols) {
    return column_sums * detail::kept_row_of<F>(cols) + (row_sums > 0 ? (row_sums * element + 63) / 64 * 64 : 0);
  }
  // Where in it let K has its sum, of rows that are `cols` long.
  template <int K>
  static TX_DEVICE std::int64_t sum_at(std::int64_t cols) {
    using facts = detail::value_facts<F, types::inputs + K>;
    if constexpr (detail::value_facts<F, types::template let<K>::operand[0]>::by_column) return facts::sum * detail::kept_row_of<F>(cols);
    else return column_sums * detail::kept_row_of<F>(cols) + facts::sum * element;
  }
};

}  // namespace tx::backends::device
