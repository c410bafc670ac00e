#include "processes.hpp"

#include <tx/train/loop/options.hpp>

#include <algorithm>

namespace command_line {

processes::processes() : where_(tx::dist::launched()), connections_(where_), all_(connections_) {}

int processes::threads(int asked) const {
  if (asked > 0 || !several()) return asked;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / std::max(1, where_.local_size));
}

double processes::from_first(double value) {
  all_.broadcast(std::span(&value, 1), 0);
  return value;
}

int processes::agreed(int signal) { return static_cast<int>(from_first(signal)); }

void processes::together(std::function<void()> const& run) {
  try {
    run();
  } catch (tx::train::stopped const& s) {
    // All have stopped; one says so.
    if (!first()) throw tx::train::stopped(s.signal, s.step, "");
    throw;
  } catch (tx::dist::rank_error const&) {
    throw;
  } catch (std::exception const& e) {
    if (several()) connections_.fail(std::string("failed: ") + e.what());
    throw;
  }
}

}  // namespace command_line
