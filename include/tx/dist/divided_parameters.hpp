// zero<3>: of a parameter a rank keeps a portion of the rows. It is gathered where it is used: in a repeated block one block's at a time, in the forward pass and again in
// the backward one. Its gradient is that of what was gathered, as it is without; ranks add it up later, where a rank keeps it.
//
//   recorded      parameter w [12, 768, 768], of which a block uses a slice [768, 768]
//   divided       rows p [12, 192, 768] beside it; a block uses gathered_parameter(slice of p, slice of w)
//   gathered      after differentiation: all_gather(slice of p). Nobody reads w any more; it says what its gradient is by
//
// tensor_parallel: of a parameter each rank uses a portion, own_rows(slice of w), and keeps that alone.
//
//   divided       own_parameter(slice of p, own_rows(slice of w))
//   afterwards    slice of p
#pragma once

#include <tx/dist/reduce_scatter.hpp>
#include <tx/passes/hand_in.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx {

namespace detail {
constexpr value_info gathered_parameter_infer(value_info const* in, int, attributes const&) { return in[1]; }
constexpr void gathered_parameter_vjp(vjp_context& c) { c.accumulate(1, c.gradient); }
}  // namespace detail

// (what a rank keeps of it, the parameter), in a graph alone: no program runs it. Attributes are those of the all_gather that it becomes.
inline constexpr op_info gathered_parameter_info{.name = "gathered_parameter",
                                                 .kind = op_kind::collective,
                                                 .arity = 2,
                                                 .infer = detail::gathered_parameter_infer,
                                                 .vjp = detail::gathered_parameter_vjp,
                                                 .along_axis = true,
                                                 .computed_again = true};

// (what a rank keeps, the part of the parameter that it uses), in a graph alone.
inline constexpr op_info own_parameter_info{.name = "own_parameter",
                                            .kind = op_kind::collective,
                                            .arity = 2,
                                            .infer = detail::gathered_parameter_infer,
                                            .vjp = detail::gathered_parameter_vjp,
                                            .along_axis = true,
                                            .computed_again = true};

namespace dist {

namespace detail {

template <class Facts>
class divider {
 public:
  // parts: each rank uses its portion as it is.
  constexpr divider(graph& g, Facts const& facts, bool parts) : g_(g), facts_(facts), parts_(parts), own_(g.size()), axis_(g.size(), -1), kept_(g.size(), -1), part_(g.size(), -1), whole_(g.size(), -1) {}

  constexpr void run() {
    for (int id = 0; id < own_; ++id) {
      if (g_[id].op != &parameter_info) continue;
      int const axis = facts_.divided_axis(g_[id]);
      if (axis < 0) continue;
      axis_[id] = axis;
      attributes const at = of_block(0, parameter_first(g_[id].at));
      kept_[id] = emit_leaf(g_, block_info, facts_.kept(g_.info(id), parameter_entry(g_[id].at)), at).id;
    }
    for (int loops = 1; loops <= max_loops; ++loops)  // outer bodies hand on to those inside them
      for (int r = 1; r < g_.regions.size(); ++r)
        if (g_.regions[r].owner >= 0 && g_.loops_around(r) == loops) hand_in(r);
    for (int id = 0; id < own_ && parts_; ++id) {
      int const in = g_[id].op == &own_rows_info ? g_.input(id, 0) : own_;
      if (in < own_ && kept_[in] >= 0 && tx::detail::divided_axis::of(g_[id].at).axis == axis_[in]) part_[id] = kept_[in];
    }
    replace_uses();
  }

 private:
  // Slices of what is kept, beside those of the parameter. A scan over the rows themselves is given what is gathered.
  constexpr void hand_in(int r) {
    int const first = g_.regions[r].carries + g_.regions[r].invariants, count = g_.regions[r].arguments.size();
    for (int k = first; k < count; ++k) {
      int const outside = g_.input(g_.regions[r].owner, k), inside = g_.regions[r].arguments[k];
      if (outside >= own_ || kept_[outside] < 0 || axis_[outside] == 0) continue;
      axis_[inside] = axis_[outside] - 1;
      value_info const all = g_.info(kept_[outside]);
      kept_[inside] = passes::detail::slice_handed_in(g_, r, kept_[outside], {all.type, all.dims.inner()});
    }
  }
  // By what is gathered, or kept; but a body whose slices are gathered inside is given the parameter as it was.
  constexpr void replace_uses() {
    for (int id = 0; id < own_; ++id)
      for (int k = 0; k < g_[id].inputs; ++k) {
        int const in = g_.input(id, k);
        bool const as_it_was = part_[id] >= 0 || (in < own_ && kept_[in] >= 0 && axis_[in] > 0 && hands_slices_in(id, k));
        int const seen = as_it_was ? in : replaced(in);
        g_.operands[g_[id].first + k] = seen;
      }
    for (int r = 0; r < g_.regions.size(); ++r)
      for (int k = 0; k < g_.regions[r].results.size(); ++k) {
        int const seen = replaced(g_.regions[r].results[k]);
        g_.regions[r].results[k] = seen;
      }
    for (int k = 0; k < g_.outputs.size(); ++k) {
      int const seen = replaced(g_.outputs[k].value);
      g_.outputs[k].value = seen;
    }
    g_.current = 0;
    g_.site = 0;
  }
  constexpr bool hands_slices_in(int id, int k) const {
    if (g_[id].op != &repeat_info) return false;
    region const& body = g_.regions[run_region(g_[id].at)];
    return k >= body.carries + body.invariants;
  }
  constexpr int replaced(int id) {
    if (id >= own_ || (kept_[id] < 0 && part_[id] < 0)) return id;
    if (whole_[id] >= 0) return whole_[id];
    node const of = g_[id];
    g_.current = of.region;
    g_.when = of.when;
    g_.site = of.site;
    if (part_[id] >= 0) {
      whole_[id] = emit(own_parameter_info, {var{&g_, part_[id]}, var{&g_, id}}).id;
    } else {
      tx::detail::divided_axis const axis{axis_[id], facts_.ranks(), of.info.dims.dim[axis_[id]]};
      whole_[id] = emit(gathered_parameter_info, {var{&g_, kept_[id]}, var{&g_, id}}, axis.coded()).id;
    }
    return whole_[id];
  }

  graph& g_;
  Facts const& facts_;
  bool parts_;
  int own_;         // nodes from here on are made here
  vec<int> axis_;   // of the rows of a divided parameter, or of what a body sees of it
  vec<int> kept_;   // it -> what this rank keeps of it; -1: it is not divided
  vec<int> part_;   // what this rank uses of it -> the same
  vec<int> whole_;  // it -> what stands for it: what is gathered, or is kept
};

struct gathering {
  constexpr int operator()(graph&, int, node& n, vec<int>& in) const {
    if (n.op == &own_parameter_info) return in[0];
    if (n.op != &gathered_parameter_info) return -1;
    n.op = &all_gather_info;
    in.resize(1);
    return -1;
  }
};

}  // namespace detail

// Of a recorded forward pass. parts: each rank uses its portions as they are, else they are gathered.
template <class Facts>
constexpr void divide_parameters(graph& g, Facts const& facts, bool parts = false) {
  detail::divider<Facts> divide(g, facts, parts);
  divide.run();
  g = passes::rewrite(g, passes::detail::as_it_is{});
}

// Once nothing more is differentiated.
constexpr void gather_parameters(graph& g) {
  g = passes::rewrite(g, detail::gathering{});
  g = passes::rewrite(g, passes::detail::as_it_is{});  // without what read the parameters themselves
}

// The last thing that is done to such a graph: parameters, and rows of them, begin where a rank keeps them.
template <class Facts>
constexpr void keep_in_portions(graph& g, Facts const& facts) {
  for (int id = 0; id < g.size(); ++id) {
    node const& n = g[id];
    std::int64_t const first = n.op == &parameter_info || (n.op == &block_info && block_number(n.at) == 0) ? facts.kept_parameter(n) : -1;
    if (first < 0) continue;
    g.nodes[id].at = n.op == &parameter_info ? of_parameter(first, parameter_entry(n.at)) : of_block(0, first);
  }
}

}  // namespace dist
}  // namespace tx
