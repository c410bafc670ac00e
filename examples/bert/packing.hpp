// Texts through a program that takes packed ones, as many at a time as it has room for.
#pragma once

#include "engine.hpp"

#include <tx/text/packed_batch.hpp>

namespace bert {

// Calls run(batch) for each batch, whose texts follow those of the one before.
template <class Batch, class Run>
void for_each_batch(std::span<coded_text const> texts, Run&& run) {
  Batch batch;
  for (coded_text const& t : texts) {
    if (batch.add(t.ids, t.types)) continue;
    run(batch);
    batch.clear();
    batch.add(t.ids, t.types);
  }
  if (batch.texts() > 0) run(batch);
}

// What an executor's tensors() are, in a plain form.
template <class Tensors>
std::vector<named_tensor> plain(Tensors const& tensors) {
  std::vector<named_tensor> out;
  for (auto const& t : tensors) out.push_back({t.name, {t.dims.dim, t.dims.dim + t.dims.rank}, t.data});
  return out;
}

// Packed texts to a program: types of tokens only where the model has them.
template <bool Typed, class Program, class Batch, class... More>
auto run_packed(Program& program, Batch const& b, More const&... more) {
  if constexpr (Typed) return program(b.ids, b.positions, b.offsets, b.types, more...);
  else return program(b.ids, b.positions, b.offsets, more...);
}

}  // namespace bert
