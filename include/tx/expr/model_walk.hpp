// Going through a model: its parameters in the order in which they are declared, and what stands around each, a repeat or what freezes it.
#pragma once

#include <tx/expr/members.hpp>
#include <tx/expr/param.hpp>

namespace tx {

template <class M>
concept repeated_module = requires { M::repeat_count; };

// As a member `frozen_module<encoder> body;` a module that is not trained: its parameters are in the group `frozen`, whatever their own is.
// They are named as if the module were the member itself; what the module can do beside being called is at `body.body`.
template <class Module>
struct frozen_module {
  static constexpr bool freezes = true;
  Module body;

  constexpr auto operator()(auto const&... x) const { return body(x...); }
};
template <class M>
concept freezing_module = requires { M::freezes; };

namespace detail {

// Where a parameter is within a model.
struct surroundings {
  shape stack{};  // extents of enclosing repeats
  bool frozen = false;
};

// Calls f(parameter, surroundings) for each parameter in declaration order.
template <class M, class F>
constexpr void for_each_parameter(M& module, F& f, surroundings const& around = {}) {
  using type = std::remove_const_t<M>;
  if constexpr (parameter<type>) {
    f(module, around);
  } else if constexpr (typed_handle<type>) {
    static_assert(!typed_handle<type>, "tx: a model holds a tensor, which has no numbers of its own. FIX: tx::param<tensor<...>> for one that is learned, an argument for one that is given");
  } else if constexpr (repeated_module<type>) {
    surroundings deeper = around;
    deeper.stack.dim[deeper.stack.rank++] = type::repeat_count;
    for_each_parameter(module.block, f, deeper);
  } else if constexpr (freezing_module<type>) {
    for_each_parameter(module.body, f, surroundings{around.stack, true});
  } else if constexpr (std::is_class_v<type>) {
    std::apply([&](auto&... member) { (for_each_parameter(member, f, around), ...); }, members(module));
  }
}

}  // namespace detail

}  // namespace tx
