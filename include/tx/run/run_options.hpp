// What an executor is made with beside its parameters.
#pragma once

#include <cstddef>
#include <span>

namespace tx {

struct run_options {
  int threads = 0;  // 0: as many as the machine runs at once; 1: the caller's alone
  int block = 0;    // of the shared ones that a program without training takes as parameters; k: state k - 1, see train/averaged.hpp
  std::span<std::byte> arena{};  // memory of the caller's, for as long as the executor, for all but parameters and states; none: its own
};

}  // namespace tx
