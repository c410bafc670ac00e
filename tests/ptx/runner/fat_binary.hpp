// The PTX within what nvcc puts into a program: a container of modules for several processors. They have to be
// uncompressed: nvcc --no-compress.
#pragma once

#include <string>
#include <vector>

namespace ptx {

struct embedded {
  int processor = 0;  // 90: sm_90
  std::string text;
};

// `wrapper`: what the program registers.
std::vector<embedded> texts_of(void const* wrapper);

}  // namespace ptx
