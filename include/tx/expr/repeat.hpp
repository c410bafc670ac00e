// repeat<N, Block>: N blocks of equal shape and own parameters, one after the other, recorded and compiled once. [...] -> the same.
#pragma once

#include <tx/expr/model_walk.hpp>
#include <tx/expr/scan.hpp>
#include <tx/expr/stacked.hpp>

namespace tx {

// Where the last iteration is written out after the scan, so that what reads only part of its result can shrink it.
enum class peel : std::uint8_t { none, last };

// As a member `repeat<12, encoder_layer> layer;` its parameters are named layer.0.… to layer.11.…, peeled or not.
template <int N, class Block, peel Peel = peel::none>
struct repeat {
  static_assert(N > 0, "tx::repeat: at least one iteration. FIX: repeat<N, Block> with N of at least 1");
  static constexpr int repeat_count = N;
  Block block;

  // The carry goes through all blocks; what else there is, tensors or what holds some, is the same for each. block(carry, same...) -> carry.
  template <typed_handle X, class... Same>
  constexpr auto operator()(X const& carry, Same const&... same) const {
    if constexpr (Peel == peel::none) {
      return run<N>(block, carry, same...);
    } else if constexpr (N == 1) {
      return part<0, 1, false>()(carry, same...);
    } else {
      auto const before = run<N - 1>(part<0, N - 1, true>(), carry, same...);
      return part<N - 1, 1, false>()(before, same...);
    }
  }

  // The same, and what each block returned: scanned{last, all}, all [N, extents of the carry...]. Nothing is peeled.
  template <typed_handle X, class... Same>
  constexpr auto outputs(X const& carry, Same const&... same) const {
    return run<N, true>(block, carry, same...);
  }

  // In two steps: the blocks but the last, as outputs gives them, scanned{what the last is given, all [N - 1, extents of the carry...]}; and the last block,
  // with parameters of its own. A program that trains has no other way through the same repeat beside them.
  template <typed_handle X, class... Same>
  constexpr auto outputs_before_last(X const& carry, Same const&... same) const {
    static_assert(N > 1, "tx::repeat: one iteration has none before it. FIX: last() alone");
    return run<N - 1, true>(part<0, N - 1, true>(), carry, same...);
  }
  constexpr Block last() const { return part<N - 1, 1, false>(); }

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
      if (!Stacked) info.dims = info.dims.inner();
      attributes const at = of_parameter(parameter_first(whole.at) + First * each, parameter_entry(whole.at));
      int const here = p.g->current;
      p.g->current = 0;
      p.id = emit_leaf(*p.g, parameter_info, info, at).id;
      p.g->current = here;
    };
    detail::for_each_parameter<detail::whatever_is_attached>(out, narrow);
    return out;
  }

  template <int Iterations, bool All = false, typed_handle X, class... Same>
  static constexpr auto run(Block const& stacked_block, X const& carry, Same const&... same) {
    using tensor_type = typename X::tensor_type;
    graph& g = *carry.g;
    detail::body_recorder body(g, Iterations, false);
    tensor_type const inside{&g, body.carry(carry.id)};
    Block own = stacked_block;
    auto take_slice = [&](auto& p, detail::surroundings const&) { p.id = body.slice(p.id); };
    detail::for_each_parameter<detail::whatever_is_attached>(own, take_slice);
    auto const out = own(inside, same...);
    static_assert(decltype(out)::info == X::info,
                  "tx::repeat: a block must return a tensor of the element type and shape it was given. FIX: cast or reshape its result");
    vec<int> stacked{};
    if constexpr (All) stacked.push_back(out.id);
    vec<int> next{};
    next.push_back(out.id);
    body.close(next, stacked);
    tensor_type const last{&g, body.last(0)};
    if constexpr (All) return scanned{last, tensor_of<detail::stacked(X::info, Iterations)>{&g, body.all(0)}};
    else return last;
  }
};

}  // namespace tx
