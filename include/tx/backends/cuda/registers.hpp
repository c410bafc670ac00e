// Elements in memory and values in registers: halves widen to f32, small integers to i32.
#pragma once

#include <tx/backends/cuda/vocabulary.hpp>
#include <tx/core/dtype.hpp>

#include <type_traits>

namespace tx::backends::cuda {

template <dtype D>
using register_t = std::conditional_t<D == dtype::bf16 || D == dtype::f16, f32,
                                      std::conditional_t<D == dtype::i8 || D == dtype::i16 || D == dtype::u8, i32, element_t<D>>>;

// Element number i.
template <dtype D>
TX_DEVICE register_t<D> load(std::byte const* p, std::int64_t i) {
  element_t<D> const x = reinterpret_cast<element_t<D> const*>(p)[i];
  if constexpr (D == dtype::bf16 || D == dtype::f16) return x.widen();
  else return static_cast<register_t<D>>(x);
}

template <dtype D>
TX_DEVICE void store(std::byte* p, std::int64_t i, register_t<D> value) {
  element_t<D>& x = reinterpret_cast<element_t<D>*>(p)[i];
  if constexpr (D == dtype::bf16 || D == dtype::f16) x = element_t<D>::from(value);
  else x = static_cast<element_t<D>>(value);
}

// A result of type D as it would be read back from memory: halves rounded, small integers cut to their bits.
template <dtype D>
TX_DEVICE register_t<D> as_stored(register_t<D> x) {
  if constexpr (is_half(D)) return element_t<D>::from(x).widen();
  else return static_cast<register_t<D>>(static_cast<element_t<D>>(x));
}

}  // namespace tx::backends::cuda
