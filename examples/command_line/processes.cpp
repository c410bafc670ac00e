#include "processes.hpp"

#include <tx/io/crc64.hpp>
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

void processes::check_same(std::map<std::string, std::string> const& values) {
  for (auto const& [name, value] : values) {
    std::vector<double> own, of_first;
    tx::io::crc64 sum;
    sum.add(std::string_view(value));
    own = of_first = {static_cast<double>(sum.value() & 0xffffffff), static_cast<double>(sum.value() >> 32)};
    all_.broadcast(std::span(of_first), 0);
    if (own != of_first) throw tx::value_error(name + " is another than the first process has. FIX: the same options and files for all");
  }
}

int processes::agreed(int signal) { return static_cast<int>(from_first(signal)); }

void processes::together(std::function<void()> const& run) {
  try {
    run();
  } catch (tx::train::stopped const& s) {
    // All have stopped after one step, once the first has saved: before that none ends, or a launcher would end the first too.
    if (several()) {
      all_.barrier();
      connections_.leave();
    }
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
