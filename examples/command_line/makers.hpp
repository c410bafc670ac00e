// Which of its programs a program of commands was compiled with, and for which kinds of devices. A source that instantiates some is compiled once for each kind
// (tx/backends/chosen.hpp) and says so by a global:
//
//   command_line::maker<classifier, bool> const here{tx::chosen_name, [](engine_options const& o, bool trains) -> std::unique_ptr<classifier> { ... }};
//
// so whoever wants one asks maker<classifier, bool>::make and needs to know no source.
#pragma once

#include "options.hpp"
#include "processes.hpp"

#include <tx/core/error.hpp>

#include <cstdint>
#include <map>
#include <memory>
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

template <class Made, class... Arguments>
class maker {
 public:
  using function = std::unique_ptr<Made>(engine_options const&, Arguments...);

  maker(std::string_view device, function* made) { all()[device] = made; }

  // lacking: what is wrong with a program that makes none for any device. value_error for that, for a device that it is not compiled for, and for one that
  // several processes would share; error for a device that this machine lacks.
  static std::unique_ptr<Made> make(std::string const& lacking, engine_options const& o, Arguments... arguments) {
    if (all().empty()) throw tx::value_error(lacking);
    auto const found = all().find(o.device);
    if (found == all().end())
      throw tx::value_error("--device " + o.device + ": this program is not compiled for it. FIX: cpu; or cmake -DTX_CUDA=ON for cuda, -DTX_HIP=ON for hip");
    if (o.device != "cpu" && processes::now().several())
      throw tx::value_error("--device " + o.device + ": several processes work together on processors alone. FIX: one process, or --device cpu");
    return found->second(o, arguments...);
  }

 private:
  static std::map<std::string_view, function*>& all() {
    static std::map<std::string_view, function*> makers;
    return makers;
  }
};

}  // namespace command_line
