// An op on whole operands as a task: each thread is a share of the work.
#pragma once

#include <tx/backends/cuda/place.hpp>
#include <tx/ops/partitioned.hpp>

namespace tx::backends::cuda {

template <class Rule, dtype Out, dtype... In>
struct whole_task {
  template <class>
  struct pack;
  template <int... K>
  struct pack<std::integer_sequence<int, K...>> : slot<K, whole_operand<element_t<In> const>>... {};
  using operands = pack<std::make_integer_sequence<int, sizeof...(In)>>;

  struct arguments {
    attributes at{};
    whole_operand<element_t<Out>> out{};
    operands in{};
  };
  static_assert(sizeof(arguments) < most_arguments);

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    share(b.block() * b.threads() + b.thread(), b.blocks() * b.threads(), a, std::make_integer_sequence<int, sizeof...(In)>{});
  }

 private:
  template <int... K>
  static TX_DEVICE void share(int part, int parts, arguments const& a, std::integer_sequence<int, K...>) {
    Rule::run(part, parts, a.at, a.out, get<K>(a.in)...);
  }
};

}  // namespace tx::backends::cuda
