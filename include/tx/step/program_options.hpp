// mixed<Half>, compiled_with<options>: what any program can be told, a function as well as a train_step. An option is a type, in any order.
#pragma once

#include <tx/step/options.hpp>

namespace tx {

// Products multiply elements rounded to Half and sum them in f32; parameters, statistics and the update of a step stay f32. Losses are not
// scaled, so f16, whose smallest number is 6e-8, loses small gradients; bf16 has the range of f32.
template <class Half>
struct mixed {
  static_assert(is_half(dtype_v<Half>), "tx::mixed takes a half. FIX: mixed<bf16> or mixed<f16>, or no such option for products of f32");
};

// Switches of the compiler (plan/compile_options.hpp).
template <compile_options Options>
struct compiled_with {};

template <class Half>
struct step_option<mixed<Half>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(mixed<Half>) > 0);  // completes the type, so that its own assertion is looked at: naming it alone does not
    o.mixes = true;
    o.half = dtype_v<Half>;
  }
};
template <compile_options Options>
struct step_option<compiled_with<Options>> {
  static constexpr void set(step_options& o) { o.compile = Options; }
};

}  // namespace tx
