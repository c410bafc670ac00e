// distributed<Backend, Communicator>: a backend whose programs may hold collectives. An executor on it is given this
// rank's communicator; collectives go there, or to those of the ranks that they are of, every other kernel is the backend's own.
#pragma once

#include <tx/dist/across.hpp>
#include <tx/dist/communicator.hpp>
#include <tx/ops/partitioned.hpp>
#include <tx/run/bytes.hpp>
#include <tx/run/communicators.hpp>
#include <tx/run/frame.hpp>
#include <tx/run/replay.hpp>

namespace tx {

namespace dist::detail {

template <class Signature, class Backend>
struct kernel : Backend::template kernel<Signature> {};

template <class Rule, dtype Out, dtype... In, class Backend>
struct kernel<exec::collective<Rule, Out, In...>, Backend> {
  template <class Frame>
  static void run(Frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    [&]<int... K>(std::integer_sequence<int, K...>) {
      Rule::run(f.ranks.across(tx::detail::across_of(c.at)), c.at,
                whole_operand<element_t<Out>>{f.template at<element_t<Out>>(operands[sizeof...(In)]), f.dims(operands[sizeof...(In)])},
                whole_operand<element_t<In> const>{f.template at<element_t<In> const>(operands[K]), f.dims(operands[K])}...);
    }
    (std::make_integer_sequence<int, sizeof...(In)>{});
  }
};

}  // namespace dist::detail

namespace dist::detail {

// A communicator of devices says whose memory it reaches.
template <class Communicator, class Backend>
inline constexpr bool reaches = !exec::remote<Backend>;
template <class Communicator, class Backend>
  requires requires { typename Communicator::backend; }
inline constexpr bool reaches<Communicator, Backend> = std::is_same_v<typename Communicator::backend, Backend>;

// Runs as the backend has them, and then until they have ended, as another rank may fail meanwhile, which any of the communicators may be told. Where a run fails, nothing that it has begun goes on
// in its memory.
template <class Replay>
struct awaited {
  Replay inner{};

  template <class Frame, class Run>
  void operator()(Frame const& f, Run const& run) {
    if constexpr (requires { f.ranks.all().await([] {}); }) check_each(f.ranks);  // a captured run asks for no communicator, which may have been given up
    if constexpr (requires { f.ranks.all().abandon(); }) {
      try {
        inner(f, run);
      } catch (...) {
        f.ranks.for_each([](auto& some) { some.abandon(); });
        throw;
      }
    } else {
      inner(f, run);
    }
    if constexpr (requires { f.ranks.all().await([] {}); }) {
      try {
        f.ranks.all().await([&] { check_each(f.ranks); });
      } catch (...) {
        f.ranks.for_each([](auto& some) { some.give_up(); });
        throw;
      }
    }
  }

 private:
  template <class Ranks>
  static void check_each(Ranks const& ranks) {
    ranks.for_each([](auto& some) { some.check(); });
  }
};

}  // namespace dist::detail

template <class Backend, dist::communicator Communicator>
struct distributed : Backend {
  static_assert(dist::detail::reaches<Communicator, Backend>,
                "tx::distributed: the communicator does not reach this backend's memory. FIX: for a device tx::dist::nccl<backend, hosts> or rccl, else one of hosts, such as tx::dist::ranks or local");
  using communicator = Communicator;
  template <class Signature>
  using kernel = dist::detail::kernel<Signature, Backend>;
  using replay = dist::detail::awaited<typename exec::replay_of<Backend>::type>;

  struct frame : exec::frame {
    exec::communicators<Communicator> ranks{};
  };
};

}  // namespace tx
