// PTX's text, as nvcc writes it, to a module. What the runner does not know is refused, with its line.
#pragma once

#include "module.hpp"

#include <string_view>

namespace ptx {

module parse(std::string_view text);

}  // namespace ptx
