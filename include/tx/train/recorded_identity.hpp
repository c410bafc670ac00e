// The identity of any optimizer: its own word, or a number made of what its update records.
#pragma once

#include <tx/train/identity.hpp>
#include <tx/train/updates.hpp>

#include <concepts>

namespace tx::detail {

template <class O>
concept names_itself = requires {
  { O::identity() } -> std::convertible_to<std::string>;
};

// Ops, shapes, operands and numbers of the update of a matrix, in order. Numbers count as f32, since logarithms and the
// like may differ in their last bits between the machines that record them.
template <class Optimizer>
TX_COLD std::string recorded_identity() {
  graph g{};
  value_info const info{dtype::f32, shape{2, {}, {2, 3}}};
  var const leaf = emit_leaf(g, parameter_info, info);
  append_update<Optimizer>(g, leaf, emit_leaf(g, input_info, info), {.own_rank = 2});
  std::string told;
  auto const put = [&](auto number) { told += std::to_string(number) + ' '; };
  for (node const& n : g.nodes) {
    told += n.op->name;
    if (n.op->kind == op_kind::constant)
      put(std::bit_cast<std::uint32_t>(static_cast<float>(constant_value(n))));
    else
      for (std::int64_t a : n.at.v) put(a);
    for (int k = 0; k < n.info.dims.rank; ++k) put(n.info.dims.dim[k]);
    for (int k = 0; k < n.inputs; ++k) put(g.input(n, k));
  }
  for (output const& o : g.outputs) put(o.value), put(o.target);
  char digits[17];
  return "an optimizer of one's own (" + std::string(digits, std::to_chars(digits, digits + 16, fnv1a(told), 16).ptr) +
         ')';
}

// Optimizers of one identity may go on with each other's states.
template <class Optimizer>
TX_COLD std::string optimizer_identity() {
  if constexpr (names_itself<Optimizer>)
    return Optimizer::identity();
  else
    return recorded_identity<Optimizer>();
}

}  // namespace tx::detail
