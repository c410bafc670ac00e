// What a decision can be: a line for each way to make a value from others. The text of a line is the C++ that a failure is
// printed as. A new op is a new line; drawn.cpp fails until it has one.
#pragma once

#include "words.hpp"

#include <tx/dist/adasum.hpp>
#include <tx/dist/all_reduce.hpp>
#include <tx/dist/shard_add.hpp>
#include <tx/ops/abs.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/argmax.hpp>
#include <tx/ops/attention.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/copy.hpp>
#include <tx/ops/cos.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/erf.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/extent_of.hpp>
#include <tx/ops/expm1.hpp>
#include <tx/ops/fitting_power.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/floor.hpp>
#include <tx/ops/gather.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/log1p.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/logical_not.hpp>
#include <tx/ops/logical_or.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/pad.hpp>
#include <tx/ops/patches.hpp>
#include <tx/ops/pool2d.hpp>
#include <tx/ops/pow.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/random.hpp>
#include <tx/ops/relu.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/rsqrt.hpp>
#include <tx/ops/scatter_add.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/sign.hpp>
#include <tx/ops/silu.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/softplus.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/square.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/top_k.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/ops/update_at.hpp>
#include <tx/ops/where.hpp>

#include <vector>

namespace drawn {

// What an operand of a line may be. Of b and c: in relation to a, whose numbers p have been chosen before.
enum class operand {
  none,
  any,
  number,     // no condition
  real,       // floating point
  truth,      // a condition
  like,       // of the type and shape of a
  meets,      // of a's type, in a shape that broadcasts with a's
  truth_too,  // a condition in a shape that broadcasts with a's
  right,      // the right side of a product with a
  joins,      // as a but for the extent of axis p[0]
  places,     // ids of elements along axis p[0] of a
  row_ids,    // ids of rows of a
  values,     // one value of a's type for each of b
};

// How the numbers p of a line are drawn.
enum class pick { nothing, axis, axes, extents, order, part, widen, padding, type, window, count, share, flag, bits };

// Which integers a value holds, if it may serve as ids: below which number they are.
enum class below { unknown, as_a, axis, last };

struct maker {
  char const* text;
  var (*make)(graph& g, var a, var b, var c, numbers const& p, row_count rows);
  operand a = operand::none, b = operand::none, c = operand::none;
  pick numbers_of = pick::nothing;
  int weight = 4;
  below limit = below::unknown;
};

// The words that the texts below use beside tx's own.
namespace words {
using namespace tx;

constexpr attributes order(numbers const& p) { return attributes{{p[0], p[1], p[2], p[3], p[4], p[5]}}; }
constexpr window window_of(numbers const& p) { return {{p[0], p[1]}, {p[2], p[3]}, {p[4], p[5]}, {p[6], p[7]}}; }

// Over the axes whose bits are set in `mask`.
template <class Reduce>
constexpr var over(var x, int mask, Reduce const& reduce) {
  int axes[max_rank] = {};
  int n = 0;
  for (int i = 0; i < x.dims().rank; ++i)
    if ((mask >> i & 1) != 0) axes[n++] = i;
  if (n == 0) throw invalid("no axis to reduce");
  return reduce(axes, n);
}
constexpr var sum_over(var x, int mask) {
  return over(x, mask, [&](int const* axes, int n) { return sum(x, axes, n); });
}
constexpr var reduced(var x, int mask, op_info const& rows) {
  return over(x, mask, [&](int const* axes, int n) { return tx::detail::reduce_axes(x, axes, n, rows, nullptr); });
}
constexpr var max_over(var x, int mask) { return reduced(x, mask, row_max_info); }
constexpr var min_over(var x, int mask) { return reduced(x, mask, row_min_info); }
constexpr var prod_over(var x, int mask) { return reduced(x, mask, row_prod_info); }
constexpr var softmax_over(var x, int mask) {
  var const e = exp(x - max_over(x, mask));
  return e / sum_over(e, mask);
}
// A product with one matrix for all of the left side's, or one for each.
constexpr var product(var x, var y) { return matmul(x, y); }
constexpr var top_k_of(var x, int k, int result) { return result_of(emit_several(top_k_info, vec<var>{x}, tx::of_top_k(k)), result); }
constexpr var arg(op_info const& op, var x, int axis) {
  shape const& s = x.dims();
  if (axis >= s.rank) throw invalid("no such axis");
  return emit(op, {x}, attributes{{axis}});
}
// A number in the shape of x.
constexpr var filled_with(var x, double value) {
  value_info const info = x.info();
  return broadcast_to(constant(*x.g, info.type, value), info.dims);
}
// (What is drawn for a bounded vector is another draw than for one of so many elements.)
constexpr var drawn_like(var x) {
  if (x.dims().rank == 1 && x.dims().bounds != 0) throw invalid("a bounded vector of random numbers");
  value_info const info = x.info();
  return uniform(*x.g, info.dims, x.g->random_streams++);
}
constexpr var dropped(var x) {
  if (x.dims().rank == 1 && x.dims().bounds != 0) throw invalid("a bounded vector of random numbers");
  return dropout(x);
}
// From x [texts, places, width] to another; what else takes part is bits of `how`. Packed, the first token is of no text; or keys lie apart, a place more
// or less of each text, so that a text may have none, among twice as many tokens perhaps.
constexpr var attended(var x, var to, int how) {
  if (x.dims().rank != 3) throw invalid("no sequences");
  shape const given = x.dims();
  int const texts = given.dim[0], places = given.dim[1], width = given.dim[2];
  bool const packed = (how & 64) != 0, apart = packed && (how & 4) != 0;
  if (packed && (given.is_bounded(2) || (given.bounds != 0 && (how & 24) != 0))) throw invalid("packed texts, of whose scores there are as many as of the longest");
  tx::attention_facts f{.causal = (how & 1) != 0 && !apart, .window = (how & 2) != 0 && !apart ? 2 : 0, .mask = (how & 4) != 0 && !packed, .bias = (how & 8) != 0, .dropout = (how & 16) != 0};
  if ((how & 32) != 0 && width % 2 == 0) f.heads = f.key_heads = 2;
  if (how % 3 == 1) f.scale = 0.75;
  bool const twice = apart && (how & 2) != 0;
  int const key_places = places + ((how & 1) != 0 ? 1 : -1);
  f.longest = packed ? places : 0;
  f.key_longest = !apart ? 0 : key_places > 0 ? key_places : 1;
  var const near = tanh(x), seen = tanh(to);  // scores of halves are halves where they are products, and have to be numbers
  auto const lying = [&](var y) { return packed ? reshape(y, tx::extents(given.at(0) * given.at(1), width)) : y; };
  auto const of_keys = [&](var y) { return twice ? reshape(concat({y, y * 0.5}, 2), tx::extents(given.at(0) * given.at(1) * 2, width)) : lying(y); };
  vec<var> in{lying(near), of_keys(seen), of_keys(to)};
  if (packed) {
    var const rows = tx::detail::extent_of(x, 0, tx::dtype::i32);
    var const text = minimum(iota(*x.g, shape{1, {}, {texts + 1}}, 0), rows), each = tx::detail::extent_of(x, 1, tx::dtype::i32);
    in.push_back(text * each + cast(less(text, 1), tx::dtype::i32));
    if (apart) in.push_back(minimum(text * (each + (key_places - places)), rows * each * (twice ? 2 : 1)));
  }
  int const axes[] = {2};
  var const by_place = sum(seen, axes, 1);  // [texts, places, 1]
  if (f.mask) in.push_back(reshape(less(-1, by_place), tx::extents(given.at(0), given.at(1))));
  if (f.bias && apart)
    in.push_back(reshape(by_place, shape{4, {}, {texts, 1, places, 1}}) * cast(iota(*x.g, shape{4, {}, {1, 1, 1, f.key_longest}}, 3), x.type()) * 0.5);
  else if (f.bias)
    in.push_back(reshape(by_place, tx::extents(given.at(0), 1, 1, given.at(1))));
  if (f.dropout) {
    bounded const keys = apart ? bounded{f.key_longest} : given.at(1);
    in.push_back(uniform(*x.g, tx::extents(given.at(0), f.heads, given.at(1), keys), x.g->random_streams++));
    in.push_back(tx::detail::dropout_rate(*x.g));
  }
  return reshape(attention(in, f), given);
}
constexpr var windows(var x, numbers const& p) { return patches(x, window_of(p)); }
constexpr var largest_places(var x, numbers const& p) { return emit(pool_places_info, {x}, tx::detail::attributes_of(window_of(p))); }
constexpr var reduced_by_all(var x) { return emit(all_reduce_info, {x}); }
constexpr var summed_by_what_all_agree_in(var x) { return emit(adaptive_sum_info, {x}, tx::detail::of_adaptive_sum(1)); }
}  // namespace words

#define TX_MAKES(...) \
  #__VA_ARGS__, [](graph& g, var a, var b, var c, numbers const& p, row_count rows) -> var { \
    using namespace words; \
    (void)g, (void)a, (void)b, (void)c, (void)p, (void)rows; \
    return __VA_ARGS__; \
  }

inline std::vector<maker> const& makers() {
  using enum operand;
  static std::vector<maker> const lines{
      // one element from one
      {TX_MAKES(-a), number},
      {TX_MAKES(abs(a)), number},
      {TX_MAKES(exp(a * 0.25)), real},
      {TX_MAKES(expm1(a * 0.25)), real},
      {TX_MAKES(log(a * a + 0.5)), real},
      {TX_MAKES(log1p(a * a)), real},
      {TX_MAKES(sqrt(a * a + 0.25)), real},
      {TX_MAKES(rsqrt(a * a + 0.25)), real},
      {TX_MAKES(sin(a)), real},
      {TX_MAKES(cos(a)), real},
      {TX_MAKES(tanh(a)), real, none, none, pick::nothing, 12},
      {TX_MAKES(sigmoid(a)), real},
      {TX_MAKES(erf(a)), real},
      {TX_MAKES(softplus(a)), real},
      {TX_MAKES(floor(a * 3)), real, none, none, pick::nothing, 2},
      {TX_MAKES(fitting_power(square(a) + 0.25) * 0.001), real, none, none, pick::nothing, 2},
      {TX_MAKES(fitting_unit(a) + 0.5), real, none, none, pick::nothing, 2},
      {TX_MAKES(sign(a)), number, none, none, pick::nothing, 2},
      {TX_MAKES(square(a)), number},
      {TX_MAKES(gelu(a)), real, none, none, pick::nothing, 2},
      {TX_MAKES(silu(a)), real, none, none, pick::nothing, 2},
      {TX_MAKES(relu(a)), real, none, none, pick::nothing, 2},
      {TX_MAKES(a * 0.5), real},
      {TX_MAKES(a + 1), number},
      {TX_MAKES(1 - a), number},
      {TX_MAKES(a * cast(run_scalar(g, p[0]), a.type())), real, none, none, pick::count, 3},
      {TX_MAKES(logical_not(a)), truth, none, none, pick::nothing, 7},
      {TX_MAKES(cast(a, static_cast<dtype>(p[0]))), any, none, none, pick::type, 5},
      {TX_MAKES(emit(copy_info, {a})), any, none, none, pick::nothing, 3, below::as_a},
      // one element from several
      {TX_MAKES(a + b), number, meets, none, pick::nothing, 14},
      {TX_MAKES(a - b), number, meets, none, pick::nothing, 10},
      {TX_MAKES(a * b), number, meets, none, pick::nothing, 14},
      {TX_MAKES(a / (b * b + 1)), number, meets, none, pick::nothing, 6},
      {TX_MAKES(pow(a * a + 0.5, sin(b))), real, meets, none, pick::nothing, 2},
      {TX_MAKES(maximum(a, b)), number, meets, none, pick::nothing, 4},
      {TX_MAKES(minimum(a, b)), number, meets, none, pick::nothing, 4},
      {TX_MAKES(less(a, b)), number, meets, none, pick::nothing, 3},
      {TX_MAKES(less_equal(a, b)), number, meets, none, pick::nothing, 2},
      {TX_MAKES(equal(a, b)), any, meets, none, pick::nothing, 2},
      {TX_MAKES(logical_and(a, b)), truth, truth_too, none, pick::nothing, 7},
      {TX_MAKES(logical_or(a, b)), truth, truth_too, none, pick::nothing, 7},
      {TX_MAKES(where(c, a, b)), any, meets, truth_too, pick::nothing, 6},
      // reductions
      {TX_MAKES(sum_over(a, p[0])), number, none, none, pick::axes, 16},
      {TX_MAKES(sum_over(a, p[0]) * (1.0 / 3)), real, none, none, pick::axes, 4},
      {TX_MAKES(max_over(a, p[0])), any, none, none, pick::axes, 8},
      {TX_MAKES(min_over(a, p[0])), any, none, none, pick::axes, 4},
      {TX_MAKES(prod_over(a, p[0])), number, none, none, pick::axes, 11},
      {TX_MAKES(softmax_over(a, p[0])), real, none, none, pick::axes, 6},
      {TX_MAKES(a - max_over(a, p[0])), number, none, none, pick::axes, 3},
      {TX_MAKES(total(a)), number, none, none, pick::nothing, 3},
      // views
      {TX_MAKES(reshape(a, dims(rows, p[6], {p[0], p[1], p[2], p[3], p[4], p[5]}))), any, none, none, pick::extents, 14, below::as_a},
      {TX_MAKES(transpose(a, order(p))), any, none, none, pick::order, 22, below::as_a},
      {TX_MAKES(transpose(a)), any, none, none, pick::nothing, 8, below::as_a},
      {TX_MAKES(broadcast_to(a, dims(rows, p[6], {p[0], p[1], p[2], p[3], p[4], p[5]}))), any, none, none, pick::widen, 8, below::as_a},
      {TX_MAKES(slice(a, p[0], p[1], p[2], p[3])), any, none, none, pick::part, 10, below::as_a},
      {TX_MAKES(stop_gradient(a)), any, none, none, pick::nothing, 2, below::as_a},
      {TX_MAKES(independent(a, p[0])), real, none, none, pick::count, 2},
      // products
      {TX_MAKES(product(a, b)), real, right, none, pick::nothing, 24},
      {TX_MAKES(product(transpose(b), transpose(a))), real, right, none, pick::nothing, 4},
      {TX_MAKES(attended(a, b, p[0])), real, like, none, pick::bits, 4},
      {TX_MAKES(attended(a, a, p[0]) * 0.5), real, none, none, pick::bits, 2},
      // whole operands
      {TX_MAKES(flip(a, p[0])), any, none, none, pick::axis, 5, below::as_a},
      {TX_MAKES(cumsum(a, p[0], p[1] != 0)), number, none, none, pick::axis, 5},
      {TX_MAKES(concat({a, b}, p[0])), any, joins, none, pick::axis, 5},
      {TX_MAKES(concat({a, b, a}, p[0])), any, joins, none, pick::axis, 2},
      {TX_MAKES(pad(a, p[0], p[1], p[2], p[3])), any, none, none, pick::padding, 5, below::as_a},
      {TX_MAKES(gather(a, b, p[0])), any, places, none, pick::axis, 6},
      {TX_MAKES(scatter_add(a, b, c, p[0])), real, places, values, pick::axis, 4},
      {TX_MAKES(slice_at(a, cast(run_scalar(g, p[1] % 3), dtype::i32), p[0], p[2])), any, none, none, pick::part, 4, below::as_a},
      {TX_MAKES(update_at(a, slice(a, p[0], p[1], p[2], p[3]), cast(run_scalar(g, p[1] % 3), dtype::i32), p[0])), any, none, none, pick::part, 5, below::as_a},
      {TX_MAKES(take(a, b)), real, row_ids, none, pick::nothing, 5},
      {TX_MAKES(embedding(a, b)), real, row_ids, none, pick::nothing, 4},
      {TX_MAKES(arg(argmax_info, a, p[0])), number, none, none, pick::axis, 3, below::axis},
      {TX_MAKES(arg(argmin_info, a, p[0])), number, none, none, pick::axis, 2, below::axis},
      {TX_MAKES(top_k_of(a, p[0], 1)), number, none, none, pick::share, 3, below::last},
      {TX_MAKES(top_k_of(a, p[0], 0)), number, none, none, pick::share, 2, below::as_a},
      {TX_MAKES(top_k_of(a, p[0], 0) + cast(top_k_of(a, p[0], 1), a.type())), real, none, none, pick::share, 2},
      {TX_MAKES(windows(a, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]})), real, none, none, pick::window, 13},
      {TX_MAKES(largest_places(a, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]})), number, none, none, pick::window, 3},
      {TX_MAKES(shard_add(a, b)), real, like, none, pick::nothing, 2},
      {TX_MAKES(reduced_by_all(a)), real, none, none, pick::nothing, 2},
      {TX_MAKES(summed_by_what_all_agree_in(a)), real, none, none, pick::nothing, 2},
      // positions and numbers drawn for them
      {TX_MAKES(iota(g, a.dims(), p[0])), any, none, none, pick::axis, 4, below::axis},
      {TX_MAKES(cast(iota(g, a.dims(), p[0]), a.type())), real, none, none, pick::axis, 4},
      {TX_MAKES(drawn_like(a)), any, none, none, pick::nothing, 2},
      {TX_MAKES(dropped(a)), real, none, none, pick::nothing, 4},
      {TX_MAKES(filled_with(a, p[0])), number, none, none, pick::count, 2},
  };
  return lines;
}

}  // namespace drawn
