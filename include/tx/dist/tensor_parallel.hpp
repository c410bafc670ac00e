// tensor_parallel<N>: an option of a step, or of a function, for N ranks that compute one batch together: each a part of the products, as Megatron divides them (Shoeybi et al., arXiv
// 1909.08053). Nothing of a model says so: which layers can be divided is found while compiling (divided_values.hpp).
//
//   recorded     h = gelu(x w + b), y = h v                            on each rank
//   divided      h' = gelu(x columns(w) + columns(b)), z = h' rows(v)  on each rank, of its part of w, b and v
//                y = sum_over_ranks(z)                                 one sum forward, and one of the gradient by x backward
//
// So it is with heads of attention, whose queries, keys and values are columns. All ranks are given the same arguments and have the same loss, and the same numbers are dropped as by one
// rank; results differ from those of one by rounding alone. Of matrices that are divided each rank keeps its part, with the optimizer's states of that (expr/state_portions.hpp), unless the
// optimizer keeps less than a number for each element; read(), write() and checkpoints hold whole tensors. 
// A vocabulary need not divide by N: each rank has room for as many words, and the last ones fewer words than that, or none; what lies behind them counts nowhere (uneven_parts.hpp).
// Beside data_parallel the ranks are a grid (core/rank_grid.hpp): N neighbours divide the products of a batch, and each such row of them has a batch of its own.
//
//   train_step<model, loss, adamw, data_parallel<3>, tensor_parallel<2>>   6 ranks
//   constexpr tx::rank_grid grid = tx::grid_of<step>(all.size());          grid.batch_of(all.rank()): which batch this rank has
//
// With zero the ranks of a column, which have the same parts, divide what lies beside those, or the parts themselves. Beside pipeline<S> N neighbours are a stage, and so a batch has S N ranks.
//
// Errors: a communicator of another number of ranks; adasum beside it.
#pragma once

#include <tx/core/portion.hpp>
#include <tx/dist/divided_parameters.hpp>
#include <tx/dist/divided_values.hpp>
#include <tx/dist/gradient_facts.hpp>
#include <tx/dist/over_ranks.hpp>
#include <tx/dist/own_rows.hpp>
#include <tx/dist/uneven_parts.hpp>
#include <tx/dist/used_portions.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>
#include <tx/passes/rewrite.hpp>
#include <tx/step/function.hpp>

namespace tx {

template <int Ranks>
struct tensor_parallel {
  static_assert(Ranks >= 1, "tx::tensor_parallel: at least one rank. FIX: tensor_parallel<2>");
};
// kept_as<step>: an option of a function whose parameters are those of a step, of which each rank may keep a portion (tensor_parallel, pipeline, zero<3>): ranks gather what it uses more of.
//
//   tx::executor<tx::function<scores, model, tx::kept_as<step>>, backend> score{run};
template <class Step>
struct kept_as {
};
template <class Step>
struct step_option<kept_as<Step>> {
  static constexpr void set(step_options& o) {
    o.tensor_ranks = Step::options.tensor_ranks;
    o.stages = Step::options.stages;
    if (o.ranks_of_batch() > 1 || Step::division.zero != 3) return;
    o.division = {.ranks = Step::division.ranks, .given = true, .zero = 3};
  }
};
template <int Ranks>
struct step_option<tensor_parallel<Ranks>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(tensor_parallel<Ranks>) > 0);  // its own assertion, as in train/options.hpp
    o.tensor_ranks = Ranks;
  }
};

namespace dist {

namespace detail {

// Writes a graph anew, each divided value as the part that this rank has of it.
class dividing {
 public:
  constexpr dividing(graph const& from, divided_values const& of, int ranks) : from_(from), values_(of), ranks_(ranks) {}

  constexpr int operator()(graph& to, int id, node& n, vec<int>& in) const {
    bool const any = values_.axis[id] >= 0 || values_.depth[id] || values_.reduced[id] || values_.lookup[id];
    if (!any) return -1;
    if (values_.lookup[id]) return lookup(to, n, in);
    if (values_.reduced[id]) return reduction(to, id, n, in);
    int const a = values_.axis[id];
    switch (n.op->kind) {
      case op_kind::view: return view(to, n, in, a);
      case op_kind::product: return product(to, id, n, in);
      case op_kind::whole: attention(to, id, n, in); return -1;
      case op_kind::result:
        to.emit_results(in[0]);  // of an op whose results are parts
        return in[0] + 1 + result_number(n.at);
      default:
        for (int k = 0; k < n.inputs; ++k)
          if (values_.axis[from_.input(id, k)] < 0) in[k] = part({&to, in[k]}, a).id;
        n.info.dims = own(n.info.dims, a);
        return -1;
    }
  }

 private:
  constexpr shape own(shape dims, int axis) const {
    dims.set(axis, static_cast<int>(rows_of_rank(dims.dim[axis], ranks_)));
    return dims;
  }
  constexpr bool is_even(int extent) const { return extent % ranks_ == 0; }
  constexpr tx::detail::divided_axis rows_of_all(int axis, int extent) const { return {axis, {ranks_, across::products}, extent}; }
  // What stands for a divided value, with another number where there is nothing of it.
  constexpr var within_extent(var x, int old, double otherwise) const {
    int const axis = values_.axis[old], extent = from_.info(old).dims.dim[axis];
    return is_even(extent) ? x : tx::detail::within_extent(x, rows_of_all(axis, extent), otherwise);
  }
  constexpr int view(graph& to, node& n, vec<int> const& in, int axis) const {
    shape const dims = own(n.info.dims, axis);
    if (n.op == &reshape_info) return reshape({&to, in[0]}, dims).id;
    if (n.op == &broadcast_info) return broadcast_to({&to, in[0]}, dims).id;
    n.info.dims = dims;
    return -1;
  }
  constexpr int product(graph& to, int id, node& n, vec<int>& in) const {
    int const left = from_.input(id, 0), right = from_.input(id, 1);
    auto const rank_of = [&](int k) { return to.info(in[k]).dims.rank; };
    if (values_.columns[id]) {
      if (has_gradient(to, in[0])) in[0] = summed({&to, in[0]}).id;
      in[1] = part({&to, in[1]}, rank_of(1) - 1, true).id;
    } else if (values_.depth[id]) {
      in[0] = within_extent({&to, in[0]}, left, 0).id;
      if (values_.axis[right] < 0) in[1] = part({&to, in[1]}, rank_of(1) - 2, true).id;
      var const addend = emit(*n.op, {var{&to, in[0]}, var{&to, in[1]}}, n.at);
      return sum_over_ranks(addend, across::products).id;
    } else if (values_.axis[left] >= 0 && values_.axis[right] < 0 && has_gradient(to, in[1])) {
      in[0] = within_extent({&to, in[0]}, left, 0).id;
      in[1] = summed({&to, in[1]}).id;  // rows of the left side: all ranks need all of the right one
    }
    int const axis = values_.axis[id], extent = n.info.dims.dim[axis];
    n.info.dims = own(n.info.dims, axis);
    if (is_even(extent)) return -1;
    auto const of = rows_of_all(axis, extent);
    tx::detail::in_extent(to, n.info.dims, of);  // before what it is of, so that what makes that can go on to use it
    return own_gradient(emit(*n.op, {var{&to, in[0]}, var{&to, in[1]}}, n.at), of).id;
  }
  // Ids that are not among a rank's rows name nothing there; nor do those behind the last word, which a program may compute, in the rest of a part.
  constexpr int lookup(graph& to, node const& n, vec<int> const& in) const {
    int const all = to.info(in[0]).dims.dim[0];
    var const table = part({&to, in[0]}, 0, true), ids{&to, in[1]};
    var own_ids = ids - broadcast_to(cast(first_of_part(to, table.dims().dim[0]), ids.type()), ids.dims());
    if (!is_even(all)) own_ids = where(less(ids, all), own_ids, -1);
    return sum_over_ranks(emit(*n.op, {table, own_ids}, n.at), across::products).id;
  }
  // [..., 1] of each rank's columns -> of all
  constexpr int reduction(graph& to, int id, node const& n, vec<int> const& in) const {
    var const own = emit(*n.op, {within_extent({&to, in[0]}, from_.input(id, 0), n.op->nothing)}, n.at);
    if (n.op == &row_sum_info) return sum_over_ranks(own, across::products).id;
    var const of_ranks = all_gather(reshape(own, extents(1, bounded(static_cast<int>(own.info().count()), own.dims().count_factors()))), 0, {ranks_, across::products}, ranks_);
    return reshape(tx::detail::max_fn<0>{}(of_ranks), own.dims()).id;
  }
  constexpr var first_of_part(graph& to, int each) const { return tx::detail::first_of_part(to, {ranks_, across::products}, each); }
  // Of heads / ranks; random numbers are those of this rank's heads.
  constexpr void attention(graph& to, int id, node& n, vec<int>& in) const {
    attention_facts f = attention_facts_of(n.at);
    if (f.dropout) {
      int const noise = 3 + f.noise_at();
      node drawn = to[in[noise]];
      int const queries = drawn.info.dims.dim[2];
      drawn.info.dims = own(drawn.info.dims, 1);
      in[noise] = emit_leaf(to, random_info, drawn.info, of_random(random_stream(drawn.at), random_shard(drawn.at), f.heads / ranks_ * queries, f.heads * queries)).id;
    }
    f.heads /= ranks_;
    f.key_heads /= ranks_;
    n.at = attributes_of(f);
    n.info.dims = own(n.info.dims, values_.axis[id]);
  }

  static constexpr var summed(var x) { return summed_gradient(x, across::products); }

  // Does a gradient come as far as this? Not to numbers and settings of a run, nor to what is made of them.
  static constexpr bool has_gradient(graph const& g, int id) {
    vec<char> seen(g.size(), 0);
    return has_gradient(g, id, seen);
  }
  static constexpr bool has_gradient(graph const& g, int id, vec<char>& seen) {
    node const& n = g[id];
    if (seen[id]) return false;  // it had none
    seen[id] = 1;
    if (!is_float(n.info.type) || !n.op->differentiable) return false;
    if (n.op->kind == op_kind::constant || n.op->kind == op_kind::index) return false;
    if (n.op->kind == op_kind::leaf || n.op->kind == op_kind::result) return true;
    for (int k = 0; k < n.inputs; ++k)
      if (has_gradient(g, g.input(n, k), seen)) return true;
    return false;
  }

  // This rank's part of what all have, taken as early as it can be. zeros_behind: what is made of it has no gradient in the rest of the part, as a product with such columns.
  constexpr var part(var x, int axis, bool zeros_behind = false) const {
    graph& g = *x.g;
    node const n = g[x.id];
    shape const dims = own(n.info.dims, axis);
    if (n.op == &iota_info) {
      var const own = iota(g, dims, position_axis(n.at));
      return position_axis(n.at) == axis ? own + broadcast_to(first_of_part(g, dims.dim[axis]), dims) : own;
    }
    if (n.op == &cast_info) return cast(part({&g, g.input(n, 0)}, axis, zeros_behind), n.info.type);
    int const extent = n.info.dims.dim[axis];
    if (n.op->kind == op_kind::view) {
      var const in{&g, g.input(n, 0)};
      shape const& from = in.dims();
      if (n.op == &broadcast_info && from.dim[axis] == 1) {  // each rank sees all of it
        if (!has_gradient(g, in.id)) return broadcast_to(in, dims);
        var const in_each = broadcast_to(summed(in), dims);
        return is_even(extent) || zeros_behind ? in_each : own_gradient(in_each, rows_of_all(axis, extent));
      }
      for (int a = 0; a < from.rank; ++a) {
        if (from.is_bounded(a) || from.dim[a] == 0 || !divided_alike(from.dim[a], extent, ranks_) || axis_of_view(n, from, a) != axis) continue;
        if (n.op == &reshape_info) return reshape(part(in, a, zeros_behind), dims);
        if (n.op == &broadcast_info) return broadcast_to(part(in, a, zeros_behind), dims);
        if (n.op == &transpose_info) return transpose(part(in, a, zeros_behind), n.at);
      }
    }
    // One value for all that use it, whose gradients are added up before they are gathered.
    attributes const at = tx::detail::divided_axis{axis, {ranks_, across::products}, 0, zeros_behind && !is_even(extent)}.coded();
    for (int id = g.size() - 1; id > x.id; --id)
      if (g[id].op == &own_rows_info && g[id].region == g.current && g.input(id, 0) == x.id && g[id].at == at) return {&g, id};
    return emit(own_rows_info, {x}, at);
  }

  graph const& from_;
  divided_values const& values_;
  int ranks_;
};

}  // namespace detail

// Of a recorded forward pass. all_whole: there may be nothing to divide, as in a program beside the step that divides.
constexpr void divide_products(graph& g, int ranks, bool all_whole = false) {
  if (ranks == 1) return;
  detail::divided_values const found(g, ranks);
  if (!found.some() && all_whole) return;
  if (!found.some()) throw invalid("tensor_parallel: no products were found that so many ranks can divide. FIX: fewer ranks, of which each has as many heads and columns, or data_parallel");
  g = passes::rewrite(g, detail::dividing(g, found, ranks));
  g = passes::rewrite(g, passes::detail::as_it_is{});  // without what was divided
}

// Of each entry of a model's layout the axis that ranks divide, where they divide a program's products; -1: each has all.
template <class Model, auto F>
constexpr auto axes_kept(step_options const& options) {
  fixed<signed char, layout<Model>::entries.size() + 1> axes{};
  graph g{};
  tx::detail::record_forward<Model, F>(g, options);
  divide_products(g, options.tensor_ranks);
  used_portions<Model> const found(g);
  for (int k = 0; k < layout<Model>::entries.size(); ++k) axes[k] = static_cast<signed char>(found.axis_of(k));
  return axes;
}

}  // namespace dist

namespace detail {
template <class... Options>
struct portions_of_step {
  static constexpr state_kinds states() { return 0; }
};
template <class Option, class... More>
struct portions_of_step<Option, More...> : portions_of_step<More...> {};
template <class Step, class... More>
struct portions_of_step<kept_as<Step>, More...> {
  static constexpr state_kinds states() { 
    portioning const how = Step::states.portions_of_parameters();
    return state_kinds(0).divided_by(how, how.count);
  }
};
}  // namespace detail

template <class Model, int Ranks, class... Options>
  requires(Ranks > 1)
struct detail::divided_products<Model, Ranks, Options...> {
  static_assert(options_of<Options...>().stages == 1 || portions_of_step<Options...>::states().divides_parameters(), "tx::function: ranks have the blocks of a step that has a pipeline, and there is none. FIX: kept_as<step>, or no tx::pipeline");
  static constexpr state_kinds states() { return portions_of_step<Options...>::states(); }
  static constexpr void divide(graph& g) {
    dist::divide_products(g, options_of<Options...>().tensor_ranks, states().divides_parameters());
    if (!states().divides_parameters()) return;
    gradient_facts<Model> const facts(states());
    dist::use_portions(g, facts);
    dist::divide_parameters(g, facts, across::batches);
    dist::divide_parameters(g, facts, across::products);
    dist::gather_parameters(g);
    dist::keep_in_portions(g, facts);
  }
};

}  // namespace tx
