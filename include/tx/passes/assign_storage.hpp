// The one place where it is decided where values lie. In one traversal the graph is written anew: each node is told where its elements
// are as soon as it stands there, and where its reader cannot do with that, a copy goes between. So nothing is foreseen: what a copy
// is needed for is asked of what is there. Who asks: ops that see whole operands (they want them dense), views that no strides
// express, carries, stacked values, operands of a flat block, results, and leaves that are replaced.
//
//   before   y = transpose(x), z = take(y, ids)
//   after    y = transpose(x), c = copy(y), z = take(c, ids)      a take sees dense tables; y shows x's elements in another order
#pragma once

#include <tx/ops/copy.hpp>
#include <tx/ops/join.hpp>
#include <tx/passes/continued_carry.hpp>
#include <tx/passes/storage_order.hpp>

namespace tx::passes {

struct stored_graph {
  graph nodes{};
  storage where{};
  vec<int> node_of{};  // node of the graph before -> the same here
};

namespace detail {

class storage_assigner {
 public:
  constexpr explicit storage_assigner(graph const& from) : from_(from), order_(storage_order(from)), continued_(from), map_(from.size(), -1) {
    to_.reserve(from);
    to_.numbers = from.numbers;
    to_.take_program_facts(from);
    to_.regions = from.regions;
    where_.of.reserve(from.size());
    where_.moved.reserve(from.size());
    taken_.reserve(from.size());
  }

  constexpr stored_graph run() {
    for (int i = 0; i < from_.size(); ++i) visit(i);
    to_.current = 0;
    to_.site = 0;
    store_outputs();
    place_bases();
    where_.shared = shared_storage(to_);
    return {static_cast<graph&&>(to_), static_cast<storage&&>(where_), static_cast<vec<int>&&>(map_)};
  }

 private:
  struct leaf_read {
    int node, operand;
    int before = -1;  // the read before it of the same storage, -1 where there is none
  };

  constexpr void visit(int i) {
    node const& n = from_[i];
    to_.current = n.region;
    to_.when = n.when;
    to_.site = n.site;
    in_.clear();
    for (int k = 0; k < n.inputs; ++k) in_.push_back(map_[from_.input(n, k)]);
    op_kind const kind = n.op->kind;
    if (n.op == &repeat_info) store_region(n);
    if (n.op == &join_info) {
      for (int k = 0; k < n.inputs; ++k) in_[k] = joined_here(in_[k], n.region, joined_strides(from_, i, k));
    } else if (kind == op_kind::gather_all) {
      for (int& value : in_) value = computed_here(through_dense(to_, value), value, n.region, false);
    }
    if (kind == op_kind::view && needs_dense(n)) in_[0] = copy(in_[0], n.region);
    if (kind == op_kind::product)  // strides will do, but elements have to be there
      for (int& value : in_)
        if (is_known(where_.of[value].base)) value = copy(value, n.region);
    if (n.op->awaits) in_[1] = begun_with(in_[0]);
    else if (kind == op_kind::whole || kind == op_kind::collective)  // these see dense operands only
      for (int& value : in_)
        if (!lies_dense(to_, where_, value) || is_known(where_.of[value].base)) value = copy(value, n.region);
    map_[i] = emit(n.op, in_, n.at, n.info, order_[i]);
    if (n.op == &repeat_info) to_.regions[run_region(n.at)].owner = map_[i];
  }

  // The very value, a copy perhaps, that a collective reads until it is awaited.
  constexpr int begun_with(int begun) const {
    if (!to_[begun].op->begins || !lies_dense(to_, where_, begun)) throw invalid("assign_storage: what is awaited is not what was begun");
    return to_.input(begun, 0);
  }

  // ---- what a region needs ---------------------------------------------------------------------------------------------

  constexpr void store_region(node const& n) {
    int const r = run_region(n.at);
    region const& body = from_.regions[r];
    region& now = to_.regions[r];
    for (int k = 0; k < body.arguments.size(); ++k) now.arguments[k] = map_[body.arguments[k]];
    for (int k = body.carries; k < body.results.size(); ++k) {
      int const value = map_[body.results[k]];
      int const shown = shows_all(value) ? where_.of[value].base : value;  // it is stacked in the order in which that is computed
      now.results[k] = takes_place(shown, r, true) ? value : copy(value, r);
    }
    // A carry may become another one, or its own elements in another order: those are read before any is overwritten.
    vec<int> next{};
    vec<int> kept{};  // carries that a loop in the body hands on in their own buffer
    for (int k = 0; k < body.carries; ++k) {
      int const value = map_[body.results[k]];
      int const base = where_.of[value].base;
      kept.push_back(to_[value].op == &result_info && base == where_.of[now.arguments[k]].base && lies_dense(to_, where_, value));
      bool const itself = base == now.arguments[k] && lies_dense(to_, where_, value);  // it has as many elements
      next.push_back(to_[base].op == &argument_info && !itself ? copy(value, r) : value);
    }
    for (int k = 0; k < body.carries; ++k) {
      bool const here = next[k] == map_[body.results[k]] && is_stacked_result(to_, next[k]) && may_be_stored_over_carry(now.arguments[k], next[k]) &&
                        takes_place(next[k], r, false);
      now.results[k] = here || kept[k] ? next[k] : copy(next[k], r);
      if (!continues(now.arguments[k])) in_[k] = copy(in_[k], n.region);
    }
  }
  // Of a carry who reads it is known so far: in the body that it is carried through.
  constexpr bool may_be_stored_over_carry(int argument, int value) const {
    int const old = where_.of[argument].base;
    vec<leaf_read> reads{};
    for (int i = to_.size() - 1; i > argument; --i)
      for (int k = 0; k < to_[i].inputs; ++k)
        if (where_.of[to_.input(i, k)].base == old) reads.push_back({i, to_.input(i, k)});
    return may_be_stored_over(old, value, reads);
  }
  // Has an argument the buffer of a carry of the loop around?
  constexpr bool continues(int argument) const { return where_.of[argument].base != argument; }

  // `value` where it is computed once, in the region that wants it, and dense unless any order will do: it is then computed right
  // where it is wanted. Else a copy of `shown`, which shows it.
  constexpr int computed_here(int value, int shown, int region_id, bool any_order) {
    return takes_place(value, region_id, any_order) ? value : copy(shown, region_id);
  }
  // The same where it is joined with others: `order` has the strides of all of them.
  constexpr int joined_here(int value, int region_id, strided const& order) {
    bool const lies_so = same_steps(where_.of[value].at, order, to_.info(value).dims);
    return lies_so && takes_place(value, region_id, true) ? value : copy(value, region_id, order);
  }
  // A view of each element of its base once, in whatever order.
  constexpr bool shows_all(int value) const {
    location const& l = where_.of[value];
    shape const& dims = to_.info(value).dims;
    if (to_[value].op->kind != op_kind::view || l.at.offset != quantity{} || moves(l) || count_in(dims) != count_in(to_.info(l.base).dims)) return false;
    for (int a = 0; a < dims.rank; ++a)
      if (dims.dim[a] != 1 && l.at.stride[a] == quantity{}) return false;
    return true;
  }
  constexpr bool takes_place(int value, int region_id, bool any_order) {
    bool const made_here = is_computed(to_, value) || is_stacked_result(to_, value);
    if (!made_here || taken_[value] || to_[value].region != region_id) return false;
    if (!any_order && !lies_dense(to_, where_, value)) return false;
    taken_[value] = 1;
    return true;
  }

  // ---- what readers need -----------------------------------------------------------------------------------------------

  // A view whose elements must move and which does not show its operand row by row: of a dense operand it is strides again.
  constexpr bool needs_dense(node const& n) const {
    strided seen = where_.of[in_[0]].at;
    shape const& given = to_.info(in_[0]).dims;
    if (n.op->restride(seen, given, n.info.dims, n.at)) return false;
    return count_in(n.info.dims) != count_in(given) || !(innermost(n.info.dims) == innermost(given));
  }

  // A number known while compiling is nowhere in memory. (Positions are, where a reader wants them so: see fuse.hpp.)
  constexpr bool is_known(int base) const { return to_[base].op->kind == op_kind::constant; }

  // ---- outputs ---------------------------------------------------------------------------------------------------------

  constexpr void store_outputs() {
    shared_ = shared_storage(to_);
    last_read_ = vec<int>(to_.size(), -1);
    for (int i = 0; i < to_.size(); ++i)
      for (int k = 0; k < to_[i].inputs; ++k) note_read(i, to_.input(i, k));
    for (output const& o : from_.outputs) note_read(to_.size(), map_[o.value]);  // copied out at the end
    bool replaces = false;
    for (output const& o : from_.outputs) replaces = replaces || o.target >= 0;
    vec<int> values{};  // a leaf that is handed out, or becomes another one, is read before any is overwritten
    for (output const& o : from_.outputs) {
      int const value = map_[o.value];
      bool const leaf = replaces && to_[where_.of[value].base].op->kind == op_kind::leaf;
      values.push_back(leaf ? copy(value, 0) : -1);
    }
    for (int k = 0; k < from_.outputs.size(); ++k) {
      output const& o = from_.outputs[k];
      int const target = o.target < 0 ? -1 : map_[o.target];
      int const shown = values[k] >= 0 ? values[k] : map_[o.value];
      int const value = through_dense(to_, shown);
      bool const here = values[k] < 0 && may_be_stored_at(target, value) && (takes_place(value, 0, false) || flat_result(o, value));
      to_.outputs.push_back({here ? value : copy(shown, 0), o.kind, target});
    }
  }

  constexpr void note_read(int node_id, int operand) {
    int const base = where_.of[operand].base;
    if (!in_block(to_, base)) return;
    reads_.push_back({node_id, operand, last_read_[shared_[base]]});
    last_read_[shared_[base]] = reads_.size() - 1;
  }
  constexpr bool may_be_stored_at(int leaf, int value) const {
    if (leaf < 0) return true;
    vec<leaf_read> reads{};
    for (int k = last_read_[shared_[leaf]]; k >= 0; k = reads_[k].before) reads.push_back(reads_[k]);
    return may_be_stored_over(leaf, value, reads);
  }
  // May a new value be stored over an old one, a leaf or a carry? Only if it reads the old one element by element, and nobody reads that later.
  //   A value that a loop stacks replaces one slice of the old one in each iteration: in the body others may read that slice alone,
  //   and the maker itself only if it stores the slice's elements in their order.
  //   If a loop within that body stacks the slice in turn, each iteration of the inner one replaces a slice of that slice: then nobody else may read the old value.
  // reads: of the old value, the last one first.
  constexpr bool may_be_stored_over(int old, int value, vec<leaf_read> const& reads) const {
    if (!(to_.info(old) == to_.info(value))) return false;
    bool const stacked = is_stacked_result(to_, value);
    int const made = stacked ? where_.of[body_of(value).results[result_number(to_[value].at)]].base : value;
    int const maker = to_.is_result_of_op(made) ? to_.input(made, 0) : made;
    if (stacked && is_stacked_result(to_, maker)) return reads.empty();
    for (leaf_read const& r : reads) {
      if (!stacked) {
        int const when = seen_from(to_[maker].region, r.node);
        if (when < maker) continue;
        if (when != r.node) return false;  // a number that a later loop reads, without being given it
      }
      if (r.node < maker) {
        bool const in_body = to_[r.node].region == to_[maker].region;
        if (in_body && (where_.of[r.operand].base != old || !moves_by(where_.of[r.operand], to_.loops_around(to_[maker].region), count_in(to_.info(maker).dims)))) return false;
        continue;
      }
      bool const hands_in = r.node < to_.size() && to_[r.node].op == &repeat_info;  // who reads there stands in the body
      if (hands_in && r.node < value) continue;
      if (r.node > maker || !reads_where_it_writes(r) || where_.of[r.operand].base != old) return false;
      if (stacked ? !shows_slice(r.operand, to_[maker].region) || !lies_dense(to_, where_, made) : !lies_dense(to_, where_, r.operand)) return false;
    }
    return true;
  }
  // The node of a region as a part of which another node runs: the loop around it, or that node itself.
  constexpr int seen_from(int region_id, int node_id) const {
    while (node_id < to_.size() && to_[node_id].region != region_id && to_[node_id].region != 0 && to_.regions[to_[node_id].region].owner >= 0)
      node_id = to_.regions[to_[node_id].region].owner;
    return node_id;
  }
  constexpr bool reads_where_it_writes(leaf_read const& r) const {
    node const& n = to_[r.node];
    if (!n.op->over_first) return n.op->kind == op_kind::elementwise;
    bool first_alone = r.operand == to_.input(n, 0);
    for (int k = 1; k < n.inputs; ++k) first_alone = first_alone && to_.input(n, k) != r.operand;
    return first_alone;
  }
  constexpr region const& body_of(int result) const { return to_.regions[run_region(to_[to_.input(result, 0)].at)]; }
  // An iteration's slice of its base, element by element, for who reads it in a region.
  constexpr bool shows_slice(int id, int region_id) const {
    location const& l = where_.of[id];
    return l.at.offset == quantity{} && moves_by(l, to_.loops_around(region_id), count_in(to_.info(id).dims)) && lies_dense(to_, where_, id);
  }
  // A flat block is handed out as it lies.
  constexpr bool flat_result(output const& o, int value) {
    if (o.target >= 0 || to_[value].op->kind != op_kind::gather_all || to_[value].region != 0 || taken_[value]) return false;
    taken_[value] = 1;
    return true;
  }

  // ---- where nodes lie -------------------------------------------------------------------------------------------------

  constexpr int emit(op_info const* op, vec<int> const& in, attributes const& at, value_info const& info, strided const& order) {
    int const id = to_.emit(op, in.data(), in.size(), at, info);
    if (id == where_.of.size()) note_location(order);
    return id;
  }
  // Of the first node that has none yet.
  constexpr void note_location(strided const& order) {
    where_.moved.push_back(0);
    taken_.push_back(0);
    where_.of.push_back(locate(where_.of.size(), order));
  }
  constexpr int copy(int value, int region_id) { return copy(value, region_id, dense(to_.info(value).dims)); }
  constexpr int copy(int value, int region_id, strided const& order) {
    int const saved = to_.current;
    to_.current = region_id;
    int const c = emit(&copy_info, vec<int>{value}, of_copy(++copies_), to_.info(value), order);
    to_.current = saved;
    return c;
  }

  // Of the base alone, until all bases have their places.
  constexpr location locate(int id, strided const& order) {
    node const& n = to_[id];
    location const own{id, id, order, {}, dense(n.info.dims)};
    if (n.op->kind == op_kind::view) return locate_view(n, own);
    if (n.op == &argument_info) return locate_argument(n, own);
    if (n.op == &result_info && !to_.is_result_of_op(id)) return locate_result(n, own);
    return own;
  }
  constexpr location locate_view(node const& n, location const& own) {
    location seen = where_.of[to_.input(n, 0)];
    shape const& given = to_.info(to_.input(n, 0)).dims;
    if (!n.op->restride(seen.at, given, n.info.dims, n.at)) {
      where_.moved[own.base] = 1;
      return own;
    }
    bool const told = has_numbers(seen) && n.op->restride(seen.numbers, given, n.info.dims, n.at);
    if (!told) seen.numbers = no_numbers;
    return seen;
  }
  constexpr location locate_argument(node const& n, location const& own) const {
    region const& body = from_.regions[argument_region(n.at)];
    int const k = argument_number(n.at);
    int const given = map_[from_.input(body.owner, k)];
    if (k < body.carries) return continued_(body.arguments[k]) ? where_.of[given] : own;  // from iteration to iteration in one buffer
    if (given < 0) throw invalid("assign_storage: what a region reads comes after its body");
    location seen = where_.of[given];
    if (k < body.carries + body.invariants) return seen;
    shape const& all = to_.info(given).dims;
    seen.step[to_.loops_around(n.region) - 1] = all.dim[0] == 1 ? count_in(n.info.dims) : seen.at.stride[0];
    for (strided* s : {&seen.at, &seen.numbers}) {
      for (int a = 1; a < all.rank; ++a) s->stride[a - 1] = s->stride[a];
      s->stride[all.rank - 1] = {};
    }
    return seen;
  }
  constexpr location locate_result(node const& n, location const& own) const {
    region const& body = body_of(own.base);
    int const k = result_number(n.at);
    if (k < body.carries) return where_.of[body.arguments[k]];
    location stacked = own;  // slice by slice, each as the body stores it
    strided const& slice = where_.of[body.results[k]].at;
    for (int a = 1; a < n.info.dims.rank; ++a) stacked.at.stride[a] = slice.stride[a - 1];
    return stacked;
  }

  // ---- in whose buffers the bases lie ----------------------------------------------------------------------------------

  constexpr void place_bases() {
    where_.places = vec<placement>(to_.size());
    vec<placement>& places = where_.places;
    for (int i = 0; i < to_.size(); ++i) {
      node const& n = to_[i];
      if (n.op == &repeat_info) {
        region const& body = to_.regions[run_region(n.at)];
        for (int k = 0; k < body.carries; ++k) {
          int const buffer = where_.of[body.arguments[k]].base;
          if (!continues(body.arguments[k])) places[to_.input(n, k)] = {place_kind::carry, buffer, 0};
          places[body.results[k]] = {place_kind::carry, buffer, 0};
        }
      } else if (is_stacked_result(to_, i)) {
        places[where_.of[body_of(i).results[result_number(n.at)]].base] = {place_kind::slice, i, 0};
      } else if (n.op->kind == op_kind::gather_all) {
        for (int k = 0; k < n.inputs; ++k)
          places[to_.input(n, k)] = {place_kind::within, i, n.op == &join_info ? first_joined(i, k) : to_.numbers[first_number(n.at) + k]};
      }
    }
    for (output const& o : to_.outputs)
      if (o.kind == output_kind::assign) places[o.value] = {place_kind::replace, o.target, 0};
    for (int i = 0; i < to_.size(); ++i) {
      location& l = where_.of[i];
      for (int id = l.base; places[id].kind != place_kind::own; id = places[id].target) {
        placement const& p = places[id];
        if (p.kind == place_kind::within) l.at.offset = l.at.offset + exactly(p.offset);
        if (p.kind == place_kind::slice && to_.regions[to_[id].region].iterations != 1)
          l.step[to_.loops_around(to_[id].region) - 1] = l.step[to_.loops_around(to_[id].region) - 1] + count_in(to_.info(id).dims);
        l.root = p.target;
      }
    }
  }

  // The first element of operand k of a join, among all.
  constexpr std::int64_t first_joined(int id, int k) const {
    return tx::detail::first_along(to_, id, k) * static_cast<std::int64_t>(dense(to_.info(id).dims).stride[tx::detail::joined_along(to_, id)]);
  }

  graph const& from_;
  graph to_{};
  storage where_{};
  vec<strided> const order_;  // of old nodes
  continued_carries const continued_;
  vec<int> map_;              // old node -> new
  vec<int> in_{};             // of the node at hand
  vec<char> taken_{};         // new nodes that are computed where somebody wants them
  vec<leaf_read> reads_{};    // of what may be replaced
  vec<int> shared_{}, last_read_{};  // storage -> its last read
  std::int64_t copies_ = 0;
};

}  // namespace detail

constexpr stored_graph assign_storage(graph const& g) { return detail::storage_assigner(g).run(); }

}  // namespace tx::passes
