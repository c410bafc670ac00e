// Products by parameters multiply E4M3, a quarter of an f32, with a scale for each row of the left side and each column of the right one: after mixed(), which has
// them multiply halves, and after differentiation, so that the gradient by what a parameter is multiplied with is such a product too. Gradients by parameters
// stay products of halves: what they add up is of all sizes.
//
//   before   p = matmul(x, w)                                          x [rows, depth], w [depth, cols] of halves, w a view of a rounded parameter; p f32
//   after    a = max<-1>(abs(x)) [rows, 1], b = max<-1>(abs(transpose(w))) [cols, 1]
//            q = cast<e4m3>(x * fitting_power(a)), r = cast<e4m3>(transpose(w) * fitting_power(b))
//            p = matmul(q, transpose(r)) * fitting_unit(a) * transpose(fitting_unit(b))
//
// A row beyond 2^87 may run over before the other side's unit brings it back, which leaves an infinity. Scales are powers of two, so nothing but the rounding to E4M3 is lost, and of the very row alone, so it does not matter what else is in a batch, or which rank
// has the row. Both sides lie depth by depth, as units for matrices take them. A row with a NaN or an infinity gives NaN: E4M3 has no room for either, and makes
// NaN of both. Which program a product belongs to says whether it is such, not the machine: what a machine cannot multiply is widened (passes/widened.hpp).
//
// What stays: products whose depth or columns are no multiple of 16 or bounded, products of two parameters, a parameter that is repeated for each product of a batch.
#pragma once

#include <tx/ops/abs.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/fitting_power.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/passes/hand_in.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

namespace detail {

// Rows that have been brought into the range of E4M3.
struct fitted_rows {
  var values;  // [..., rows, depth] of E4M3
  var units;   // [..., rows, 1]: what one stands for
};
constexpr fitted_rows fitted(var halves) {
  var const x = cast(halves, dtype::f32), greatest = emit(row_max_info, {elementwise(abs_info, {x})});
  return {cast(x * fitting_power(greatest), dtype::e4m3), fitting_unit(greatest)};
}

class quartering {
 public:
  constexpr quartering(graph const& from, bool (*is_weight)(node const&)) : from_(from), is_weight_(is_weight), of_gradient_(from.size(), 0) {
    for (output const& o : from.outputs)
      if (o.kind == output_kind::gradient) adds_up(o.value);
  }

  constexpr int operator()(graph& to, int id, node& n, vec<int>& in) const {
    if (!is_taken(id)) return -1;
    fitted_rows const left = fitted({&to, in[0]}), right = fitted(transpose(var{&to, in[1]}));
    int const sides[] = {left.values.id, transpose(right.values).id};
    var const sums{&to, to.emit(n.op, sides, 2, n.at, n.info)};
    return (sums * left.units * transpose(right.units)).id;
  }

 private:
  constexpr bool is_taken(int id) const {
    node const& n = from_[id];
    if (n.op != &matmul_info || n.when == step_phase::update || of_gradient_[id]) return false;
    int const left = from_.input(n, 0), right = from_.input(n, 1);
    if (from_.info(left).type != dtype::bf16) return false;
    return is_whole(from_.info(left).dims) && is_whole(n.info.dims) && is_parameter(left) != is_parameter(right);
  }
  // Is the last extent one that units for matrices take?
  static constexpr bool is_whole(shape const& s) { return !s.is_bounded(s.rank - 1) && s.last() > 0 && s.last() % 16 == 0; }

  // A parameter, rounded and viewed, whole or a slice in repeated blocks; or what ranks gather of it, or have of it.
  constexpr bool is_parameter(int id) const {
    for (;;) {
      node const& n = from_[id];
      bool const shown = n.op->kind == op_kind::view && n.op != &broadcast_info, divided = n.op->kind == op_kind::collective && n.op->along_axis;
      if (n.op == &argument_info) {
        int const outside = outermost(from_, id);
        if (outside < 0) return false;
        id = outside;
      } else if (shown || divided || n.op == &cast_info) {
        id = from_.input(n, 0);
      } else {
        return (n.op == &parameter_info || (n.op == &block_info && block_number(n.at) == 0)) && is_weight_(n);
      }
    }
  }
  // Notes the products that a gradient by a parameter is a sum of.
  constexpr void adds_up(int id) {
    node const& n = from_[id];
    if (n.op->kind == op_kind::product) of_gradient_[id] = 1;
    if (n.op == &result_info && !from_.has_results(from_.input(n, 0))) adds_up(from_.regions[run_region(from_[from_.input(n, 0)].at)].results[result_number(n.at)]);
    bool const passes_on = n.op->kind == op_kind::view || n.op == &cast_info || n.op == &add_info;
    for (int k = 0; passes_on && k < n.inputs; ++k) adds_up(from_.input(id, k));
  }

  graph const& from_;
  bool (*is_weight_)(node const&);
  vec<char> of_gradient_;
};

}  // namespace detail

// is_weight: whether a leaf is a parameter that is trained or frozen, rather than a state.
constexpr graph quarters(graph const& g, bool (*is_weight)(node const&)) { return rewrite(g, detail::quartering(g, is_weight)); }

}  // namespace tx::passes
