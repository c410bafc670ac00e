// embedding(table [V, D], ids [..., L]) -> [..., D]: the sum of the table's rows that the last axis of ids names.
// Negative ids name nothing. With L = 1 this is the usual look-up, with L > 1 a bag (word = sum of its trigrams). Rows of halves
// are added in f32 and rounded once; so are the gradients of their table.
// Errors: an argument with an id at or above V is refused before the step runs; one that the program computes names nothing.
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/ops/in_range.hpp>
#include <tx/ops/packed_extent.hpp>
#include <tx/ops/partitioned.hpp>

#include <limits>

namespace tx {

namespace detail {
constexpr value_info embedding_infer(value_info const* in, int, attributes const&) {
  if (in[0].dims.rank != 2) throw invalid("embedding: the table needs two axes. FIX: reshape it to [rows, width]");
  if (!is_integer(in[1].type) || in[1].dims.rank < 1) throw invalid("embedding: ids must be an integer tensor. FIX: tensor<tx::i32, ...>");
  if (in[1].dims.is_bounded(in[1].dims.rank - 1)) throw invalid("embedding: a bag of a bounded number of ids. FIX: take(table, ids) for one row each, or ids [..., L]");
  if (in[1].dims.last() == 0) throw invalid("embedding: bags without room for an id. FIX: ids [..., L] with L of at least 1");
  value_info out{in[0].type, in[1].dims};
  out.dims.set_last(in[0].dims.at(-1));
  return out;
}
// The attribute of scatter_rows: the table's rows.
constexpr attributes of_scatter_rows(bounded rows) { return {{packed_extent(rows)}}; }
constexpr bounded scattered_rows(attributes const& at) { return unpacked_extent(at.v[0]); }
constexpr value_info scatter_infer(value_info const* in, int, attributes const& at) {
  return {in[0].type, extents(scattered_rows(at), in[0].dims.at(-1))};
}
constexpr void embedding_vjp(vjp_context& c);
constexpr void scatter_rows_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info embedding_info{
    .name = "embedding", .kind = op_kind::whole, .arity = 2, .infer = detail::embedding_infer, .vjp = detail::embedding_vjp};
// scatter_rows(gradient [..., D], ids [..., L]) -> [V, D]: the transposed look-up.
inline constexpr op_info scatter_rows_info{
    .name = "scatter_rows", .kind = op_kind::whole, .arity = 2, .infer = detail::scatter_infer, .vjp = detail::scatter_rows_vjp};

namespace rules {
struct embedding {
  template <class T, class Id>
  static TX_HD void run(int share, int shares, attributes const&, whole_operand<T> out, whole_operand<T const> table, whole_operand<Id const> ids) {
    std::int64_t const width = table.dims.last();
    std::int64_t const bag = ids.dims.last();
    std::int64_t const rows = ids.dims.count() / bag;
    for (std::int64_t r = rows * share / shares; r < rows * (share + 1) / shares; ++r) {
      if constexpr (is_storage_only(dtype_v<T>)) {
        for (std::int64_t j = 0; j < width; j += block) add_halves(out.data + r * width, table, ids.data + r * bag, bag, j);
      } else {
        add_rows(out.data + r * width, T(0), table, ids.data + r * bag, bag, 0, width);
      }
    }
  }
  template <class T, class Id>
  static TX_HD T element(std::uint32_t i, attributes const&, whole_operand<T> const&, whole_operand<T const> const& table, whole_operand<Id const> const& ids) {
    auto const width = static_cast<std::uint32_t>(table.dims.last());
    std::uint32_t const r = i / width, bag = static_cast<std::uint32_t>(ids.dims.last());
    if constexpr (is_storage_only(dtype_v<T>)) {
      float sum = 0;
      add_rows(&sum, 0.f, table, ids.data + std::int64_t{r} * bag, bag, i - r * width, 1);
      return T::from(sum);
    } else {
      T sum;
      add_rows(&sum, T(0), table, ids.data + std::int64_t{r} * bag, bag, i - r * width, 1);
      return sum;
    }
  }

 private:
  static constexpr std::int64_t block = 64;  // sums of halves at once

  template <class S, class T, class Id>
  static TX_HD void add_rows(S* to, S zero, whole_operand<T const> table, Id const* ids, std::int64_t bag, std::int64_t first,
                             std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) to[j] = zero;
    for (std::int64_t b = 0; b < bag; ++b) {
      auto const id = static_cast<std::int64_t>(ids[b]);
      if (id < 0 || id >= table.dims.dim[0]) continue;  // ids that a program computes are not checked before it runs
      T const* const from = table.data + id * table.dims.last() + first;
      for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<S>(to[j] + number_of(from[j]));
    }
  }
  template <class T, class Id>
  static TX_HD void add_halves(T* to, whole_operand<T const> table, Id const* ids, std::int64_t bag, std::int64_t first) {
    std::int64_t const rest = table.dims.last() - first;
    std::int64_t const count = rest < block ? rest : block;
    float sums[block];
    add_rows(sums, 0.f, table, ids, bag, first, count);
    for (std::int64_t j = 0; j < count; ++j) to[first + j] = T::from(sums[j]);
  }
};

struct scatter_rows {
  // A share owns a range of table rows, so rows are added in the order of the ids whatever the number of shares.
  template <class T, class Id>
  static TX_HD void run(int share, int shares, attributes const&, whole_operand<T> out, whole_operand<T const> gradient, whole_operand<Id const> ids) {
    std::int64_t const width = out.dims.last();
    std::int64_t const bag = ids.dims.last();
    std::int64_t const count = ids.dims.count();
    std::int64_t const table = out.dims.dim[0];
    std::int64_t const lo = table * share / shares;
    std::int64_t const hi = table * (share + 1) / shares;
    for (std::int64_t k = lo * width; k < hi * width; ++k) out.data[k] = T(0);
    for (std::int64_t i = 0; i < count; ++i) {
      auto const id = static_cast<std::int64_t>(ids.data[i]);
      if (id < lo || id >= hi) continue;
      T* const to = out.data + id * width;
      T const* const from = gradient.data + (i / bag) * width;
      for (std::int64_t j = 0; j < width; ++j) to[j] += from[j];
    }
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&embedding_info> {
  using type = rules::embedding;
};
template <>
struct partitioned_rule<&scatter_rows_info> {
  using type = rules::scatter_rows;
};

namespace detail {
struct embedding_fn {
  constexpr var operator()(var table, var ids) const {
    bounded const rows = table.dims().rank == 2 ? table.dims().at(0) : bounded(0);  // else the shape rule objects
    return emit(embedding_info, {table, in_range(ids, std::numeric_limits<std::int32_t>::min(), rows)});
  }
};
constexpr void embedding_vjp(vjp_context& c) {
  shape const& table = c.in_info(0).dims;
  var const rows = cast(c.gradient, sum_type(c.gradient.type()));
  c.accumulate(0, emit(scatter_rows_info, {rows, c.in(1)}, of_scatter_rows(table.at(0))));
}
constexpr void scatter_rows_vjp(vjp_context& c) { c.accumulate(0, emit(embedding_info, {c.gradient, c.in(1)})); }
}  // namespace detail

template <handle T, handle I>
constexpr auto embedding(T const& table, I const& ids) {
  return lift<detail::embedding_fn>(table, ids);
}

}  // namespace tx
