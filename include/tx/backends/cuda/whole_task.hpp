// An op on whole operands as a task: each thread is a share of the work.
#pragma once

#include <tx/backends/cuda/place.hpp>
#include <tx/run/whole_operands.hpp>

namespace tx::backends::cuda {

template <class Rule, class Results, class Ins>
struct whole_task;
template <class Rule, dtype... Out, class... In>
struct whole_task<Rule, exec::elements<Out...>, exec::ins<In...>> {
  template <class Numbers, class... T>
  struct pack;
  template <int... K, class... T>
  struct pack<std::integer_sequence<int, K...>, T...> : slot<K, T>... {};
  template <class... T>
  using pack_of = pack<std::make_integer_sequence<int, sizeof...(T)>, T...>;

  static constexpr int threads = most_threads;

  struct arguments {
    attributes at{};
    pack_of<whole_operand<element_t<Out>>...> out{};
    pack_of<decltype(exec::whole_input<In>(std::declval<exec::frame const&>(), std::declval<exec::operand_ref const&>()))...> in{};
  };
  static_assert(sizeof(arguments) < most_arguments);

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    share(b.block() * b.threads() + b.thread(), b.blocks() * b.threads(), a, std::make_integer_sequence<int, sizeof...(Out)>{},
          std::make_integer_sequence<int, sizeof...(In)>{});
  }

 private:
  template <int... O, int... K>
  static TX_DEVICE void share(int part, int parts, arguments const& a, std::integer_sequence<int, O...>, std::integer_sequence<int, K...>) {
    Rule::run(part, parts, a.at, get<O>(a.out)..., get<K>(a.in)...);
  }
};

}  // namespace tx::backends::cuda
