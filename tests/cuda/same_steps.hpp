// Three training steps on a device, of the compiler's make, and on the reference: losses agree within `near`, and parameters. Returns what main does:
// 77 without a device.
#pragma once

#include "its_backend.hpp"

#include <tx/backends/reference.hpp>
#include <tx/run/executor.hpp>

#include "../furthest.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

template <class Step, class Device = its_backend, class... A>
int same_steps_within(double near, A const&... arguments) {
  if (!its_backend::available()) {
    std::puts("skipped: no device");
    return 77;  // neither passed nor failed
  }
  tx::executor<Step, tx::reference> host{tx::seed(1)};
  tx::executor<Step, Device> device{tx::seed(1)};
  auto const start = host.read();
  for (int i = 0; i < 3; ++i) {
    double const wanted = host(arguments...).loss;
    double const loss = device(arguments...).loss;
    std::printf("step %d: %.6f, reference %.6f\n", i, loss, wanted);
    if (!(std::abs(loss - wanted) < near)) return 1;
  }
  auto const wanted = host.read();
  auto const got = device.read();
  double furthest = 0;
  std::size_t far = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    // Where a gradient is rounding noise, Adam's direction is too: what both moved in one direction is compared.
    double const moved = static_cast<double>(wanted[i]) - static_cast<double>(start[i]);
    double const apart = std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i]));
    far += apart > 1e-4;
    keep_furthest(furthest, apart - std::abs(moved));
  }
  std::printf("%zu of %zu parameters differ by more than 1e-4\n", far, got.size());
  return far * 20 < got.size() && furthest < 5e-3 ? 0 : 1;
}

// Runs that are started before the one before has ended: bit by bit what they are one after the other, each with a rate of its own. Both kinds are captured and replayed.
template <class Step, class... A>
int same_a_step_late(A const&... arguments) {
  tx::executor<Step, its_backend> one{tx::seed(1)}, late{tx::seed(1)};
  auto const rate = [](auto& run, int i) { run.settings["learning_rate"] = 1e-3f * static_cast<float>(1 + i % 3); };
  constexpr int steps = 6;
  float wanted[steps], got[steps];
  for (int i = 0; i < steps; ++i) {
    rate(one, i);
    wanted[i] = one(arguments...).loss;
  }
  for (int i = 0; i < steps; ++i) {
    rate(late, i);
    late.start(arguments...);
    if (i > 0) got[i - 1] = late.finish().loss;
  }
  got[steps - 1] = late.finish().loss;
  bool const same = std::equal(wanted, wanted + steps, got) && one.read() == late.read();
  std::printf("a step late: %s\n", same ? "the same" : "not the same");
  return same ? 0 : 1;
}

template <class Step, class... A>
int same_steps(A const&... arguments) {
  return same_steps_within<Step>(1e-4, arguments...);
}
