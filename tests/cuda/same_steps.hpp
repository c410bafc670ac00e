// Three training steps on a device, of the compiler's make, and on the reference: losses agree within `near`, and parameters. Returns what main does:
// 77 without a device.
#pragma once

#include "its_backend.hpp"

#include <tx/backends/reference.hpp>
#include <tx/run/executor.hpp>

#include "../furthest.hpp"

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

template <class Step, class... A>
int same_steps(A const&... arguments) {
  return same_steps_within<Step>(1e-4, arguments...);
}
