// How rows and columns of a fused group are cut into blocks and teams of threads: on the host, by the same formulas for every device.
#pragma once

#include <tx/backends/device/target.hpp>
#include <tx/backends/device/vocabulary.hpp>

namespace tx::backends::device {

// How many threads have a row that lies in registers (row_held.hpp), in how many steps each, and into how many pieces of so many columns it is cut.
struct held_rows {
  int team_size = 0, steps = 0, pieces = 1;  // 0: the row does not
  constexpr bool any() const { return steps > 0; }
};

// What of a kernel decides it.
struct row_facts {
  exec::row_buffers kept{};
  int at_once = 1;            // columns of a thread
  bool whole_rows = true;     // a row has numbers of its own, so that one team does all of it
  held_rows held{};
};

struct row_cut {
  int team_size = 1, teams = 1;  // threads of a row, and rows at once in a block
  int blocks = 1;                // over rows
  int pieces = 1;                // over columns: of so many each
  std::int64_t piece = 0;
  bool stash_in_shared = true, sums_in_shared = true;
  std::int64_t shared_bytes = 0;
};

inline constexpr std::int64_t piece_columns = 2048;  // where rows are cut; more than max_pieces of them are longer
inline constexpr int counters_of_piece = 1 + most_shares / share_group;
inline constexpr int most_pieces = counter_words / counters_of_piece;

// Fewer teams, where shared memory has no room for so many bytes of each; a warp's at least.
constexpr void fit_teams(row_cut& c, std::int64_t of_team) {
  while (c.teams > 1 && c.teams * c.team_size > warp && combine_bytes + c.teams * of_team > most_shared) c.teams /= 2;
}
// So many rows at once in each block.
constexpr int blocks_over(exec::row_buffers const& kept, std::int64_t rows, int teams) {
  std::int64_t const in_turns = (rows + teams - 1) / teams;
  return sums_over_rows(kept) ? shares_of(rows) : static_cast<int>(in_turns < most_blocks ? in_turns : most_blocks);
}

inline constexpr int held_threads = 128;  // of a block whose rows are held: threads with so many registers come in smaller blocks

// Of rows that are held.
constexpr row_cut cut_held(row_facts const& k, std::int64_t rows, std::int64_t cols) {
  row_cut c{};
  c.team_size = k.held.team_size;
  c.pieces = k.held.pieces;
  c.piece = c.pieces == 1 ? cols : std::int64_t{k.held.steps} * k.held.team_size * k.at_once;
  c.teams = c.team_size < held_threads ? held_threads / c.team_size : 1;
  std::int64_t const sum = sum_bytes(k.kept, c.piece);
  fit_teams(c, sum);
  c.sums_in_shared = combine_bytes + c.teams * sum <= most_shared;
  if (!c.sums_in_shared) c.teams = 1;
  c.shared_bytes = combine_bytes + (c.sums_in_shared ? c.teams * sum : 0);
  c.blocks = blocks_over(k.kept, rows, c.teams);
  return c;
}

// Of `rows` rows, which a launch has, of `cols` columns.
constexpr row_cut cut_rows(row_facts const& k, std::int64_t rows, std::int64_t cols) {
  if (k.held.any()) return cut_held(k, rows, cols);
  row_cut c{};
  c.piece = cols;
  if (!k.whole_rows && cols > 2 * piece_columns) {
    std::int64_t const pieces = (cols + piece_columns - 1) / piece_columns;
    c.pieces = static_cast<int>(pieces < most_pieces ? pieces : most_pieces);
    c.piece = ((cols + c.pieces - 1) / c.pieces + whole_columns - 1) / whole_columns * whole_columns;  // whole ones of those that a thread computes at once
    c.pieces = static_cast<int>((cols + c.piece - 1) / c.piece);
  }
  // Narrow rows share a warp, medium ones a block; a row is never shared by blocks.
  std::int64_t const steps = (c.piece + k.at_once - 1) / k.at_once;
  while (c.team_size < most_threads && (c.team_size < warp ? c.team_size < steps : steps > 8 * c.team_size)) c.team_size *= 2;
  std::int64_t const stash = stash_bytes(k.kept, c.piece), sum = sum_bytes(k.kept, c.piece);
  while (c.team_size >= warp && c.team_size < most_threads && c.team_size < steps && stash + sum > c.team_size / warp * shared_of_warp) c.team_size *= 2;
  c.teams = most_threads / c.team_size;
  fit_teams(c, stash + sum);
  if (combine_bytes + c.teams * (stash + sum) > most_shared) {  // one row at a time
    c.team_size = most_threads;
    c.teams = 1;
    c.stash_in_shared = stash_fits(k.kept, c.piece);
    c.sums_in_shared = combine_bytes + (c.stash_in_shared ? stash : 0) + sum <= most_shared;
  }
  c.shared_bytes = combine_bytes + (c.stash_in_shared ? c.teams * stash : 0) + (c.sums_in_shared ? c.teams * sum : 0);
  c.blocks = blocks_over(k.kept, rows, c.teams);
  if (!c.stash_in_shared && c.blocks > blocks_with_scratch(k.kept, rows)) c.blocks = blocks_with_scratch(k.kept, rows);
  return c;
}

}  // namespace tx::backends::device
