// What graph-building code is written in, whether a drawn program is built at run time or printed as C++: leaves, shapes, and
// bodies that are repeated. All of it can be evaluated while compiling.
#pragma once

#include <tx/autodiff/independent.hpp>
#include <tx/autodiff/reverse.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/expr/var.hpp>
#include <tx/ops/gather_all.hpp>

#include <array>

namespace drawn {

using tx::attributes;
using tx::dtype;
using tx::graph;
using tx::shape;
using tx::var;
using tx::vec;

// The numbers of a decision: axes, extents, places.
using numbers = std::array<int, 8>;

// There are two bounded extents, rows and columns. How many they are: planned for `most` rows and one column more, or fixed at so many rows.
// The fewer rows, the more columns there are, so that each is the larger one in some run.
struct row_count {
  int most = 0;
  int fixed = -1;  // -1: bounded

  constexpr int most_of(int tag) const { return tag == 1 ? most : most + 1; }
  constexpr int now_of(int tag) const { return fixed < 0 || fixed == most ? most_of(tag) : tag == 1 ? fixed : most - fixed; }
  constexpr tx::bound_table bounds() const {
    tx::bound_table b{};
    b.most[1] = most;
    b.most[2] = most + 1;
    return b;
  }
};

// An extent as decisions have it: a number, or below 0 how many times so many rows and columns.
//   3 is 3;  -1 is the rows, -2 twice as many;  -30001 the columns, -40001 rows times columns, -70002 twice the columns squared
struct drawn_extent {
  int times = 1, rows = 0, columns = 0;

  static constexpr drawn_extent of(int code) {
    if (code >= 0) return {code, 0, 0};
    int const kind = -code / 10'000 + 1;
    return {-code % 10'000, kind % 4, kind / 4};
  }
  constexpr bool varies() const { return rows + columns > 0; }
  constexpr bool fits() const { return times < 10'000 && rows < 4 && columns < 4; }
  constexpr int code() const { return varies() ? -(10'000 * (rows + 4 * columns - 1) + times) : times; }
};
inline constexpr int bounded_rows = -1, bounded_columns = -30'001;

// A shape of so many axes.
constexpr shape dims(row_count rows, int rank, std::array<int, 6> const& extents) {
  shape s{};
  for (int i = 0; i < rank; ++i) {
    drawn_extent const e = drawn_extent::of(extents[static_cast<std::size_t>(i)]);
    int n = e.times;
    tx::factors of{};
    for (int tag : {1, 2})
      for (int k = 0; k < (tag == 1 ? e.rows : e.columns); ++k) {
        n *= rows.now_of(tag);
        if (rows.fixed < 0) of = of + tx::factors::once(tag);
      }
    s.add({n, of});
  }
  return s;
}

// The elements of integers lie below `limit`, if it is not 0.
constexpr var input(graph& g, int number, dtype type, shape const& s, int limit = 0) {
  return tx::emit_leaf(g, tx::input_info, {type, s}, attributes{{number, limit}});
}
// From element `first` of the flat block on; number: which of the model's parameters it is.
constexpr var weights(graph& g, int first, int number, dtype type, shape const& s) {
  return tx::emit_leaf(g, tx::parameter_info, {type, s}, attributes{{first, number}});
}
// Block 0 holds the parameters, the others an optimizer's state.
constexpr var block(graph& g, int number, int first, dtype type, shape const& s) {
  return tx::emit_leaf(g, tx::block_info, {type, s}, attributes{{number, first}});
}
constexpr var run_scalar(graph& g, int number) { return tx::emit_leaf(g, tx::scalar_info, {dtype::f32, {}}, attributes{{number}}); }

// A value that gradients are taken by: equal to x, but a node of its own.
constexpr var independent(var x, int number) { return tx::emit(tx::independent_info, {x}, attributes{{number}}); }

// The sum of all elements; of a bounded tensor too.
constexpr var total(var x) { return tx::sum_all(x); }

// Gradients of a scalar by some values, in the region that nodes go to; zeros where it does not depend on one.
constexpr vec<var> gradients_by(var loss, std::initializer_list<var> leaves) {
  graph& g = *loss.g;
  tx::step_phase const when = g.when;
  vec<int> ids{};
  for (var const& v : leaves) ids.push_back(v.id);
  vec<int> const found = tx::gradients(g, loss.id, ids);
  g.when = when;
  vec<var> out{};
  for (int k = 0; k < ids.size(); ++k) {
    tx::value_info const info = g.info(ids[k]);
    out.push_back(found[k] >= 0 ? var{&g, found[k]} : tx::broadcast_to(tx::constant(g, info.type, 0), info.dims));
  }
  return out;
}

// Values laid end to end in a flat block, the first at element `first`, so many between them.
constexpr var flat_block(graph& g, std::initializer_list<var> of, int first, int apart) {
  vec<int> ids{};
  attributes at{{g.numbers.size()}};
  std::int64_t next = first;
  for (var const& v : of) {
    if (v.dims().bounds != 0 || v.type() != of.begin()->type()) throw tx::invalid("a block of other types or bounded extents");
    g.numbers.push_back(next);
    next += v.info().count() + apart;
    ids.push_back(v.id);
  }
  at.v[1] = (next + tx::block_row - 1) / tx::block_row + (next == 0);
  return {&g, g.emit(&tx::gather_all_info, ids.data(), ids.size(), at)};
}

// A body that is repeated, recorded between open() and close(): what goes from iteration to iteration, what all read, what each
// reads a slice of, and what is stacked.
class repeated {
 public:
  constexpr repeated(graph& g, int iterations, bool reversed) : g_(&g), id_(g.regions.size()) {
    tx::region body{};
    body.parent = g.current;
    body.iterations = iterations;
    body.reversed = reversed;
    g.regions.push_back(body);
  }
  constexpr int number() const { return id_; }
  constexpr void enter() { g_->current = id_; }
  constexpr void leave() { g_->current = g_->regions[id_].parent; }

  constexpr var carry(var first) { return argument(carries_, first, first.info()); }
  constexpr var same(var outside) { return argument(invariants_, outside, outside.info()); }
  constexpr var slices(var outside) {
    tx::value_info one = outside.info();
    if (one.dims.rank == 0 || one.dims.dim[0] != g_->regions[id_].iterations || one.dims.is_bounded(0)) throw tx::invalid("slices of another number than iterations");
    one.dims = one.dims.inner();
    return argument(stacked_, outside, one);
  }
  // The next value of a carry, in the order in which carries were made.
  constexpr void next(var value) {
    if (g_->info(carries_.inside[next_.size()]) != value.info()) throw tx::invalid("a carry of another shape");
    next_.push_back(value.id);
  }
  // Stacks a value over the iterations; returns which result that is, behind the carries.
  constexpr int stack(var value) {
    kept_.push_back(value.id);
    return carries_.inside.size() + kept_.size() - 1;
  }
  constexpr void close() {
    tx::region& body = g_->regions[id_];
    vec<int> inputs{};
    for (list const* l : {&carries_, &invariants_, &stacked_})
      for (int i = 0; i < l->inside.size(); ++i) {
        g_->nodes[l->inside[i]].at.v[0] = inputs.size();
        body.arguments.push_back(l->inside[i]);
        inputs.push_back(l->outside[i]);
      }
    body.carries = carries_.inside.size();
    body.invariants = invariants_.inside.size();
    body.stacked = stacked_.inside.size();
    if (next_.size() != body.carries) throw tx::invalid("a carry without a next value");
    for (int v : next_) body.results.push_back(v);
    for (int v : kept_) body.results.push_back(v);
    if (body.results.empty()) throw tx::invalid("a body without results");
    leave();
    owner_ = g_->emit(&tx::repeat_info, inputs.data(), inputs.size(), attributes{{id_}}, g_->info(body.results[0]));
    g_->regions[id_].owner = owner_;
  }
  // A carry's last value, or a stacked one with a leading axis of the iterations.
  constexpr var result(int k) const {
    tx::region const& body = g_->regions[id_];
    tx::value_info info = g_->info(body.results[k]);
    if (k >= body.carries) info = tx::detail::stacked(info, shape{1, {}, {body.iterations}});
    return {g_, g_->emit(&tx::result_info, &owner_, 1, attributes{{k}}, info)};
  }

 private:
  struct list {
    vec<int> outside{};
    vec<int> inside{};
  };
  constexpr var argument(list& l, var outside, tx::value_info const& info) {
    constexpr int unnumbered = 1 << 20;  // arguments are numbered when all are known
    int const saved = g_->current;
    g_->current = id_;
    int const count = carries_.inside.size() + invariants_.inside.size() + stacked_.inside.size();
    var const inside = tx::emit_leaf(*g_, tx::argument_info, info, attributes{{unnumbered + count, id_}});
    g_->current = saved;
    l.outside.push_back(outside.id);
    l.inside.push_back(inside.id);
    return inside;
  }

  graph* g_;
  int id_;
  int owner_ = -1;
  list carries_{}, invariants_{}, stacked_{};
  vec<int> next_{};
  vec<int> kept_{};
};

}  // namespace drawn
