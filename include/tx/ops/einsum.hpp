// einsum<"ij,jk->ik">(a, b): sums of products over named axes (numpy's einsum). [2, 3], [3, 5] -> [2, 5] for this one. Each letter is an axis; letters that
// the result does not name are summed over. Any number of operands, met from left to right: axes that one operand alone
// has are summed first, what two share and nobody else needs becomes the depth of a batched product, and where nothing
// is summed they are multiplied.
// Errors: another number of operands or axes than the string names, a letter twice in one operand, a letter with two
// extents, a result that names what no operand has, no "->", anything but letters, commas and spaces; a bounded axis
// that is neither the first of the result nor the depth of a product of two matrices.
#pragma once

#include <tx/core/fixed_string.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/transpose.hpp>

namespace tx {

namespace detail {

// The letters of axes, in order.
struct axis_letters {
  int count = 0;
  char letter[max_rank] = {};

  constexpr int find(char c) const {
    for (int i = 0; i < count; ++i)
      if (letter[i] == c) return i;
    return -1;
  }
  constexpr bool has(char c) const { return find(c) >= 0; }
  constexpr void add(char c) {
    if (count == max_rank)
      throw invalid("einsum: a tensor in between has more axes than a tensor may have. FIX: contract fewer axes at a time");
    letter[count++] = c;
  }
};

struct einsum_axes {
  vec<axis_letters> operands{};
  axis_letters result{};
};

constexpr einsum_axes parse_einsum(std::string_view text) {
  einsum_axes axes{};
  axes.operands.push_back({});
  bool arrow = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (c == ' ') continue;
    if (c == ',' && !arrow) {
      axes.operands.push_back({});
    } else if (c == '-' && !arrow && i + 1 < text.size() && text[i + 1] == '>') {
      arrow = true;
      ++i;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      axis_letters& to = arrow ? axes.result : axes.operands.back();
      if (to.has(c))
        throw invalid("einsum: a letter is twice in one operand or in the result. FIX: a letter for each of its axes");
      to.add(c);
    } else {
      throw invalid("einsum: the string holds something else than letters, commas and one \"->\". FIX: as in \"bij,bjk->bik\"");
    }
  }
  if (!arrow && axes.operands.size() == 1)
    throw invalid("einsum: the string has neither commas nor \"->\". FIX: commas between the operands' letters, \"->\" before the result's, as in \"ij,jk->ik\"");
  if (!arrow)
    throw invalid("einsum: the string does not name the result. FIX: add \"->\" and its letters, as in \"ij,jk->ik\"");
  for (int i = 0; i < axes.result.count; ++i) {
    bool known = false;
    for (axis_letters const& in : axes.operands) known = known || in.has(axes.result.letter[i]);
    if (!known)
      throw invalid("einsum: the result names a letter that no operand has. FIX: leave it out, or broadcast_to afterwards");
  }
  return axes;
}

// A tensor whose axes have names.
struct lettered {
  var value{};
  axis_letters axes{};

  constexpr bounded extent(char c) const { return value.dims().at(axes.find(c)); }
};

// The axes in another order.
constexpr lettered arranged(lettered const& x, axis_letters const& order) {
  attributes at{};
  for (int i = 0; i < order.count; ++i) set_source_axis(at, i, x.axes.find(order.letter[i]));
  return {transpose(x.value, at), order};
}

// Without the axes that nobody needs.
template <class Needed>
constexpr lettered summed_up(lettered const& x, Needed const& needed) {
  int gone[max_rank] = {};
  int n = 0;
  shape to{};
  axis_letters kept{};
  for (int i = 0; i < x.axes.count; ++i) {
    if (!needed(x.axes.letter[i])) {
      gone[n++] = i;
      continue;
    }
    kept.add(x.axes.letter[i]);
    to.add(x.value.dims().at(i));
  }
  return n == 0 ? x : lettered{reshape(sum(x.value, gone, n), to), kept};
}

// The product of two tensors, summed over the axes that both have and nobody needs.
template <class Needed>
constexpr lettered met(lettered a, lettered b, Needed const& needed) {
  a = summed_up(a, [&](char c) { return b.axes.has(c) || needed(c); });
  b = summed_up(b, [&](char c) { return a.axes.has(c) || needed(c); });
  axis_letters left{}, right{}, both{};  // a's axes in order, b's, and those of the result
  shape across{};                        // the result's extents
  shape wide_a{}, wide_b{};              // the operands', with 1 where they lack an axis
  bounded batch = 1, rows = 1, depth = 1, columns = 1;
  bool contracted = false;
  auto each = [](lettered const& x, auto const& take) {
    for (int i = 0; i < x.axes.count; ++i) take(x.axes.letter[i], x.value.dims().at(i));
  };
  auto add = [&](char c, bounded extent, bool in_a, bool in_b) {
    if (in_a) left.add(c);
    if (in_b) right.add(c);
    both.add(c);
    wide_a.add(in_a ? extent : bounded(1));
    wide_b.add(in_b ? extent : bounded(1));
    across.add(extent);
  };
  each(a, [&](char c, bounded extent) {
    if (b.axes.has(c) && needed(c)) add(c, extent, true, true), batch = batch * extent;
  });
  each(a, [&](char c, bounded extent) {
    if (!b.axes.has(c)) add(c, extent, true, false), rows = rows * extent;
  });
  each(a, [&](char c, bounded extent) {
    if (b.axes.has(c) && !needed(c)) left.add(c), right.add(c), depth = depth * extent, contracted = true;
  });
  each(b, [&](char c, bounded extent) {
    if (!a.axes.has(c)) add(c, extent, false, true), columns = columns * extent;
  });
  var const x = arranged(a, left).value;
  var const y = arranged(b, right).value;
  if (!contracted) return {reshape(x, wide_a) * reshape(y, wide_b), both};
  bool const one = batch.max == 1;
  var const product =
      one ? matmul(reshape(x, extents(rows, depth)), reshape(y, extents(depth, columns)))
          : matmul(reshape(x, extents(batch, rows, depth)), reshape(y, extents(batch, depth, columns)));
  return {reshape(product, across), both};
}

}  // namespace detail

constexpr var einsum(std::string_view text, std::initializer_list<var> in) {
  detail::einsum_axes const axes = detail::parse_einsum(text);
  if (static_cast<int>(in.size()) != axes.operands.size())
    throw invalid("einsum: the string names another number of operands than there are. FIX: letters for each, with commas between them");
  vec<detail::lettered> operands{};
  for (var const& v : in) operands.push_back({v, axes.operands[operands.size()]});
  for (detail::lettered const& x : operands) {
    if (x.value.dims().rank != x.axes.count)
      throw invalid("einsum: an operand has another number of axes than letters. FIX: a letter for each axis");
    for (int i = 0; i < x.axes.count; ++i)
      for (detail::lettered const& y : operands)
        if (y.axes.has(x.axes.letter[i]) && y.value.dims().rank == y.axes.count &&
            !(y.extent(x.axes.letter[i]) == x.value.dims().at(i)))
          throw invalid("einsum: a letter stands for two extents. FIX: make them equal, or use another letter");
  }
  auto in_result = [&](char c) { return axes.result.has(c); };
  detail::lettered all = operands[0];
  for (int k = 1; k < operands.size(); ++k)
    all = detail::met(all, operands[k], [&](char c) {
      bool later = in_result(c);
      for (int j = k + 1; j < operands.size(); ++j) later = later || operands[j].axes.has(c);
      return later;
    });
  return detail::arranged(detail::summed_up(all, in_result), axes.result).value;
}

namespace detail {
template <fixed_string Text>
struct einsum_fn {
  template <class... V>
  constexpr var operator()(V... v) const {
    return einsum(Text.view(), {v...});
  }
};
}  // namespace detail

template <fixed_string Text, handle... X>
  requires(sizeof...(X) > 0)
constexpr auto einsum(X const&... x) {
  return lift<detail::einsum_fn<Text>>(x...);
}

}  // namespace tx
