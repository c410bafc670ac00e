// TwinBERT's training step on the interpreted device, and what the interpreter itself promises.
#include "../cuda/twinbert.hpp"
#include "compare.hpp"

#include <catch2/catch.hpp>

namespace {

using interpreter::host_device;

template <class Step, class Backend>
values two_steps() {
  auto const b = twinbert_batch();
  return outcome<Step, Backend>(2, b.query, b.document, b.label);
}

// Threads that read what their neighbours wrote, with or without waiting for them.
template <bool Waits>
struct neighbours {
  static constexpr int threads = 64;
  struct arguments {
    int* to;
  };
  static void run(auto& b, arguments const& a) {
    auto* const room = reinterpret_cast<int*>(b.shared());
    room[b.thread()] = b.thread();
    if constexpr (Waits) b.sync();
    a.to[b.thread()] = room[(b.thread() + 1) % b.threads()];
  }
};
struct divergent {
  static constexpr int threads = 64;
  struct arguments {
    int at;
  };
  static void run(auto& b, arguments const& a) {
    if (b.thread() < a.at) b.sync();
  }
};

}  // namespace

TEST_CASE("TwinBERT's training step on the device equals the reference's, whatever the order of threads and blocks") {
  values const device = two_steps<twinbert_step<>, interpreted>();
  CHECK(distance(device, two_steps<one_by_one<twinbert_step<>>::type, tx::reference>()) < 1e-4);
  host_device::reversed = true;
  values const again = two_steps<twinbert_step<>, interpreted>();
  host_device::reversed = false;
  CHECK(device == again);
}

TEST_CASE("The interpreter shows a barrier that is missing") {
  std::vector<int> to(64);
  for (bool const reversed : {false, true}) {
    host_device::reversed = reversed;
    host_device::launch<neighbours<true>>(1, 64, 64 * 4, {to.data()});
    for (int i = 0; i < 64; ++i) REQUIRE(to[static_cast<std::size_t>(i)] == (i + 1) % 64);
    host_device::launch<neighbours<false>>(1, 64, 64 * 4, {to.data()});
    CHECK(to[5] == (reversed ? 6 : -1));
  }
  host_device::reversed = false;
}

TEST_CASE("The interpreter refuses threads that do not meet") {
  CHECK_THROWS_AS(host_device::launch<divergent>(1, 64, 0, {32}), std::logic_error);
  CHECK_THROWS_AS(host_device::launch<divergent>(1, 64, 0, {5}), std::logic_error);
  CHECK_NOTHROW(host_device::launch<divergent>(1, 64, 0, {64}));
}
