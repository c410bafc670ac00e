// The kernels of the CPU backend: fused rows, products with an epilogue, whole operands, zeros.
#pragma once

#include <tx/backends/cpu/gemm_kernel.hpp>
#include <tx/backends/cpu/parallel.hpp>
#include <tx/backends/cpu/row_body.hpp>
#include <tx/ops/partitioned.hpp>

namespace tx::backends::cpu {

template <class Signature>
struct kernel;

namespace detail {

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
         bool const by_column = exec::program_of<F>.by_column[sigs.let(let).operand[0]];
         std::int64_t const cols = by_column ? o.c.cols : 1;
         std::byte* const to = o.f.template at<std::byte>(o.out[K]);
         for (std::int64_t c = 0; c < cols; ++c) {
           T total = T{};
           for (int s = 0; s < exec::shares; ++s)
             total += reinterpret_cast<T const*>(row_body<F>::template sum_of<let>(scratch + s * per_share, o.c.cols))[c];
           store_scalar<sig.type>(to + c * size_of(sig.type), total);
         }
       }
     }()),
     ...);
  }(std::make_integer_sequence<int, types::outputs>{});
}

}  // namespace detail

template <bool Exact, class... In, class Lets, class Outs>
struct kernel<exec::fused<Exact, exec::ins<In...>, Lets, Outs>> {
  using body = exec::fused<Exact, exec::ins<In...>, Lets, Outs>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    row_operands const o{f, c, operands, operands + sizeof...(In)};
    std::int64_t const rows = f.rows(c);
    std::int64_t const per_share = exec::row_scratch(exec::program_of<body>, c.cols);
    std::byte* const scratch = f.scratch(c);
    for_shares(f.threads, rows * c.cols, [&](int s) {
      row_body<body>(o, scratch + s * per_share).run(exec::share_begin(rows, s), exec::share_begin(rows, s + 1));
    });
    detail::add_shares<body>(o, scratch, per_share);
  }
};

// Panels of rows are multiplied and go through the epilogue while they are in the cache.
template <dtype D, class Epilogue>
struct kernel<exec::gemm<D, Epilogue>> {
  using T = element_t<D>;
  using types = detail::row_types<Epilogue>;
  static_assert(detail::scratch_of_a<T>(1 << 20, 1 << 20) * static_cast<std::int64_t>(sizeof(T)) + 64 <= exec::largest_left_block);
  static constexpr bool plain = types::lets == 0 && types::outputs == 1;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    exec::operand_ref const& left = operands[0];
    exec::operand_ref const& right = operands[1];
    row_operands const o{f, c, operands + 2, operands + 1 + types::inputs};
    T const* const a = f.at<T const>(left);
    T const* const b = f.at<T const>(right);
    std::int64_t const rows = f.matrix_rows(c);
    std::int64_t const panel = exec::panel_rows(c.rows / c.batch, c.cols, sizeof(T));
    std::int64_t const panels = (rows + panel - 1) / panel;
    std::int64_t const items = panels * f.matrices(c);
    std::int64_t const work = f.rows(c) * c.cols * (c.depth / 16 + 1);

    std::int64_t const row_bytes = exec::row_scratch(exec::program_of<Epilogue>, c.cols);
    std::int64_t const packed_bytes = exec::packed_bytes(c.cols, c.depth, sizeof(T));
    std::int64_t const panel_bytes = exec::aligned(panel * c.cols * static_cast<std::int64_t>(sizeof(T)));
    std::byte* const scratch = f.scratch(c);
    std::byte* const packed = scratch + exec::shares * row_bytes;
    std::byte* const panel_scratch = packed + (c.batch > 1 ? exec::shares : 1) * packed_bytes;
    std::byte* const left_scratch = panel_scratch + exec::shares * panel_bytes;
    std::int64_t const left_bytes = exec::left_bytes(c.rows / c.batch, c.cols, c.depth, sizeof(T));

    if (c.batch == 1) {  // one right side, packed once by all
      constexpr std::int64_t width = gemm_tile<T>::columns;
      std::int64_t const tiles = (c.cols + width - 1) / width;
      for_shares(f.threads, c.cols * c.depth, [&](int s) {
        for (std::int64_t t = exec::share_begin(tiles, s); t < exec::share_begin(tiles, s + 1); ++t) {
          std::int64_t const j = t * width;
          pack_b<T>(c.depth, std::min(width, c.cols - j), {b + j * right.col, right.row, right.col}, reinterpret_cast<T*>(packed) + j * c.depth);
        }
      });
    }
    for_shares(f.threads, work, [&](int s) {
      row_body<Epilogue> epilogue(o, scratch + s * row_bytes);
      T* const mine = reinterpret_cast<T*>(c.batch > 1 ? packed + s * packed_bytes : packed);
      T* const room = reinterpret_cast<T*>(panel_scratch + s * panel_bytes);
      std::int64_t packed_matrix = c.batch == 1 ? 0 : -1;
      for (std::int64_t item = exec::share_begin(items, s); item < exec::share_begin(items, s + 1); ++item) {
        std::int64_t const matrix = item / panels;
        std::int64_t const first = item % panels * panel;
        std::int64_t const count = std::min(panel, rows - first);
        if (matrix != packed_matrix) {
          pack_b<T>(c.depth, c.cols, {b + exec::row_offset(right, matrix), right.row, right.col}, mine);
          packed_matrix = matrix;
        }
        std::int64_t const row = matrix * rows + first;
        T* to = room;
        std::int64_t to_row = c.cols;
        if constexpr (plain) straight(f, o, row, count, to, to_row);
        gemm_packed<T>(count, c.cols, c.depth, {a + exec::row_offset(left, matrix) + first * left.row, left.row, left.col}, mine, to, to_row,
                       product::assign, left_scratch + s * left_bytes);
        if (to == room) epilogue.run(row, row + count, reinterpret_cast<std::byte const*>(room), c.cols * static_cast<std::int64_t>(sizeof(T)));
      }
    });
    detail::add_shares<Epilogue>(o, scratch, row_bytes);
  }

 private:
  // A product without epilogue goes where it belongs at once, if its rows lie at one stride there.
  static void straight(exec::frame const& f, row_operands const& o, std::int64_t row, std::int64_t count, T*& to, std::int64_t& to_row) {
    exec::operand_ref const& out = o.out[0];
    if (out.type != D || (o.c.cols > 1 && out.col != 1)) return;
    std::int64_t const start = exec::row_offset(out, row);
    std::int64_t const stride = count > 1 ? exec::row_offset(out, row + 1) - start : o.c.cols;
    if (exec::row_offset(out, row + count - 1) != start + (count - 1) * stride) return;
    to = f.at<T>(out) + start;
    to_row = stride;
  }
};

template <class Rule, dtype Out, dtype... In>
struct kernel<exec::whole<Rule, Out, In...>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    run(f, c, operands, std::make_integer_sequence<int, sizeof...(In)>{});
  }

 private:
  template <int... K>
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands, std::integer_sequence<int, K...>) {
    whole_operand<element_t<Out>> const out{f.at<element_t<Out>>(operands[0]), f.dims(c, operands[0])};
    for_shares(f.threads, out.dims.count(), [&](int s) {
      Rule::run(s, exec::shares, c.at, out,
                whole_operand<element_t<In> const>{f.at<element_t<In> const>(operands[K + 1]), f.dims(c, operands[K + 1])}...);
    });
  }
};

template <>
struct kernel<exec::zero> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    __builtin_memset(f.at<std::byte>(operands[0]), 0, static_cast<std::size_t>(c.cols));
  }
};

}  // namespace tx::backends::cpu
