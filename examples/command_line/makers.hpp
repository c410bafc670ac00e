// Which of its programs a program of commands was compiled with, and for which kinds of devices. A source that instantiates some is compiled once for each kind
// (tx/backends/chosen.hpp) and says so by a global, under the name of the device:
//
//   command_line::maker<classifier, bool> const here{engine_names, [](engine_options const& o, bool trains) -> std::unique_ptr<classifier> { ... }};
//
// so whoever wants one asks maker<classifier, bool>::make and needs to know no source.
#pragma once

#include "options.hpp"
#include "processes.hpp"

#include <tx/core/error.hpp>

#include <compare>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace command_line {

struct engine_options {
  std::uint64_t seed = 1;
  int threads = 0;  // of this process; 0: as many as the machine runs at once
  std::string device = "cpu";
};

inline option const device_option{"device", "cpu|cuda|hip", "what computes; devices if the program is compiled for them (default: cpu)"};
inline option const threads_option{"threads", "N", "(default: as many as the machine runs at once)"};

inline std::string device_of(options const& given) { return given.has("device") ? given.text("device") : "cpu"; }
// --threads, of which each process has a share, and --device.
inline engine_options engine_of(options const& given, std::uint64_t seed = 1) {
  return {seed, processes::now().threads(static_cast<int>(given.integer("threads", 0, 0, 1024))), device_of(given)};
}

// Of a kind of device; ranks: for one of several processes that work together, which have a device each.
struct engine_name {
  std::string_view device;
  bool ranks;
  auto operator<=>(engine_name const&) const = default;
};

template <class Made, class... Arguments>
class maker {
 public:
  using function = std::unique_ptr<Made>(engine_options const&, Arguments...);

  maker(std::span<engine_name const> names, function* made) {
    for (engine_name const& name : names)
      if (!all().emplace(name, made).second) std::terminate();  // two sources of the program make the same
  }
  static bool has(engine_name const& name) { return all().contains(name); }

  // lacking: what is wrong with a program that makes none for any device. value_error for that and for a device that it is not compiled for, or not for
  // several processes; error for a device that this machine lacks.
  static std::unique_ptr<Made> make(std::string const& lacking, engine_options const& o, Arguments... arguments) {
    if (all().empty()) throw tx::value_error(lacking);
    bool const ranks = processes::now().several();
    auto const found = all().find({o.device, ranks});
    if (found != all().end()) return found->second(o, arguments...);
    if (ranks && has({o.device, false}))
      throw tx::value_error("--device " + o.device + ": this program has no engine for processes that have a device each. FIX: one process, --device cpu, or cmake -DTX_DEVICE_RANKS=ON, for which there has to be NCCL, or RCCL");
    throw tx::value_error("--device " + o.device + ": this program is not compiled for it. FIX: cpu; or cmake -DTX_CUDA=ON for cuda, -DTX_HIP=ON for hip");
  }

 private:
  static std::map<engine_name, function*>& all() {
    static std::map<engine_name, function*> makers;
    return makers;
  }
};

}  // namespace command_line
