// mixed<Half>, compiled_with<options>: what any program can be told, a function as well as a train_step. An option is a type, in any order.
#pragma once

#include <tx/step/options.hpp>

#include <type_traits>

namespace tx {

// Products multiply elements rounded to Half and sum them in f32; parameters, statistics and the update of a step stay f32. Losses are not
// scaled, so f16, whose smallest number is 6e-8, loses small gradients; bf16 has the range of f32.
//
// mixed<e4m3>: as mixed<bf16>, but products by parameters multiply E4M3, forward and for the gradient by what the parameter is multiplied with. Each row of one
// side and each column of the other has a scale of its own, a power of two (passes/quarters.hpp). Gradients by parameters are products of bf16.
template <class Half>
struct mixed {
  static_assert(is_half(dtype_v<Half>) || std::is_same_v<Half, e4m3>, "tx::mixed takes a half, or e4m3. FIX: mixed<bf16>, mixed<f16> or mixed<e4m3>, or no such option for products of f32");
};

// Switches of the compiler (plan/compile_options.hpp).
template <compile_options Options>
struct compiled_with {};

template <class Half>
struct step_option<mixed<Half>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(mixed<Half>) > 0);  // completes the type, so that its own assertion is looked at: naming it alone does not
    o.mixes = true;
    o.quarters = std::is_same_v<Half, e4m3>;
    o.half = o.quarters ? dtype::bf16 : dtype_v<Half>;
  }
};
template <compile_options Options>
struct step_option<compiled_with<Options>> {
  static constexpr void set(step_options& o) { o.compile = Options; }
};

}  // namespace tx
