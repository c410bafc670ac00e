// What a step can be told beyond its loss and optimizer. An option is a type, given in any order, and a step_option for it, beside it: those of
// step/program_options.hpp, train/options.hpp, dist/data_parallel.hpp, and of one's own. What options there are is plain data, which the passes over a step read.
//
//   struct clipped_in_parts {};
//   template <>
//   struct tx::step_option<clipped_in_parts> {
//     static constexpr void set(tx::step_options& o) { o.clips = true, o.parts = 4; }
//   };
//   using step = tx::train_step<model, loss, tx::adamw, clipped_in_parts>;
#pragma once

#include <tx/core/dtype.hpp>
#include <tx/expr/var.hpp>
#include <tx/plan/compile_options.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace tx {

inline constexpr int any_ranks = 0;  // as many as there are when the step runs

// Ranks that a batch is for, each with shards of it.
struct batch_division {
  int ranks = 1;
  int shards = 1;      // of each rank
  bool given = false;  // else the step is recorded as it is
  // What becomes of the ranks' gradients by a parameter, so many tensors of one shape, in place of their mean: on all ranks the same. nullptr: the mean.
  var (*combine)(var gradient, std::int64_t tensors) = nullptr;
  int zero = 0;                // 1: ranks divide the optimizer's states among them, 2: gradients too, 3: parameters too
  dtype sent_as = dtype::f32;  // what ranks send of gradients; a half: their means, rounded

  constexpr bool several() const { return ranks != 1; }
  constexpr bool is_for_any() const { return ranks == any_ranks; }
  constexpr bool is_for(int there) const { return is_for_any() || ranks == there; }
  constexpr bool operator==(batch_division const&) const = default;
};

struct step_options {
  compile_options compile{};
  bool clips = false;
  bool tells_norm = false;
  bool scales_loss = false;       // gradients are those of a multiple of it; steps whose gradients are not finite are skipped
  bool mixes = false;
  dtype half = dtype::bf16;
  bool quarters = false;          // products by parameters are of E4M3, all others of that half
  std::int64_t activations = -1;  // bytes; -1: no budget
  int parts = 1;                  // of a batch, one after the other
  int runs = 1;                   // for one update
  batch_division division{};
  int tensor_ranks = 1;           // that divide products among them
  int stages = 1;                 // ranks that divide the blocks of a repeat among them

  constexpr int ranks_of_batch() const { return tensor_ranks * stages; }  // that divide the work of one
  std::int64_t overlaps = 0;      // collectives with computing, of results of so many bytes; 0: none
  bool decays_by_layer = false;
  bool offloads = false;          // states to the host's memory
  std::string_view const* below = nullptr;  // patterns of what lies below all layers
  int below_count = 0;

  constexpr bool operator==(step_options const&) const = default;
};

// static constexpr void set(step_options&): what an option changes. Of a type that is no option there is none.
template <class Option>
struct step_option;

// A `set` that took a copy would change nothing.
template <class Option>
concept is_step_option = requires {
  { &step_option<Option>::set } -> std::convertible_to<void (*)(step_options&)>;
};

// Types that are no options are passed over: whoever takes options says so of its own.
template <class... Options>
constexpr step_options options_of() {
  step_options o{};
  [[maybe_unused]] auto const set = [&]<class Option>() {
    if constexpr (is_step_option<Option>) step_option<Option>::set(o);
  };
  (set.template operator()<Options>(), ...);
  return o;
}

namespace detail {
// Are all options as they are at first, but for these members?
template <class... Members>
consteval bool says_nothing_but(step_options o, Members... member) {
  step_options const plain{};
  ((o.*member = plain.*member), ...);
  return o == plain;
}
}  // namespace detail

}  // namespace tx
