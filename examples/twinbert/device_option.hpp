// --device of every command.
#pragma once

#include "../command_line/options.hpp"

namespace twinbert {

inline command_line::option const device_option{"device", "cpu|cuda|hip", "what computes; devices if the program is compiled for them (default: cpu)"};

inline std::string device_of(command_line::options const& given) { return given.has("device") ? given.text("device") : "cpu"; }

}  // namespace twinbert
