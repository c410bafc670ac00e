// Networks that are drawn for pipelines: something before, beside and behind blocks that are repeated, and parameters of a bank of them.
#pragma once

#include <tx/expr/body_recorder.hpp>
#include <tx/expr/parameter_layout.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drawn_blocks {

using namespace tx;

constexpr int texts = 2, places = 3, wide = 4, words = 9;

struct drawn_block {
  param<tensor<double, wide, wide>> one, two, three;
  param<tensor<double, wide, 6>> in;
  param<tensor<double, 6, wide>> back;
  param<tensor<double, wide>> shift, stretch;
  param<tensor<double>> factor;
  param<tensor<double, wide, wide>, init::zeros, frozen> kept;
};
// What losses are drawn of: those take some of the parameters.
template <int Blocks>
struct bank {
  param<tensor<double, words, wide>> table;
  param<tensor<double, wide, wide>> before, behind;
  param<tensor<double, wide>> bias;
  param<tensor<double, places, wide>> beside;
  param<tensor<double>> number;
  repeat<Blocks, drawn_block> body;
  repeat<Blocks, drawn_block> other;
};
// Of the order in which a bank's tensors are laid out, which have one name or another: found by their numbers of elements and their order.
template <class Model>
struct places_of {
  // entries with and without the axis of blocks, in their order
  std::vector<int> single, repeated;
  places_of() {
    for (int k = 0; k < layout<Model>::entries.size(); ++k) {
      layout_entry const& e = layout<Model>::entries[k];
      (e.info.dims.rank == e.rank ? single : repeated).push_back(k);
    }
  }
};

inline double value_of(int entry, std::int64_t index) {
  std::uint64_t state = 77 + static_cast<std::uint64_t>(entry) * 1000003u + static_cast<std::uint64_t>(index);
  for (int k = 0; k < 3; ++k) state = state * 6364136223846793005u + 1442695040888963407u;
  return (static_cast<double>(state >> 40) * 0x1p-24 - 0.5) * 1.2;
}
inline std::vector<double> numbers_given(int parts) {
  std::vector<double> x;
  for (int i = 0; i < parts * texts * places * wide; ++i) x.push_back(value_of(500, i));
  return x;
}
inline std::vector<int> words_given(int parts) {
  std::vector<int> x;
  for (int i = 0; i < parts * texts * places; ++i) x.push_back(static_cast<int>((value_of(501, i) + 0.6) * 0.8 * words) % words);
  return x;
}

template <int Blocks>
class network {
 public:
  using model = bank<Blocks>;
  graph g{};
  std::set<std::string> has{};

  explicit network(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {
    g.training = true;
    x_ = emit_leaf(g, input_info, {dtype::f64, extents(texts, places, wide)}, of_input(0));
    ids_ = emit_leaf(g, input_info, {dtype::i32, extents(texts, places)}, of_input(1));
    var h = before();
    if (some(2, "a mask beside")) mask_ = broadcast_to(reshape(cast(ids_, dtype::f64) * 0.1, extents(texts, places, 1)), h.dims());
    if (some(2, "a parameter beside")) shared_ = broadcast_to(tanh(named(of_size(places, wide))), h.dims());
    if (some(3, "slices of a value")) slices_ = own_slices();
    peeled_ = !slices_.valid() && some(3, "a block behind") ? 1 : 0;
    var y = repeated(h, false);
    if (some(3, "a tower beside")) {
      bool const other = some(2, "parameters of two repeats");
      y = y + repeated(draw(2) == 0 ? h : x_ * 0.5, other) * 0.5;
    }
    if (some(4, "a way around the blocks")) y = y + h;
    g.outputs.push_back(output{behind(y).id, output_kind::result, -1});
    if (some(3, "a second result")) g.outputs.push_back(output{mean_of(tanh(y)).id, output_kind::result, -1});
  }

 private:
  int draw(int below) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((random_ >> 33) % static_cast<std::uint64_t>(below));
  }
  bool some(int one_in, char const* what) {
    bool const yes = draw(one_in) == 0;
    if (yes) has.insert(what);
    return yes;
  }
  static var mean_of(var x) { return sum_all(x) * (1.0 / static_cast<double>(x.info().count())); }

  struct size {
    int a, b;
  };
  static size of_size(int a, int b) { return {a, b}; }
  // A parameter of the model that is not repeated, the n-th of that size; b 0: a vector or number.
  var named(size of, int n = 0) {
    for (int k : entries_.single) {
      layout_entry const& e = layout<model>::entries[k];
      shape const wanted = of.b > 0 ? extents(of.a, of.b) : of.a > 0 ? extents(of.a) : shape{};
      if (e.info.dims == wanted && n-- == 0) return emit_leaf(g, parameter_info, e.info, of_parameter(e.offset, k));
    }
    throw std::logic_error("no such parameter");
  }
  var linear(var x, var w) {
    shape const dims = x.dims();
    var const y = matmul(reshape(x, extents(dims.dim[0] * dims.dim[1], dims.dim[2])), w);
    return reshape(y, extents(dims.dim[0], dims.dim[1], w.dims().last()));
  }
  var dropped(var x) {
    has.insert("dropout");
    return detail::dropped(x, uniform(g, x.dims(), g.random_streams++), constant(g, dtype::f32, 0.25), constant(g, dtype::f32, 1 / 0.75));
  }

  var before() {
    var h = x_;
    if (some(2, "a table of words")) h = h * 0.3 + detail::embedding_fn{}(named(of_size(words, wide)), reshape(ids_, extents(texts, places, 1)));
    if (draw(2) == 0) h = linear(h, named(of_size(wide, wide)));
    if (draw(3) == 0) h = h + named(of_size(wide, 0));
    if (draw(3) == 0) h = h * named(of_size(0, 0));
    if (draw(3) == 0) h = dropped(h);
    return draw(2) == 0 ? tanh(h) : h;
  }
  // [blocks, wide]: of what is given, or of a parameter
  var own_slices() {
    var const rows = broadcast_to(reshape(cast(iota(g, extents(Blocks), 0), dtype::f64) * 0.1 + 0.3, extents(Blocks, 1)), extents(Blocks, wide));
    int const axes[] = {0, 1};
    if (some(2, "slices of what is made of a parameter")) return rows * broadcast_to(reshape(tanh(named(of_size(wide, 0))), extents(1, wide)), extents(Blocks, wide));
    return rows * broadcast_to(reshape(sum(x_, axes, 2) * 0.05, extents(1, wide)), extents(Blocks, wide));
  }

  // The carry through all blocks. other: of the second repeat's parameters.
  var repeated(var first, bool other) {
    bool const two = some(3, "two carries");
    int const count = Blocks - peeled_;
    std::vector<int> parameters;
    std::size_t const each = entries_.repeated.size() / 2;
    for (std::size_t k = 0; k < each; ++k) parameters.push_back(entries_.repeated[other ? k + each : k]);
    // Which parameters blocks use is drawn once, for those behind the repeat too.
    std::uint64_t const as_drawn = random_;
    std::vector<var> of_all;
    for (int k : parameters) of_all.push_back(leaf_of_blocks(k, 0, count));
    var const half = first * 0.5;
    detail::body_recorder body(g, count, false);
    var h{&g, body.carry(first.id)}, s{};
    if (two) s = {&g, body.carry(half.id)};
    var slice{};
    if (slices_.valid()) slice = {&g, body.slice(slices_.id)};
    std::vector<var> own;
    for (var const& all : of_all) own.push_back({&g, body.slice(all.id)});
    auto const next = block(h, s, slice, own);
    vec<int> ids{};
    ids.push_back(next.first.id);
    if (two) ids.push_back(next.second.id);
    body.close(ids, {});
    var out{&g, body.last(0)}, second{};
    if (two) second = {&g, body.last(1)};
    for (int b = count; b < Blocks; ++b) {
      random_ = as_drawn;
      std::vector<var> of_block;
      for (int k : parameters) of_block.push_back(leaf_of_blocks(k, b, 1));
      auto const last = block(out, second, {}, of_block);
      out = last.first, second = last.second;
    }
    return two ? out + second * 0.25 : out;
  }
  var leaf_of_blocks(int k, int first, int count) {
    layout_entry const& e = layout<model>::entries[k];
    value_info info = e.info;
    std::int64_t const row = info.count() / Blocks;
    if (count == 1 && first > 0) info.dims = info.dims.inner();
    else info.dims.set(0, count);
    return emit_leaf(g, parameter_info, info, of_parameter(e.offset + first * row, k));
  }
  std::pair<var, var> block(var h, var s, var slice, std::vector<var> const& own) {
    auto const by_dims = [&](shape const& dims, int n) {
      for (var const& p : own)
        if (p.dims() == dims && n-- == 0) return p;
      throw std::logic_error("no such parameter of a block");
    };
    var y = h;
    for (int k = 0, layers = 1 + draw(3); k < layers; ++k) switch (draw(8)) {
        case 0: y = tanh(linear(y, by_dims(extents(wide, wide), draw(3)))); break;
        case 1: y = y + linear(tanh(linear(y, by_dims(extents(wide, 6), 0)) * by_dims(shape{}, 0)), by_dims(extents(6, wide), 0)); break;
        case 2: y = dropped(y + by_dims(extents(wide), draw(2))); break;
        case 3: y = shared_.valid() ? y * 0.7 + linear(y, by_dims(extents(wide, wide), 0)) * shared_ : y * y * 0.2; break;
        case 4: y = mask_.valid() ? y - linear(mask_ * y, by_dims(extents(wide, wide), 1)) * 0.3 : y - tanh(y) * 0.5; break;
        case 5: y = slice.valid() ? y * slice + y : y * by_dims(extents(wide), 0); break;
        case 6: has.insert("what is frozen"); y = linear(y, by_dims(extents(wide, wide), 3)) + x_ * 0.1; break;
        default: y = inner(y); break;
      }
    if (s.valid()) s = tanh(s * 0.6 + y * 0.4), y = y + s * 0.2;
    return {y * 0.8, s};
  }
  // A loop within a block.
  var inner(var y) {
    has.insert("a loop in a block");
    detail::body_recorder body(g, 2, false);
    var const h{&g, body.carry(y.id)};
    vec<int> next{};
    next.push_back((tanh(h * 0.5) + y * 0.25).id);
    body.close(next, {});
    return {&g, body.last(0)};
  }

  var behind(var y) {
    if (draw(2) == 0) y = linear(y, named(of_size(wide, wide), 1));
    if (draw(3) == 0) y = dropped(y);
    if (draw(2) == 0) return mean_of(y * y + y);
    has.insert("words that are guessed");
    var const logits = linear(y, transpose(named(of_size(words, wide))));
    return detail::cross_entropy_fn{}(logits, ids_) + mean_of(y * 0.1);
  }

  std::uint64_t random_;
  places_of<model> entries_{};
  int peeled_ = 0;
  var x_{}, ids_{}, mask_{}, shared_{}, slices_{};
};

}  // namespace drawn_blocks
