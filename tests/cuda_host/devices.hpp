// Ranks with a device each, which the interpreter runs, in threads.
#pragma once

#include "../dist/divided.hpp"
#include "between_threads.hpp"
#include "interpreter.hpp"

#include <tx/dist/device/device_ranks.hpp>

namespace divided {

template <class Backend>
using devices = dist::device_ranks<Backend, between_threads, dist::local>;

// f(this rank's end) on each of so many threads.
template <class F>
auto on_devices(int ranks, dist::device_ranks_options options, F const& f) {
  return on_ranks(ranks, [&](dist::local& host) {
    devices<interpreted> all(host, options);
    return f(all);
  });
}
// Room for eight pieces of what most tests here add up.
inline constexpr dist::device_ranks_options little{.room = 8 * 8 * 1024};

template <class Step>
auto trained_on_devices(int ranks) {
  return on_devices(ranks, little, [](auto& all) { return trained_by<Step, interpreted>(all); });
}

}  // namespace divided
