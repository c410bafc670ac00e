// distributed<Backend, Communicator>: a backend whose programs may hold collectives. An executor on it is given this
// rank's communicator; collectives go there, every other kernel is the backend's own.
#pragma once

#include <tx/dist/communicator.hpp>
#include <tx/ops/partitioned.hpp>
#include <tx/run/bytes.hpp>
#include <tx/run/frame.hpp>

namespace tx {

namespace dist::detail {

template <class Signature, class Backend>
struct kernel : Backend::template kernel<Signature> {};

template <class Rule, dtype Out, dtype... In, class Backend>
struct kernel<exec::collective<Rule, Out, In...>, Backend> {
  template <class Frame>
  static void run(Frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    [&]<int... K>(std::integer_sequence<int, K...>) {
      Rule::run(*f.ranks, c.at,
                whole_operand<element_t<Out>>{f.template at<element_t<Out>>(operands[sizeof...(In)]), f.dims(operands[sizeof...(In)])},
                whole_operand<element_t<In> const>{f.template at<element_t<In> const>(operands[K]), f.dims(operands[K])}...);
    }
    (std::make_integer_sequence<int, sizeof...(In)>{});
  }
};

}  // namespace dist::detail

template <class Backend, dist::communicator Communicator>
struct distributed : Backend {
  static_assert(!exec::remote<Backend>,
                "tx::distributed: a communicator of hosts does not reach this backend's memory, and a captured run would leave its collectives out. FIX: a backend whose memory is the host's");
  using communicator = Communicator;
  template <class Signature>
  using kernel = dist::detail::kernel<Signature, Backend>;

  struct frame : exec::frame {
    Communicator* ranks = nullptr;
  };
};

}  // namespace tx
