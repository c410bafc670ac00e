// repeat<N, Block>: N blocks of equal shape and own parameters, one after the other, recorded and compiled once: a scan over modules.
//
//   tx::repeat<12, encoder_layer> layer;                   // a member of a model
//   x = layer(x, mask);                                    // each calls block(x, mask) -> x
//   auto const [last, all] = layer.outputs(x, mask);       // all [12, extents of x...]: what each gave
//   auto const [last, all] = cells(lstm_state{h, c}, tx::each(xs));  // each calls block(state, slice i of xs) -> tx::scanned{state, out}
//
// carry    a tensor, or a tuple or struct of tensors of any element types; what a block returns is the next one's
// same...  behind it what each block is given as it is: tensors, or what holds some; of tx::each(xs), xs [N, extents...], block i is given slice i
// block(carry, same...) -> the next carry, or tx::scanned{carry, out}: then a call returns scanned{last, all}, as tx::scan does, with each tensor of out
//          stacked along a new leading axis
// Errors, while compiling: a carry that changes its type or shape, a slice of another number than N.
#pragma once

#include <tx/expr/model_walk.hpp>
#include <tx/expr/scan.hpp>

namespace tx {

// Where the last iteration is written out after the scan, so that what reads only part of its result can shrink it.
enum class peel : std::uint8_t { none, last };

// As a member `repeat<12, encoder_layer> layer;` its parameters are named layer.0.… to layer.11.…, peeled or not.
template <int N, class Block, peel Peel = peel::none>
struct repeat {
  static_assert(N > 0, "tx::repeat: at least one iteration. FIX: repeat<N, Block> with N of at least 1");
  static constexpr int repeat_count = N;
  Block block;

  // The carry goes through all blocks -> the last one's; of blocks that return scanned{carry, out}, scanned{last, all}.
  template <class Carry, class... Same>
  constexpr auto operator()(Carry const& carry, Same const&... same) const {
    if constexpr (Peel == peel::none) {
      return run<N>(block, carry, same...);
    } else {
      static_assert(!(detail::is_each<Same> || ...),
                    "tx::repeat: a peeled one has no slices of tx::each for its last block alone. FIX: peel::none, or outputs_before_last(), which is given N - 1 of them, and last()");
      if constexpr (N == 1) {
        return peeled(part<0, 1, false>()(carry, same...));
      } else {
        auto const before = peeled(run<N - 1>(part<0, N - 1, true>(), carry, same...));
        return peeled(part<N - 1, 1, false>()(before, same...));
      }
    }
  }

  // The same, and what each block gave: scanned{last, all}, of a block that returns its carry alone that: all [N, extents of the carry...], of a carry that is
  // a tuple or struct a tuple of such. Nothing is peeled.
  template <class Carry, class... Same>
  constexpr auto outputs(Carry const& carry, Same const&... same) const {
    return run<N, true>(block, carry, same...);
  }

  // In two steps: the blocks but the last, as outputs gives them, scanned{what the last is given, all [N - 1, extents...]}, of tx::each N - 1 slices; and the
  // last block, with parameters of its own. A program that trains has no other way through the same repeat beside them.
  template <class Carry, class... Same>
  constexpr auto outputs_before_last(Carry const& carry, Same const&... same) const {
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
      std::int64_t const of_block = info.count() / N;
      info.dims.dim[0] = Count;
      if (!Stacked) info.dims = info.dims.inner();
      attributes const at = of_parameter(parameter_first(whole.at) + First * of_block, parameter_entry(whole.at));
      int const here = p.g->current;
      p.g->current = 0;
      p.id = emit_leaf(*p.g, parameter_info, info, at).id;
      p.g->current = here;
    };
    detail::for_each_parameter<detail::whatever_is_attached>(out, narrow);
    return out;
  }

  template <class Given>
  static constexpr auto peeled(Given const& given) {
    static_assert(!detail::is_scanned<Given>, "tx::repeat: a peeled one does not stack what its blocks give away. FIX: peel::none, or outputs()");
    return given;
  }

  template <int Iterations, bool All = false, class Carry, class... Same>
  static constexpr auto run(Block const& stacked_block, Carry const& carry, Same const&... same) {
    static_assert((detail::has_slices<Same, Iterations> && ...),
                  "tx::repeat: each block has a slice of what is in tx::each, which has another leading extent than there are blocks. FIX: repeat<N, Block> with that, or transpose that axis to the front");
    graph& g = detail::graph_of_all(carry);
    detail::body_recorder body(g, Iterations, false);
    auto const inside = detail::carried_into(body, carry);
    Block own = stacked_block;
    auto take_slice = [&](auto& p, detail::surroundings const&) { p.id = body.slice(p.id); };
    detail::for_each_parameter<detail::whatever_is_attached>(own, take_slice);
    auto const given = detail::iteration_of(body, own, inside, same...);
    using handed_on = std::remove_cvref_t<decltype(detail::carry_of(given))>;
    if constexpr (typed_handle<Carry>)
      static_assert(detail::is_like<handed_on, typename Carry::tensor_type>(),
                    "tx::repeat: a block must return a tensor of the element type and shape it was given. FIX: cast or reshape its result");
    else
      static_assert(detail::is_like<handed_on, std::remove_const_t<decltype(inside)>>(),
                    "tx::repeat: a block must return a carry of the type it was given, alone or as scanned{carry, out}. FIX: the same struct or std::tuple, of tensors of the same element types and shapes");
    return detail::close_iterations<Iterations, All>(body, g, inside, given);
  }
};

}  // namespace tx
