// Going through a model: its parameters in the order in which they are declared, and what stands around each, a repeat or what freezes it.
#pragma once

#include <tx/expr/attached.hpp>
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
// One that says of each parameter of its `body`, by number, what becomes of its surroundings; see by_name.hpp.
template <class M>
concept choosing_module = requires { M::chooses; };

namespace detail {

// Where a parameter is within a model.
struct surroundings {
  shape stack{};     // extents of enclosing repeats
  bool frozen = false;
  double rate = 1;   // a factor of its group's
};

// Calls f(parameter, surroundings) for each parameter in declaration order; those that stand beside a layer come behind its own. Beside: the
// module around that says which they are, or whatever_is_attached; layer: the number of the next layer in it.
template <class Beside = nothing_attached, class M, class F>
constexpr void for_each_parameter(M& module, F& f, surroundings const& around = {}, int* layer = nullptr) {
  using type = std::remove_const_t<M>;
  if constexpr (parameter<type>) {
    f(module, around);
  } else if constexpr (typed_handle<type>) {
    static_assert(!typed_handle<type>, "tx: a model holds a tensor, which has no numbers of its own. FIX: tx::param<tensor<...>> for one that is learned, an argument for one that is given");
  } else if constexpr (repeated_module<type>) {
    surroundings deeper = around;
    deeper.stack.dim[deeper.stack.rank++] = type::repeat_count;
    for_each_parameter<Beside>(module.block, f, deeper, layer);
  } else if constexpr (freezing_module<type>) {
    surroundings held = around;
    held.frozen = true;
    for_each_parameter<Beside>(module.body, f, held, layer);
  } else if constexpr (choosing_module<type>) {
    int k = 0;
    auto chosen = [&](auto& p, surroundings own) {
      type::choose(own, k++);
      f(p, own);
    };
    for_each_parameter<Beside>(module.body, chosen, around, layer);
  } else if constexpr (attaching_module<type>) {
    static_assert(std::is_same_v<Beside, nothing_attached> || std::is_same_v<Beside, whatever_is_attached>,
                  "tx: modules are attached to layers of a module that is attached to itself. FIX: one nn::lora, with all patterns of names");
    int own = 0;
    for_each_parameter<typename type::attaching>(module.body, f, around, &own);
  } else if constexpr (std::is_class_v<type> && !std::is_same_v<type, attachment>) {
    std::apply([&](auto&... member) { (for_each_parameter<Beside>(member, f, around, layer), ...); }, members(module));
    if constexpr (attachable_module<type> && !std::is_same_v<Beside, nothing_attached>) Beside::visit(module, f, around, layer);
  }
}

}  // namespace detail

}  // namespace tx
