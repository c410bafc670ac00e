// zero<3>: of a parameter a rank keeps a portion of the rows. It is gathered where it is used: in a repeated block one block's at a time, in the forward pass and again in
// the backward one. Its gradient is that of what was gathered, as it is without; ranks add it up later, where a rank keeps it.
//
//   recorded      parameter w [12, 768, 768], of which a block uses a slice [768, 768]
//   divided       rows p [12, 192, 768] beside it; a block uses gathered_parameter(slice of p, slice of w)
//   gathered      after differentiation: all_gather(slice of p). Nobody reads w any more; it says what its gradient is by
#pragma once

#include <tx/dist/gradient_facts.hpp>
#include <tx/dist/reduce_scatter.hpp>
#include <tx/graph/change.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/slice.hpp>
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

namespace dist {

namespace detail {

template <class Facts>
class divider {
 public:
  // by: ranks that divide parameters, of which one slice after the other is gathered. What others divide as well is gathered where the program begins.
  constexpr divider(graph& g, Facts const& facts, across by) : g_(g), facts_(facts), by_(by), own_(g.size()), portion_(g.size()), kept_(g.size(), -1), whole_(g.size(), -1) {}

  constexpr void run() {
    for (int id = 0; id < own_; ++id)
      if (g_[id].op == &parameter_info) begin(id);
    for (int loops = 1; loops <= max_loops; ++loops)  // outer bodies hand on to those inside them
      for (int r = 1; r < g_.regions.size(); ++r)
        if (g_.regions[r].owner >= 0 && g_.loops_around(r) == loops) hand_in(r);
    replace_uses();
  }

 private:
  constexpr void begin(int id) {
    node const n = g_[id];
    int const entry = parameter_entry(n.at);
    tensor_portion const of_products = not_in_use(n, across::products);
    if (by_ == across::batches && of_products) return;  // one for those that divide products
    portion_[id] = by_ == across::products ? of_products : facts_.of_parameter(n, by_);
    value_info const shown = portion_[id] ? facts_.portion(n.info, entry, by_) : n.info;
    if (facts_.divides(entry, across::stages) || (by_ != across::batches && facts_.divides(entry, across::batches))) (portion_[id] ? kept_ : whole_)[id] = gathered_first(n, shown);
    else if (portion_[id]) kept_[id] = rows_of_block(shown, parameter_first(n.at)).id;
  }
  // A portion of more than what is used of it (used_portions.hpp).
  constexpr tensor_portion not_in_use(node const& leaf, across which) const {
    tensor_portion const p = facts_.of_parameter(leaf, which);
    return p && leaf.info.dims.dim[p.axis] == p.rows ? p : tensor_portion{};
  }
  constexpr var rows_of_block(value_info const& info, std::int64_t first) const {
    g_.current = 0;
    return emit_leaf(g_, block_info, info, of_block(0, first));
  }
  // Of all blocks of a repeat those that the leaf shows, of which a rank uses what `shown` says.
  constexpr int gathered_first(node const& leaf, value_info const& shown) const {
    int const entry = parameter_entry(leaf.at);
    node all = leaf;
    all.info = facts_.parameter(entry);
    var x = rows_of_block(facts_.kept(all.info, entry), facts_.first(entry));
    for (across const which : {across::batches, across::stages})  // each divides what the next one leaves
      if (tensor_portion const p = facts_.of_parameter(all, which); p && which != by_) x = all_gather(x, p.axis, p.ranks, p.rows);
    if (x.info().count() == shown.count()) return reshape(x, shown.dims).id;
    std::int64_t const blocks = x.dims().dim[0], of_block = all.info.count() / blocks;
    int const first = static_cast<int>((parameter_first(leaf.at) - facts_.first(entry)) / of_block), count = static_cast<int>(shown.count() / (x.info().count() / blocks));
    return reshape(slice(x, 0, first, count, 1), shown.dims).id;
  }
  // Slices of what is kept, beside those of the parameter. A scan over the rows themselves is given what is gathered.
  constexpr void hand_in(int r) {
    int const first = g_.regions[r].carries + g_.regions[r].invariants, count = g_.regions[r].arguments.size();
    for (int k = first; k < count; ++k) {
      int const outside = g_.input(g_.regions[r].owner, k), inside = g_.regions[r].arguments[k];
      if (outside >= own_ || kept_[outside] < 0 || portion_[outside].axis == 0) continue;
      portion_[inside] = portion_[outside];
      --portion_[inside].axis;
      value_info const all = g_.info(kept_[outside]);
      kept_[inside] = passes::detail::slice_handed_in(g_, r, kept_[outside], {all.type, all.dims.inner()});
    }
  }
  // By what is gathered, or kept; but a body whose slices are gathered inside is given the parameter as it was.
  constexpr void replace_uses() {
    for (int id = 0; id < own_; ++id)
      for (int k = 0; k < g_[id].inputs; ++k) {
        int const in = g_.input(id, k);
        bool const as_it_was = in < own_ && kept_[in] >= 0 && portion_[in].axis > 0 && hands_slices_in(id, k);
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
    if (id >= own_) return id;
    if (whole_[id] >= 0 || kept_[id] < 0) return whole_[id] >= 0 ? whole_[id] : id;
    node const of = g_[id];
    g_.current = of.region;
    g_.when = of.when;
    g_.site = of.site;
    tx::detail::divided_axis const axis{portion_[id].axis, portion_[id].ranks, of.info.dims.dim[portion_[id].axis]};
    whole_[id] = emit(gathered_parameter_info, {var{&g_, kept_[id]}, var{&g_, id}}, axis.coded()).id;
    return whole_[id];
  }

  graph& g_;
  Facts const& facts_;
  across by_;
  int own_;                      // nodes from here on are made here
  vec<tensor_portion> portion_;  // of a divided parameter, or of what a body sees of it
  vec<int> kept_;                // it -> what this rank keeps of it; -1: it is not divided
  vec<int> whole_;               // it -> what stands for it
};

struct gathering {
  constexpr int operator()(graph&, int, node& n, vec<int>& in) const {
    if (n.op != &gathered_parameter_info) return -1;
    n.op = &all_gather_info;
    in.resize(1);
    return -1;
  }
};

}  // namespace detail

// Of a recorded forward pass: parameters that those ranks divide are gathered.
template <class Facts>
constexpr void divide_parameters(graph& g, Facts const& facts, across by) {
  detail::divider<Facts> divide(g, facts, by);
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
