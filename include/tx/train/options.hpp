// clip_gradient, gradient_norm, loss_scale, recompute<Bytes>, accumulate<N>, accumulate_runs<N>, layer_decay<patterns...>, offload: what a train_step can be told beyond its loss and
// optimizer; step/program_options.hpp and dist/data_parallel.hpp have more. An option is a type, in any order; step/options.hpp says how to add one.
#pragma once

#include <tx/core/fixed_string.hpp>
#include <tx/step/program_options.hpp>

namespace tx {

// Scales the gradient down to the norm run.settings["clip_norm"], 1 at first.
struct clip_gradient {};

// A step hands back the norm of the gradient, before it is clipped, as `gradient_norm` beside the loss; of the mean over shards or
// parts. Where nothing else needs all gradients together, this does not either: each leaves its sum of squares.
struct gradient_norm {};

// Gradients are those of a multiple of the loss, and divided by that again, for products of f16, which lose what is small; a step whose gradients are not finite
// changes nothing, and halves the multiple for those to come. It hands back the norm as gradient_norm does, and the multiple as `loss_scale`. See loss_scale.hpp.
struct loss_scale {};

// step::memory.activations is at most Bytes: products of repeated blocks are computed again in the backward pass as far as that
// takes, those first that free most for their work. step::memory.recomputed_flops is what it costs; below the smallest plan there is,
// a compile error names that.
template <std::int64_t Bytes>
struct recompute {
  static_assert(Bytes >= 0, "tx::recompute takes a number of bytes. FIX: 0 or more");
};

// A batch in N parts, one after the other: activations of a part, gradients of all summed, one update. The loss is recorded for a
// part; a step takes N times as long arguments, and hands back means over the parts. A loss that divides by a count of its own part (of
// labels that are not ignored, of weights) is not that of the whole batch: divide by a number known for all of it.
template <int N>
struct accumulate {
  static_assert(N >= 1, "tx::accumulate takes a number of parts. FIX: 1 or more");
};

// One update for N runs: the mean of their gradients, which a state of the step sums up, so that checkpoints have it between two updates. Each run hands back
// its own results, with gradient_norm that of the sum so far over N; parameters change in every N-th, and settings.schedule counts updates. It takes what
// accumulate<N> does not, batches of bounded extents; their means count alike, whatever they are of. It costs a state of the parameters' size, and in each
// run the time of an update. Its parameters are trained by no other step: the sums are of its loss, the runs that are counted its own.
template <int N>
struct accumulate_runs {
  static_assert(N >= 1, "tx::accumulate_runs takes a number of runs. FIX: 1 or more");
};

// On a device the optimizer's states, and sums over runs, lie in memory of the host that the device reaches, of which the update's kernels read and write each number once: as many bytes fewer are
// needed on the device (step::memory_on<target>.on_host), and as many more travel each way in a run. On the host nothing changes. See arXiv 2101.06840.
struct offload {};

// Rates that fall from layer to layer: layer i of a repeat of n blocks takes run.settings["layer_decay"]^(n - i) of its rate, 0.9 at first, what a
// pattern of names matches, as "bert.embeddings.*", lies below all layers and takes its power n + 1; everything else takes all. See layer_decay.hpp.
template <fixed_string... Below>
struct layer_decay {
  static constexpr int count = sizeof...(Below);
  static constexpr std::string_view below[count + 1] = {Below.view()...};
};

template <>
struct step_option<clip_gradient> {
  static constexpr void set(step_options& o) { o.clips = true; }
};
template <>
struct step_option<gradient_norm> {
  static constexpr void set(step_options& o) { o.tells_norm = true; }
};
template <>
struct step_option<loss_scale> {
  static constexpr void set(step_options& o) { o.scales_loss = o.tells_norm = true; }
};
template <>
struct step_option<offload> {
  static constexpr void set(step_options& o) { o.offloads = true; }
};
template <std::int64_t Bytes>
struct step_option<recompute<Bytes>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(recompute<Bytes>) > 0);  // completes the type, so that its own assertion is looked at: naming it alone does not
    o.activations = Bytes;
  }
};
template <int N>
struct step_option<accumulate<N>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(accumulate<N>) > 0);
    o.parts = N;
  }
};
template <int N>
struct step_option<accumulate_runs<N>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(accumulate_runs<N>) > 0);
    o.runs = N;
  }
};
template <fixed_string... Below>
struct step_option<layer_decay<Below...>> {
  static constexpr void set(step_options& o) {
    o.decays_by_layer = true;
    o.below = layer_decay<Below...>::below;
    o.below_count = layer_decay<Below...>::count;
  }
};

namespace detail {

// Both numbers stand in the name of what does not compile.
template <std::int64_t Budget, std::int64_t Smallest>
struct activations_fit {
  static_assert(Budget < 0 || Smallest <= Budget,
                "tx::recompute: the activations do not fit the budget, whatever is computed again: the numbers are budget and smallest plan. FIX: recompute<the second number>, or a smaller batch");
};

}  // namespace detail

}  // namespace tx
