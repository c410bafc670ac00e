// repeat<N, Block>: N blocks of equal shape and own parameters, one after the other, recorded and compiled once.
#pragma once

#include <tx/expr/layout.hpp>
#include <tx/graph/leaf.hpp>

namespace tx {

// Where the last iteration is written out after the scan, so that what reads only part of its result can shrink it.
enum class peel : std::uint8_t { none, last };

// As a member `repeat<12, encoder_layer> layer;` its parameters are named layer.0.… to layer.11.…, peeled or not.
template <int N, class Block, peel Peel = peel::none>
struct repeat {
  static_assert(N > 0, "tx::repeat: at least one iteration. FIX: repeat<N, Block> with N of at least 1");
  static constexpr int repeat_count = N;
  Block block;

  // The carry goes through all blocks; the other tensors are the same for each. block(carry, invariants...) -> carry.
  template <typed_handle X, handle... Same>
  constexpr auto operator()(X const& carry, Same const&... same) const {
    if constexpr (Peel == peel::none) {
      return scan<N>(block, carry, same...);
    } else if constexpr (N == 1) {
      return part<0, 1, false>()(carry, same...);
    } else {
      auto const before = scan<N - 1>(part<0, N - 1, true>(), carry, same...);
      return part<N - 1, 1, false>()(before, same...);
    }
  }

 private:
  // The block with iterations [First, First + Count) of its parameters, as leaves of their own.
  template <int First, int Count, bool Stacked>
  constexpr Block part() const {
    Block out = block;
    auto narrow = [](auto& p, detail::surroundings const&) {
      node const whole = (*p.g)[p.id];
      if (whole.op == &argument_info) throw invalid("repeat: inside another repeat nothing can be peeled. FIX: peel::none for the inner one");
      if (whole.op != &parameter_info) throw invalid("repeat: a peeled one takes slices of parameters alone. FIX: peel::none in a model that tx::grad differentiates by");
      value_info info = whole.info;
      std::int64_t const each = info.count() / N;
      info.dims.dim[0] = Count;
      if (!Stacked) {
        for (int i = 1; i < info.dims.rank; ++i) info.dims.dim[i - 1] = info.dims.dim[i];
        info.dims.dim[--info.dims.rank] = 0;
      }
      attributes at = whole.at;
      at.v[0] += First * each;
      p.id = emit_leaf(*p.g, parameter_info, info, at).id;
    };
    detail::for_each_parameter(out, narrow);
    return out;
  }

  template <int Iterations, typed_handle X, handle... Same>
  static constexpr auto scan(Block const& stacked_block, X const& carry, Same const&... same) {
    using tensor_type = typename X::tensor_type;
    graph& g = *carry.g;
    if (g.current != 0) throw invalid("repeat: a repeat inside a repeat is not supported. FIX: apply the inner block in a loop of C++");
    int const id = g.regions.size();
    region body{};
    body.parent = g.current;
    body.iterations = Iterations;
    body.carries = 1;
    body.invariants = sizeof...(Same);
    g.regions.push_back(body);

    vec<int> inputs{};
    auto argument = [&](int outer, value_info const& info) {
      attributes at{};
      at.v[0] = inputs.size();
      at.v[1] = id;
      inputs.push_back(outer);
      int const inner = emit_leaf(g, argument_info, info, at).id;
      g.regions[id].arguments.push_back(inner);
      return inner;
    };
    g.current = id;
    tensor_type inside{&g, argument(carry.id, carry.info)};
    std::tuple<Same...> invariants{same...};
    std::apply([&](auto&... s) { ((s.id = argument(s.id, s.info)), ...); }, invariants);
    Block slice = stacked_block;
    auto bind = [&](auto& p, detail::surroundings const&) {
      value_info one = g.info(p.id);
      for (int i = 1; i < one.dims.rank; ++i) one.dims.dim[i - 1] = one.dims.dim[i];
      one.dims.dim[--one.dims.rank] = 0;
      p.id = argument(p.id, one);
      ++g.regions[id].stacked;
    };
    detail::for_each_parameter(slice, bind);
    auto const out = std::apply([&](auto const&... s) { return slice(inside, s...); }, invariants);
    static_assert(decltype(out)::info == X::info,
                  "tx::repeat: a block must return a tensor of the element type and shape it was given. FIX: cast or reshape its result");
    g.regions[id].results.push_back(out.id);
    g.current = body.parent;

    attributes at{};
    at.v[0] = id;
    int const node_id = g.emit(&repeat_info, inputs.data(), inputs.size(), at, X::info);
    g.regions[id].owner = node_id;
    return tensor_type{&g, g.emit(&result_info, &node_id, 1, attributes{}, X::info)};
  }
};

}  // namespace tx
