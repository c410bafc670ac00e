// Compiled for XOP (-mxop), which this processor lacks: an executor must not start, and say why.
#include <tx/backends/cpu/machine.hpp>

#include <cstdio>

int main() {
  if (__builtin_cpu_supports("xop") || !__builtin_cpu_supports("sse2")) return 77;  // a processor that has it proves nothing, nor does a library that knows none
  try {
    tx::backends::cpu::require_instructions();
  } catch (tx::error const& e) {
    std::puts(e.what());
    std::string const said = e.what();
    return said.find("compiled for XOP, which this processor lacks. FIX: ") != std::string::npos ? 0 : 1;
  }
  std::puts("not refused");
  return 1;
}
