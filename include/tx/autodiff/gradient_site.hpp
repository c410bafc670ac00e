// Where the gradient of a parameter is complete and may be used up at once, so that gradients never exist together: after the
// backward pass of the program, or inside the block that a repeat runs backward, which sees one slice of the parameter at a time.
#pragma once

#include <tx/expr/var.hpp>
#include <tx/graph/leaf.hpp>

namespace tx {

struct gradient_site {
  graph* g = nullptr;
  int parameter = -1;  // the leaf, whole
  var value{};         // the parameter as seen here
  var gradient{};      // of the same shape

  // A leaf with the parameter's extents, such as an optimizer's state, as seen here; `id` is set to the whole one.
  constexpr virtual var leaf(op_info const& op, attributes const& at, int& id) = 0;
  // `next` takes the place of that leaf, or of the parameter.
  constexpr virtual void assign(int leaf_id, var next) = 0;
  // The program reads `value`, stacked over the iterations of a block, under the id that is appended to `ids` once it can.
  constexpr virtual void hand_out(var value, vec<int>& ids) = 0;

 protected:
  constexpr ~gradient_site() = default;
};

struct gradient_user {
  constexpr virtual bool wants(node const& leaf) const = 0;  // else its gradient is returned as others are
  constexpr virtual void use(gradient_site& site) = 0;

 protected:
  constexpr ~gradient_user() = default;
};

}  // namespace tx
