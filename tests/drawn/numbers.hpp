// The elements that the leaves of a drawn program have, and the run that its random numbers are those of.
#pragma once

#include "../interpreter/evaluator.hpp"
#include "build.hpp"

#include <tx/core/elements.hpp>

namespace drawn {

inline constexpr tx::philox_key run_key = tx::philox_key::from(42);
inline constexpr std::uint32_t run_step = 3;
// The step, each group's rate and decay, and a quarter for settings: what dropout drops and what gradients are clipped to.
inline constexpr auto run_scalars = [] {
  tx::fixed<float, tx::scalar_count> all{};
  constexpr float of_groups[] = {0.125f, 0.5f, 0.75f, 0.375f, 0.625f};
  for (int k = 0; k < tx::scalar_count; ++k) all[k] = k >= static_cast<int>(tx::scalar::named) ? 0.25f : of_groups[k % 5];
  all[static_cast<int>(tx::scalar::run)] = 3;
  return all;
}();

// Element k of source number `source`, as its type holds it. Integers lie below `limit`, if there is one.
inline double element(int source, int k, dtype type, int limit) {
  auto const mixed = static_cast<std::uint32_t>(source) * 2654435761u + static_cast<std::uint32_t>(k) * 40503u + 977u;
  std::uint32_t const hash = (mixed ^ mixed >> 15) * 2246822519u >> 8;
  if (type == dtype::boolean) return static_cast<double>(hash & 1);
  if (tx::is_integer(type)) return limit > 0 ? static_cast<double>(hash % static_cast<std::uint32_t>(limit)) : static_cast<double>(hash % 7) - (type == dtype::u8 ? 0 : 3);
  return tx::rounded_to(type, std::sin(1.7 * k + 0.9 * source + 0.3) * 1.5);
}

// Elements of a whole block, as its leaves see them.
inline double block_element(int number, int k, dtype type) {
  double const x = element(number, k, type, 0);
  return number == 0 ? x : std::abs(x);
}

// The value of a leaf: inputs one by one, blocks by the element of the block, so that leaves that share elements agree.
inline values leaf_values(tx::node const& leaf) {
  values v(static_cast<std::size_t>(leaf.info.count()));
  auto const at = static_cast<int>(leaf.at.v[0]);
  for (int k = 0; k < static_cast<int>(v.size()); ++k) {
    double& x = v[static_cast<std::size_t>(k)];
    if (leaf.op == &tx::input_info) x = element(100 + at, k, leaf.info.type, static_cast<int>(leaf.at.v[1]));
    else if (leaf.op == &tx::parameter_info) x = element(0, at + k, leaf.info.type, 0);
    else if (leaf.op == &tx::block_info) x = block_element(at, static_cast<int>(leaf.at.v[1]) + k, leaf.info.type);
    else x = static_cast<double>(run_scalars[at]);
  }
  return v;
}
inline evaluation plain_run() {
  evaluation e{};
  e.every_leaf = e.rounded = e.random = true;
  e.key = run_key;
  e.step = run_step;
  return e;
}

}  // namespace drawn
