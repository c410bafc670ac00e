#include "fault.hpp"

#include <cxxabi.h>
#include <cstdlib>
#include <memory>

namespace ptx {

std::string readable(std::string const& mangled) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const name(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  std::string text = status == 0 ? name.get() : mangled;
  constexpr std::size_t most = 300;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

fault::fault(std::string const& kernel, std::string const& what)
    : std::runtime_error("kernel " + readable(kernel) + ": " + what) {}

}  // namespace ptx
