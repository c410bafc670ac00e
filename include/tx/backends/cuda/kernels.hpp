// The kernels of a device backend: each call becomes launches of tasks. `Device` launches them; see vocabulary.hpp.
#pragma once

#include <tx/backends/cuda/product_task.hpp>
#include <tx/backends/cuda/row_cut.hpp>
#include <tx/backends/cuda/row_task.hpp>
#include <tx/core/error.hpp>

#include <concepts>
#include <string>

namespace tx::backends::cuda {

namespace detail {

constexpr std::int64_t lower_of(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t upper_of(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
constexpr int blocks_for(std::int64_t items, std::int64_t each) {
  return static_cast<int>(lower_of((items + each - 1) / each, most_blocks));
}

template <class F>
inline constexpr row_facts row_facts_of{exec::row_sweeps_of<F>, row_task<F>::at_once,
                                        row_types<F>::reduces_rows || row_types<F>::has_numbers || row_task<F>::row_sums > 0};

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
  for (int i = 0; i < task::types::operands; ++i) {
    a.operand[i] = place::of(f, operands[i]);
    a.operand[i].find_wide(task::at_once, static_cast<int>(size_of(operands[i].type)));
  }
  return a;
}

// Rows [first, last) of a fused group; `product`: where its head's rows lie, from `first` on.
template <class Device, class F>
void launch_rows(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands, std::int64_t first, std::int64_t last,
                 std::byte const* product = nullptr, bool product_rounded = false) {
  using task = row_task<F>;
  if (!task::sums && first == last) return;
  if (c.rows > most_rows) throw shape_error("cuda: a kernel over " + std::to_string(c.rows) + " rows. FIX: up to 2147483647, as parts of a batch: tx::accumulate<parts>");
  row_cut const cut = cut_rows(row_facts_of<F>, last - first, c.cols);
  auto a = row_arguments<F>(f, c, operands);
  a.first = first;
  a.last = last;
  a.piece = cut.piece;
  a.product = product;
  a.product_rounded = product_rounded;
  a.team_size = cut.team_size;
  a.teams = cut.teams;
  a.pieces = cut.pieces;
  a.stash_in_shared = cut.stash_in_shared;
  a.sums_in_shared = cut.sums_in_shared;
  Device::template launch<task>(cut.blocks * cut.pieces, cut.teams * cut.team_size, cut.shared_bytes, a);
}

}  // namespace detail

template <class Device, class Signature>
struct kernel;

// A product of single matrices, as a library is asked for it: to [rows, cols] = left [rows, depth] * right [depth, cols]. Distances are in elements.
struct library_product {
  dtype type;     // of both sides
  dtype to_type;  // of results: that of their sums, or of the sides
  std::int64_t rows, cols, depth;
  std::byte const* left;
  std::int64_t left_row, left_col;
  std::byte const* right;
  std::int64_t right_row, right_col;
  std::byte* to;
  std::int64_t apart;    // from row to row of the results, whose columns lie side by side
  std::byte* workspace;  // library_workspace bytes
  std::byte const* added = nullptr;  // results of sums' type that the product is added to, where there are any
  std::int64_t added_apart = 0;      // from row to row
  std::byte const* row = nullptr;    // `cols` halves that are added to each row of results before those are rounded to such, where there are any
};
// A device may have a library: multiply(p) starts the product, or says that it cannot.
template <class Device>
concept has_library = requires(library_product const& p) { { Device::multiply(p) } -> std::same_as<bool>; };

template <class Device, bool Exact, class Ins, class Lets, class Outs>
struct kernel<Device, exec::fused<Exact, Ins, Lets, Outs>> {
  using body = exec::fused<Exact, Ins, Lets, Outs>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    detail::launch_rows<Device, body>(f, c, operands, f.first_row(c), f.end_row(c));
  }
};

// Matrices of the batch that are the band's, else all. An epilogue that works element by element runs on each tile; for any other the product goes to
// scratch first, and what is no epilogue at all straight to where it belongs.
template <class Device, dtype D, class Epilogue>
struct kernel<Device, exec::gemm<D, Epilogue>> {
  using rows_task = row_task<Epilogue>;
  using plain_task = product_task<D, Device::matrix_units>;
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
      using task = product_task<D, Device::matrix_units, rows_task>;
      auto a = product_of<task>(f, c, operands);
      a.epilogue = detail::row_arguments<Epilogue>(f, c, others);
      a.epilogue.team_size = task::core::tile / rows_task::at_once;
      if (a.epilogue.team_size > task::threads) a.epilogue.team_size = task::threads;
      a.epilogue.teams = task::threads / a.epilogue.team_size;
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

 private:
  // Where the library takes the product: straight to where it belongs, else to scratch, from which rows go on.
  static bool by_library(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    exec::operand_ref const* const others = operands + 2;
    if (!takes_product(D, c) || f.band_count > 0) return false;
    std::byte* const scratch = f.scratch(c) + row_scratch(sweeping, c);
    std::byte* const results = scratch + library_workspace;
    constexpr dtype to_type = detail::type_of_product<Epilogue>;
    library_product p{D, sum_type(D), c.rows, c.cols, c.depth, f.at<std::byte>(operands[0]), operands[0].row, operands[0].col, f.at<std::byte>(operands[1]), operands[1].row, operands[1].col,
                      results, c.cols, scratch};
    constexpr bool rounds = is_half(D) && to_type == D;  // what is handed on is of halves
    if constexpr (rounds) p.to_type = D;
    if constexpr (types::outputs == 1 && (types::lets == 0 || (types::lets == 1 && rounds))) {  // nothing else is made of it
      exec::operand_ref const& output = others[types::inputs - 1];
      if (output.type == p.to_type && output.col == 1 && output.rank == 1) {
        p.to = f.at<std::byte>(output);
        p.apart = output.stride[0];
        return Device::multiply(p);
      }
    }
    if constexpr (constexpr int v = detail::row_added_to_product<Epilogue>; v > 0) {
      exec::operand_ref const &row = others[v - 1], &output = others[types::inputs - 1];
      bool const same_everywhere = row.rank == 0 || (row.rank == 1 && (row.stride[0] == 0 || c.rows == 1));
      if (output.type == D && output.col == 1 && output.rank == 1 && row.col == 1 && same_everywhere) {
        p.to_type = D;
        p.to = f.at<std::byte>(output);
        p.apart = output.stride[0];
        p.row = f.at<std::byte>(row);
        return Device::multiply(p);
      }
    }
    if constexpr (constexpr int v = detail::added_to_product<Epilogue>; v > 0) {
      exec::operand_ref const &more = others[v - 1], &output = others[types::inputs - 1];
      // A row of its own for each row of results: a bias has none.
      if (output.col == 1 && output.rank == 1 && more.col == 1 && more.rank == 1 && more.stride[0] >= c.cols) {
        p.to = f.at<std::byte>(output);
        p.apart = output.stride[0];
        p.added = f.at<std::byte>(more);
        p.added_apart = more.stride[0];
        return Device::multiply(p);
      }
    }
    if (sweeping.by_element && !epilogue_follows(D, c)) return false;
    if (!Device::multiply(p)) return false;
    detail::launch_rows<Device, Epilogue>(f, c, others, f.first_row(c), f.end_row(c), results, rounds);
    return true;
  }

  template <class Task>
  static typename Task::arguments product_of(exec::frame const& f, exec::call const& c, exec::operand_ref const* sides) {
    constexpr int tile = Task::core::tile;
    typename Task::arguments a{};
    a.left = place::of(f, sides[0]);
    a.right = place::of(f, sides[1]);
    for (place* const p : {&a.left, &a.right}) {
      p->find_wide(16 / size_of(D), size_of(D));
      p->wide = p->wide && (p->row == 1 ? p->col : p->row) % (16 / size_of(D)) == 0;
    }
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
      throw shape_error("cuda: a product of " + std::to_string(blocks) + " tiles. FIX: up to 2147483647, as parts of a batch: tx::accumulate<parts>");
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

}  // namespace tx::backends::cuda
