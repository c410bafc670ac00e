// The kernels of a device backend: each call becomes launches of tasks. `Device` launches them; see vocabulary.hpp.
#pragma once

#include <tx/backends/device/library.hpp>
#include <tx/backends/device/product_task.hpp>
#include <tx/backends/device/row_cut.hpp>
#include <tx/backends/device/row_task.hpp>
#include <tx/backends/device/together_task.hpp>
#include <tx/core/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace tx::backends::device {

namespace detail {

constexpr std::int64_t lower_of(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t upper_of(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
constexpr int blocks_for(std::int64_t items, std::int64_t each) {
  return static_cast<int>(lower_of((items + each - 1) / each, most_blocks));
}

template <class F>
inline constexpr row_facts row_facts_of{exec::row_sweeps_of<F>, row_task<F>::at_once, whole_rows<F>, held_of<F>};

// All but how the rows are cut.
template <class F>
typename row_task<F>::arguments row_arguments(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
  using task = row_task<F>;
  typename task::arguments a{};
  a.rows = c.rows;
  a.cols = c.cols;
  a.key = f.key;
  a.step = f.step_in_memory();
  a.scratch = f.scratch(c);
  a.per_block = block_scratch(exec::row_sweeps_of<F>, c.cols);
  a.counters = f.counters();
  for (int i = 0; i < task::types::operands; ++i) a.operand[i] = place::of(f, operands[i]);
  return a;
}

// Rows [first, last) of a fused group, cut as `cut` has it.
template <class F>
typename row_task<F>::arguments arguments_of_rows(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands, std::int64_t first, std::int64_t last, row_cut const& cut) {
  if (c.rows > most_rows) throw shape_error("device: a kernel over " + std::to_string(c.rows) + " rows. FIX: up to " + std::to_string(most_rows) + ", as parts of a batch: tx::accumulate<parts>");
  if (c.cols > most_columns) throw shape_error("device: a kernel over rows of " + std::to_string(c.cols) + " columns. FIX: up to " + std::to_string(most_columns) + ", as parts of a batch: tx::accumulate<parts>");
  auto a = row_arguments<F>(f, c, operands);
  a.first = first;
  a.last = last;
  a.piece = cut.piece;
  a.team_log = log_of(cut.team_size);
  a.teams = cut.teams;
  a.pieces = divider(static_cast<std::uint32_t>(cut.pieces));
  a.stash_in_shared = cut.stash_in_shared;
  a.sums_in_shared = cut.sums_in_shared;
  return a;
}

// `product`: where its head's rows lie, from `first` on.
template <class Device, class F>
void launch_rows(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands, std::int64_t first, std::int64_t last,
                 std::byte const* product = nullptr, bool product_rounded = false) {
  using task = row_task<F>;
  if (!task::sums && first == last) return;
  row_cut const cut = cut_rows(row_facts_of<F>, last - first, c.cols);
  auto a = arguments_of_rows<F>(f, c, operands, first, last, cut);
  a.product = product;
  a.product_rounded = product_rounded;
  Device::template launch<task>(cut.blocks * cut.pieces, cut.teams * cut.team_size, cut.shared_bytes, a);
}

// Calls of a group of single elements, which share nothing, as few launches.
template <class Device, class F>
void launch_together(exec::frame const& f, std::span<exec::started_call const> calls) {
  using task = together_task<row_task<F>>;
  static_assert(!row_task<F>::sums && row_task<F>::stashes == 0);  // so that each block has most_threads, whatever the rows
  typename task::arguments all{};
  auto const launch = [&] {
    if (all.count > 0) Device::template launch<task>(all.end[all.count - 1], most_threads, combine_bytes, all);
    all.count = 0;
  };
  for (exec::started_call const& s : calls) {
    if (s.of->rows == 0) continue;
    row_cut const cut = cut_rows(row_facts_of<F>, s.of->rows, s.of->cols);
    all.part[all.count] = arguments_of_rows<F>(f, *s.of, s.operands, 0, s.of->rows, cut);
    all.end[all.count] = (all.count > 0 ? all.end[all.count - 1] : 0) + cut.blocks * cut.pieces;
    if (++all.count == task::most) launch();
  }
  launch();
}

}  // namespace detail

template <class Device, class Signature>
struct kernel;

template <class Device, int Columns, class Ins, class Lets, class Outs>
struct kernel<Device, exec::fused<Columns, Ins, Lets, Outs>> {
  using body = exec::fused<Columns, Ins, Lets, Outs>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    detail::launch_rows<Device, body>(f, c, operands, f.first_row(c), f.end_row(c));
  }
  static void run_together(exec::frame const& f, std::span<exec::started_call const> calls) {
    if constexpr (exec::row_sweeps_of<body>.by_element) detail::launch_together<Device, body>(f, calls);
    else for (exec::started_call const& s : calls) run(f, *s.of, s.operands);
  }
};

// Matrices of the batch that are the band's, else all. An epilogue that works element by element runs on each tile; for any other the product goes to
// scratch first, and what is no epilogue at all straight to where it belongs.
template <class Device, dtype D, class Epilogue>
struct kernel<Device, exec::gemm<D, Epilogue>> {
  using rows_task = row_task<Epilogue>;
  using plain_task = product_task<D, Device::units>;
  using types = typename rows_task::types;
  static constexpr auto const& sweeping = exec::row_sweeps_of<Epilogue>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    exec::operand_ref const* const others = operands + 2;
    if constexpr (has_library<Device>)
      if (by_library(f, c, operands)) return;
    if constexpr (types::lets == 0 && types::outputs == 1) {
      exec::operand_ref const& output = others[types::inputs - 1];
      if (output.type == sum_type(D) && (c.cols <= 1 || output.col == 1)) {
        auto a = product_of<plain_task>(f, c, operands);
        a.to = place::of(f, output);
        launch<plain_task>(f, c, a);
        return;
      }
    }
    if constexpr (sweeping.by_element) {
      using task = product_task<D, Device::units, rows_task>;
      auto a = product_of<task>(f, c, operands);
      a.epilogue = detail::row_arguments<Epilogue>(f, c, others);
      constexpr int team_size = static_cast<int>(detail::lower_of(task::core::tile / rows_task::at_once, task::threads));
      a.epilogue.team_log = log_of(team_size);
      a.epilogue.teams = task::threads / team_size;
      launch<task>(f, c, a);
    } else {
      auto a = product_of<plain_task>(f, c, operands);
      a.to.at = f.scratch(c) + row_scratch(sweeping, c);
      a.to.rank = 1;
      a.to.stride[0] = c.cols;
      a.to_first = f.first_row(c);
      launch<plain_task>(f, c, a);
      detail::launch_rows<Device, Epilogue>(f, c, others, f.first_row(c), f.end_row(c), a.to.at);
    }
  }
  static void run_together(exec::frame const& f, std::span<exec::started_call const> calls) {
    if constexpr (has_library<Device>) by_library_together(f, calls);
    else for (exec::started_call const& s : calls) run(f, *s.of, s.operands);
  }

 private:
  static constexpr dtype to_type = detail::type_of_product<Epilogue>;
  static constexpr bool rounds = is_half(D) && to_type == D;  // what is handed on is of halves

  // Of a product that the library takes; its results go to scratch.
  static library_product asked(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    std::byte* const first = f.scratch(c) + row_scratch(sweeping, c);
    std::byte* const scratch = first + (-reinterpret_cast<std::uintptr_t>(first) & (workspace_alignment - 1));
    return {D, rounds ? D : sum_type(D), c.rows, c.cols, c.depth, f.at<std::byte>(operands[0]), operands[0].row, operands[0].col, f.at<std::byte>(operands[1]), operands[1].row, operands[1].col,
            scratch + library_workspace, c.cols, scratch};
  }
  // Is it one row for all rows of results?
  static bool is_same_row(exec::call const& c, exec::operand_ref const& row) { return row.rank == 0 || (row.rank == 1 && (row.stride[0] == 0 || c.rows == 1)); }
  // Does the library do all of it, straight to where it belongs? Then `of` is told what follows the product.
  static bool is_all([[maybe_unused]] library_product& of, [[maybe_unused]] exec::frame const& f, exec::call const& c, exec::operand_ref const* others) {
    constexpr product_end end = detail::end_of_product<Epilogue, D>;
    if constexpr (!end.known) return false;
    exec::operand_ref const& output = others[types::inputs - 1];
    if (output.col != 1 || output.rank != 1) return false;
    library_product p = of;
    [[maybe_unused]] auto const operand = [&](int number) -> exec::operand_ref const& { return others[number - 1]; };
    if constexpr (end.row_scales > 0) {
      exec::operand_ref const &rows = operand(end.row_scales), &columns = operand(end.column_scales);
      bool const side_by_side = (c.rows == 1 || (rows.rank == 1 && rows.stride[0] == 1)) && columns.col == 1 && is_same_row(c, columns);
      if (!side_by_side) return false;
      p.row_scales = f.at<std::byte>(rows);
      p.column_scales = f.at<std::byte>(columns);
    }
    if constexpr (end.row > 0) {
      exec::operand_ref const& row = operand(end.row);
      if (row.col != 1 || !is_same_row(c, row)) return false;
      p.row = f.at<std::byte>(row);
    }
    if constexpr (end.added > 0) {
      exec::operand_ref const& more = operand(end.added);
      if (more.col != 1 || more.rank != 1 || more.stride[0] < c.cols) return false;  // a row of its own for each row of results: a bias has none
      p.added = f.at<std::byte>(more);
      p.added_apart = more.stride[0];
    }
    p.to = f.at<std::byte>(output);
    p.to_type = end.to;
    p.apart = output.stride[0];
    of = p;
    return true;
  }
  // Where the library takes the product: straight to where it belongs, else to scratch, from which rows go on.
  static bool by_library(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    exec::operand_ref const* const others = operands + 2;
    if (!takes_product(D, c) || f.band_count > 0) return false;
    library_product p = asked(f, c, operands);
    std::byte* const results = p.to;
    if (is_all(p, f, c, others)) {
      if (Device::multiply(p)) return true;
      if (p.row_scales == nullptr) return false;
      p = asked(f, c, operands);  // a library that has no scales for rows and columns
    }
    if (sweeping.by_element && !epilogue_follows(D, c)) return false;
    if (!Device::multiply(p)) return false;
    detail::launch_rows<Device, Epilogue>(f, c, others, f.first_row(c), f.end_row(c), results, rounds);
    return true;
  }
  // Neighbours among them, which are alike and at equal distances, in one call of the library each; what is none of such by itself.
  static void by_library_together(exec::frame const& f, std::span<exec::started_call const> calls) {
    std::vector<library_product> products;
    std::vector<exec::started_call> theirs;
    for (exec::started_call const& s : calls) {
      if (takes_product(D, *s.of)) {
        library_product p = asked(f, *s.of, s.operands);
        if (is_all(p, f, *s.of, s.operands + 2)) {
          products.push_back(p);
          theirs.push_back(s);
          continue;
        }
      }
      run(f, *s.of, s.operands);
    }
    for (batch_of_products const& b : batches(products)) {
      if (b.product.batch > 1 && Device::multiply(b.product)) continue;
      for (std::size_t const k : b.of) run(f, *theirs[k].of, theirs[k].operands);
    }
  }

  template <class Task>
  static typename Task::arguments product_of(exec::frame const& f, exec::call const& c, exec::operand_ref const* sides) {
    constexpr int tile = Task::core::tile;
    typename Task::arguments a{};
    a.left = place::of(f, sides[0]);
    a.right = place::of(f, sides[1]);
    for (place* const p : {&a.left, &a.right}) p->find_wide_side(size_of(D));
    a.rows = f.matrix_rows(c);
    a.cols = c.cols;
    a.depth = c.depth;
    a.tiles = (a.rows + tile - 1) / tile;
    a.first_item = a.tiles * f.band_first;
    a.parts = depth_parts(tiles_of(tile, a.rows, c.cols, c.batch), c.depth);
    a.sums = f.scratch(c) + row_scratch(sweeping, c) + results_bytes(sweeping, c, D);
    a.counters = f.counters();
    return a;
  }
  template <class Task>
  static void launch(exec::frame const& f, exec::call const& c, typename Task::arguments& a) {
    constexpr int tile = Task::core::tile;
    std::int64_t const blocks = a.tiles * f.matrices(c) * ((c.cols + tile - 1) / tile) * a.parts;
    if (blocks > most_grid || c.rows > most_rows)
      throw shape_error("device: a product of " + std::to_string(blocks) + " tiles. FIX: up to 2147483647, as parts of a batch: tx::accumulate<parts>");
    a.to.find_wide(4, size_of(sum_type(D)));
    if (blocks > 0) Device::template launch<Task>(static_cast<int>(blocks), Task::threads, Task::shared_bytes, a);
  }
};

template <class Device>
struct kernel<Device, exec::zero> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    Device::clear(f.at<std::byte>(operands[0]), c.cols);
  }
};

}  // namespace tx::backends::device
