// An op on whole operands as a task: each thread is a share of the work, or computes elements of the result where its rule says those.
#pragma once

#include <tx/backends/device/place.hpp>
#include <tx/run/whole_operands.hpp>

namespace tx::backends::device {

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
    std::uint32_t const* step = nullptr;  // of the random streams
    pack_of<whole_operand<element_t<Out>>...> out{};
    pack_of<decltype(exec::whole_input<In>(std::declval<exec::frame const&>(), std::declval<exec::operand_ref const&>()))...> in{};
  };
  static_assert(sizeof(arguments) < most_arguments);

  template <int... K>
  static constexpr bool says_elements(std::integer_sequence<int, K...>) {
    return requires(arguments const& a) { Rule::element(0u, a.at, get<0>(a.out), get<K>(a.in)...); };
  }
  static constexpr bool by_element = sizeof...(Out) == 1 && says_elements(std::make_integer_sequence<int, sizeof...(In)>{});


  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    if constexpr (by_element) {
      auto const count = static_cast<std::uint32_t>(get<0>(a.out).dims.count());  // the host has seen to it that it is one
      for (auto i = static_cast<std::uint32_t>(b.block() * b.threads() + b.thread()); i < count; i += static_cast<std::uint32_t>(b.blocks() * b.threads()))
        one(i, a, std::make_integer_sequence<int, sizeof...(In)>{});
      return;
    }
    one_share(b.block() * b.threads() + b.thread(), b.blocks() * b.threads(), a, std::make_integer_sequence<int, sizeof...(Out)>{},
          std::make_integer_sequence<int, sizeof...(In)>{});
  }

 private:
  template <int... K>
  static TX_DEVICE void one(std::uint32_t i, arguments const& a, std::integer_sequence<int, K...>) {
    get<0>(a.out).data[i] = Rule::element(i, a.at, get<0>(a.out), get<K>(a.in)...);
  }
  template <int... O, int... K>
  static TX_DEVICE void one_share(int share, int shares, arguments const& a, std::integer_sequence<int, O...>, std::integer_sequence<int, K...>) {
    Rule::run(share, shares, a.at, get<O>(a.out)..., in_step(a, get<K>(a.in))...);
  }
  template <class T>
  static TX_DEVICE T const& in_step(arguments const&, T const& operand) {
    return operand;
  }
  static TX_DEVICE drawn_operand in_step(arguments const& a, drawn_operand operand) {
    operand.stream.high += *a.step;
    return operand;
  }
};

}  // namespace tx::backends::device
