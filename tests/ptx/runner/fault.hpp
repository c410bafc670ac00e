// What the runner says of a program that does what a device would not forgive, or not notice.
#pragma once

#include <stdexcept>
#include <string>

namespace ptx {

struct fault : std::runtime_error {
  fault(std::string const& kernel, std::string const& what);
};

// A text of PTX that the runner does not know.
struct unknown : std::runtime_error {
  unknown(int line, std::string const& text, std::string const& why)
      : std::runtime_error("PTX, line " + std::to_string(line) + ": " + why + ": " + text) {}
};

std::string readable(std::string const& mangled);  // the name as C++ has it, the beginning of a long one

}  // namespace ptx
