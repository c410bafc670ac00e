// The kernels of the CPU backend: fused rows, products with an epilogue, whole operands, zeros.
#pragma once

#include <tx/backends/cpu/gemm_swap.hpp>
#include <tx/backends/cpu/row_body.hpp>
#include <tx/run/whole_operands.hpp>

namespace tx::backends::cpu {

template <class Signature>
struct kernel;

namespace detail {

// Where a share of a kernel's rows begins. Rows that are summed are cut where a product of as many rows is cut (gemm_walk.hpp): fusion puts a bias's gradient into the
// epilogue of a product in one program and into a kernel of its own in another, and it should have the same bits in both. (Tiles of a matrix unit have more rows, and
// would leave threads without any where there are few, so sums behind its products of bf16 may differ; so may those of batches, which are cut between matrices.)
template <class F>
std::int64_t row_share_begin(std::int64_t rows, int share) {
  constexpr auto const& kept = exec::row_sweeps_of<F>;
  if constexpr (kept.column_sums + kept.row_sums > 0) return share_begin(rows, share, gemm_tile<f32>::rows);
  else return share_begin(rows, share);
}

// Column sums of the shares, added in order, whoever computed them.
template <class F>
void add_shares(row_operands const& o, std::byte* scratch, std::int64_t per_share) {
  using types = row_types<F>;
  constexpr auto sigs = exec::signatures_of<F>{};
  [&]<int... K>(std::integer_sequence<int, K...>) {
    (([&] {
       constexpr exec::out_sig sig = sigs.out(K);
       if constexpr (sig.shape == form::col_reduce) {
         constexpr int let = sig.value - types::inputs;
         using T = scalar_t<sig.type>;
         bool const by_column = exec::row_sweeps_of<F>.by_column[sigs.let(let).operand[0]];  // else all columns have one sum
         std::int64_t const cols = sig.per_row ? 1 : o.c.cols;
         std::byte* const to = o.f.template at<std::byte>(o.out[K]);
         for (std::int64_t c = 0; c < cols; ++c) {
           T total = T{};
           for (int s = 0; s < shares; ++s)
             total += reinterpret_cast<T const*>(row_body<F>::template sum_of<let>(scratch + s * per_share, o.c.cols))[by_column ? c : 0];
           store_scalar<sig.type>(to + c * size_of(sig.type), total);
         }
       }
     }()),
     ...);
  }(std::make_integer_sequence<int, types::outputs>{});
}

}  // namespace detail

template <int Columns, class... In, class Lets, class Outs>
struct kernel<exec::fused<Columns, exec::ins<In...>, Lets, Outs>> {
  using body = exec::fused<Columns, exec::ins<In...>, Lets, Outs>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    row_operands const o{f, c, operands, operands + sizeof...(In)};
    std::int64_t const first = f.first_row(c);
    std::int64_t const rows = f.end_row(c) - first;
    std::int64_t const per_share = row_scratch(exec::row_sweeps_of<body>, c.cols);
    std::byte* const scratch = f.scratch(c);
    for_shares(f.threads, rows * c.cols, [&](int s) {
      row_body<body>::clear_sums(scratch + s * per_share, c.cols);
      row_body<body>(o, scratch + s * per_share).run(first + detail::row_share_begin<body>(rows, s), first + detail::row_share_begin<body>(rows, s + 1));
    });
    detail::add_shares<body>(o, scratch, per_share);
  }
};

// Panels of rows are multiplied and go through the epilogue while they are in the cache.
template <dtype D, class Epilogue>
struct kernel<exec::gemm<D, Epilogue>> {
  using T = element_t<D>;
  using types = detail::row_types<Epilogue>;
  static constexpr bool plain = types::lets == 0 && types::outputs == 1;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    row_operands const o{f, c, operands + 2, operands + 1 + types::inputs};
    std::int64_t const row_bytes = row_scratch(exec::row_sweeps_of<Epilogue>, c.cols);
    using body = row_body<Epilogue>;
    gemm_task<T> const task(f, c, operands, plain ? o.out : nullptr, body::by_columns, shares * row_bytes);
    if (task.swaps) return run_swapped(task, o, row_bytes);
    for_claims(f.threads, task.work(), task.shares_together(), [&](claims& mine) {
      gemm_walk<T> walk(task, mine.first);
      do {
        for (int s = mine.first; s < mine.end; ++s) body::clear_sums(f.scratch(c) + s * row_bytes, c.cols);
        walk.enter(mine.first, mine.end);
        int share = mine.first;
        while (walk.next()) {
          if (walk.finished) continue;
          while (task.share_row(share + 1) <= walk.row) ++share;
          std::int64_t row = walk.row;
          for (int s = share; row < walk.row + walk.count; ++s) {  // sums of a share are of its own rows
            std::int64_t const until = std::min(task.share_row(s + 1), walk.row + walk.count);
            run_rows(o, s, {row, until, walk.column, walk.end}, walk.data + (row - walk.row) * walk.row_bytes, walk.row_bytes);
            row = until;
          }
        }
      } while (mine.next());
    });
    detail::add_shares<Epilogue>(o, f.scratch(c), row_bytes);
  }

 private:
  struct piece {
    std::int64_t row, end_row, column, end_column;
  };
  // One copy for both ways of multiplying.
  __attribute__((noinline)) static void run_rows(row_operands const& o, int share, piece const& p, std::byte const* product, std::int64_t product_row) {
    row_body<Epilogue> epilogue(o, o.f.scratch(o.c) + share * row_scratch(exec::row_sweeps_of<Epilogue>, o.c.cols));
    epilogue.set_columns(p.column, p.end_column);
    epilogue.run(p.row, p.end_row, product, product_row);
  }
  static void run_swapped(gemm_task<T> const& task, row_operands const& o, std::int64_t row_bytes) {
    swapped_product<T> product(task);
    product.run();
    if (product.finished) return;
    for_shares(o.f.threads, task.rows * o.c.cols, [&](int s) {
      std::int64_t const first = detail::row_share_begin<Epilogue>(task.rows, s);
      row_body<Epilogue>::clear_sums(o.f.scratch(o.c) + s * row_bytes, o.c.cols);
      run_rows(o, s, {first, detail::row_share_begin<Epilogue>(task.rows, s + 1), 0, o.c.cols}, product.data + first * product.row_bytes, product.row_bytes);
    });
    detail::add_shares<Epilogue>(o, o.f.scratch(o.c), row_bytes);
  }
};

// By the op's own rule. An op with a kernel of its own specialises this for that rule; its scratch, f.scratch(c), is what `whole_scratch` of
// target.hpp says.
template <class Rule, class Results, class... In>
struct kernel<exec::whole<Rule, Results, exec::ins<In...>>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    std::int64_t const work = f.dims(operands[sizeof...(In)]).count();
    for_shares(f.threads, work, [&](int s) { exec::run_share(exec::whole<Rule, Results, exec::ins<In...>>{}, s, shares, f, c, operands); });
  }
};

template <>
struct kernel<exec::zero> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    __builtin_memset(f.at<std::byte>(operands[0]), 0, static_cast<std::size_t>(c.cols));
  }
};

}  // namespace tx::backends::cpu
