// Graphs of which a plan once computed something else, each as small as shrinking made it.
#include "check.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace drawn;
using namespace drawn::words;

shape of(std::initializer_list<int> extents) {
  shape s{};
  for (int e : extents) s.dim[s.rank++] = e;
  return s;
}
var leaf(graph& g, std::initializer_list<int> extents, int number = 0) { return input(g, number, dtype::f64, of(extents)); }
void result(var v) { v.g->outputs.push_back({v.id, tx::output_kind::result, -1}); }
void assign(var v, var to) { v.g->outputs.push_back({v.id, tx::output_kind::assign, to.id}); }

}  // namespace

TEST_CASE("a value whose last axis is a one, read transposed and not") {
  graph g{};
  var const x = tanh(leaf(g, {9, 4, 1}));
  result(x);
  result(transpose(x, attributes{{1, 0, 2}}));
  CHECK(wrong_with(g) == "");
}

TEST_CASE("a number that a body reads is replaced by one that the body computes too") {
  graph g{};
  var const x = leaf(g, {3, 2}), counter = block(g, 1, 0, dtype::f64, of({1}));
  repeated body(g, 3, false);
  var const slice = body.slices(x);
  body.enter();
  var const now = slice * broadcast_to(counter, slice.dims());
  var const next = broadcast_to(counter + counter, slice.dims()) + slice;
  body.leave();
  body.stack(now);
  body.stack(next);
  body.close();
  result(body.result(0));
  result(body.result(1));
  assign(counter + counter, counter);
  CHECK(wrong_with(g) == "");
}

TEST_CASE("a body's whole ops read views: transposed, broadcast, strided, as invariants and slices") {
  for (int view = 0; view < 3; ++view)
    for (int whole = 0; whole < 4; ++whole)
      for (bool const slices : {false, true}) {
        CAPTURE(view, whole, slices);
        graph g{};
        var const x = leaf(g, {4, 4, 4});
        var const seen = view == 0 ? transpose(x, attributes{{1, 2, 0}}) : view == 1 ? broadcast_to(slice(x, 2, 0, 1, 1), of({4, 4, 4})) : slice(x, 1, 0, 2, 2);
        repeated body(g, 4, false);
        var const inside = slices ? body.slices(seen) : body.same(seen);
        body.enter();
        int const last = inside.dims().rank - 1;
        shape ids = inside.dims();
        ids.dim[last] = 2;
        var made{};
        if (whole == 0) made = flip(inside, 0);
        if (whole == 1) made = cumsum(inside, last);
        if (whole == 2) made = gather(inside, broadcast_to(constant(g, dtype::i32, 3), ids), last);
        if (whole == 3) made = concat({inside, inside}, last);
        body.leave();
        body.stack(made);
        body.close();
        result(body.result(0));
        CHECK(wrong_with(g) == "");
      }
}

TEST_CASE("stacked results of a body that it stores in a transposed order") {
  for (bool const updates : {false, true}) {
    CAPTURE(updates);
    graph g{};
    var const a = weights(g, 0, 0, dtype::f64, of({2, 3, 4, 2})), b = weights(g, 48, 1, dtype::f64, of({2, 4, 3, 2}));
    repeated body(g, 2, false);
    var const x = body.carry(leaf(g, {3, 4, 2})), p = body.slices(a), q = body.slices(b);
    body.enter();
    var const next = tanh(x + p + transpose(q, attributes{{1, 0, 2}}));
    body.leave();
    body.next(next);
    body.close();
    var const loss = total(tx::sin(body.result(0)));
    result(loss);
    if (updates) {
      g = finished(g, finish{.mode = training::at_once});
    } else {
      for (var const& gradient : gradients_by(loss, {a, b})) result(gradient);
    }
    CHECK(wrong_with(g) == "");
  }
}

TEST_CASE("a matrix of the batch that reads another one, between batched products") {
  for (bool const reduced : {false, true}) {
    CAPTURE(reduced);
    graph g{};
    var const s = product(leaf(g, {3, 3, 4, 2}), leaf(g, {3, 3, 2, 5}, 1));
    var const other = transpose(reduced ? max_over(s, 8) : s, attributes{{1, 0, 2, 3}});
    result(product(exp(s - other), leaf(g, {3, 3, 5, 2}, 2)));
    CHECK(wrong_with(g) == "");
  }
}

TEST_CASE("a band stays in one piece where another one is put together around it") {
  graph g{};
  var const x = product(weights(g, 0, 0, dtype::f64, of({2, 3, 2})), weights(g, 12, 1, dtype::f64, of({2, 2, 4})));
  var const most = max_over(x, 2);  // of each column: the gradient has products with transposed matrices, in a band of their own
  var const never = less(most, most);
  result(total(most));
  result(tx::where(broadcast_to(never, of({2, 3, 4})), x, x));
  CHECK(wrong_with(finished(g, finish{.mode = training::clipped})) == "");
}

TEST_CASE("a leaf is replaced by what a view shows of a value") {
  graph g{};
  var const p = weights(g, 0, 0, dtype::f64, of({2, 1, 3}));
  assign(transpose(tanh(leaf(g, {2, 3, 1})), attributes{{0, 2, 1}}), p);
  CHECK(wrong_with(g) == "");
}

TEST_CASE("a leaf is replaced by another one that overlaps it") {
  graph g{};
  var const all = weights(g, 0, 0, dtype::f64, of({5, 3})), end = weights(g, 6, 1, dtype::f64, of({3, 3}));
  assign(slice(all, 0, 0, 3, 1), end);
  CHECK(wrong_with(g) == "");
}

TEST_CASE("a slice of a leaf is replaced in a body that hands the old one on") {
  graph g{};
  var const p = weights(g, 0, 0, dtype::f64, of({3, 2}));
  repeated body(g, 3, false);
  body.carry(leaf(g, {4, 2}));
  var const one = body.slices(p);
  body.enter();
  var const next = broadcast_to(one, of({4, 2})), zero = filled_with(one, 0);
  body.leave();
  body.next(next);
  body.stack(zero);
  body.close();
  assign(body.result(1), p);
  result(body.result(0));
  CHECK(wrong_with(g) == "");
}

TEST_CASE("slices of a leaf are replaced in a body of which each iteration reads the first one") {
  for (bool const reversed : {false, true}) {
    CAPTURE(reversed);
    graph g{};
    var const p = weights(g, 0, 0, dtype::f64, of({3, 4})), first = weights(g, 0, 1, dtype::f64, of({4}));
    repeated body(g, 3, reversed);
    var const row = body.same(first), x = body.slices(leaf(g, {3, 4}));
    body.enter();
    var const made = row * x;
    body.leave();
    body.stack(made);
    body.close();
    assign(body.result(0), p);
    CHECK(wrong_with(g) == "");
  }
}

TEST_CASE("a number of the program read in a body, of a shard") {
  graph g{};
  var const p = weights(g, 0, 0, dtype::f64, of({3})), half = constant(g, dtype::f64, 0.5);
  repeated body(g, 2, false);
  var const x = body.carry(p);
  body.enter();
  var const next = tanh(x) * half;
  body.leave();
  body.next(next);
  body.close();
  result(total(body.result(0) * leaf(g, {1, 3})));
  CHECK(wrong_with(finished(g, finish{.mode = training::sharded, .shards = 2})) == "");
}

TEST_CASE("results of a body keep their numbers where others are dead and something is narrowed") {
  graph g{};
  repeated body(g, 2, false);
  var const x = body.slices(leaf(g, {2, 3}));
  body.enter();
  var const one = tx::sin(x), two = tx::cos(x), three = exp(x);
  body.leave();
  body.stack(one);
  body.stack(two);
  body.stack(three);
  body.close();
  result(body.result(1));
  result(body.result(2));
  result(slice(tanh(leaf(g, {4, 3}, 1)), 0, 1, 1, 1));
  CHECK(wrong_with(finished(g, finish{.narrows = true})) == "");
}

TEST_CASE("one element of an axis that a reshape made of parts of two others") {
  graph g{};
  result(slice(tx::reshape(leaf(g, {4, 5}), of({2, 5, 2})), 2, 0, 1, 1));
  CHECK(wrong_with(finished(g, finish{.narrows = true})) == "");
}

TEST_CASE("a part of a sum over rows is not copied with what was copied before there was a sum") {
  graph g{};
  auto const strips = [](var x) { return reshape(slice(x, 1, 4, 4, 1), of({16})); };  // a copy, as they do not lie side by side
  var const early = strips(leaf(g, {4, 12}));
  int const axes[] = {0};
  var const terms = leaf(g, {5, 4, 12}, 1) * broadcast_to(total(early), of({5, 4, 12}));
  var const late = strips(reshape(sum(terms, axes, 1), of({4, 12})));
  result(late * early);
  result(total(late));
  result(total(early));
  result(terms);  // so that the memory of both is no other value's
  CHECK(wrong_with(g) == "");
}

TEST_CASE("what reads a carry after its loop comes behind a body that stores the next one as slices of slices") {
  graph g{};
  var const leaves = weights(g, 0, 0, dtype::f64, of({2, 2, 4})), x = leaf(g, {4});
  repeated outer(g, 4, false);
  var const carried = outer.carry(x), number = outer.slices(broadcast_to(min_over(x, 1), of({4, 1})));
  outer.enter();
  repeated middle(g, 4, false);
  var const same = middle.carry(number);
  middle.enter();
  repeated inner(g, 1, false);
  inner.stack(inner.same(same));
  inner.close();
  var const stacked = total(inner.result(0));
  middle.leave();
  middle.next(same);
  middle.stack(stacked);
  middle.close();
  var const next = middle.result(1);
  outer.leave();
  outer.next(next);
  outer.close();
  static_cast<void>(carried);
  result(outer.result(0));
  assign(leaves, leaves);
  CHECK(wrong_with(g) == "");
}
