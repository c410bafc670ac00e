// What the device's compiler is told of a task beside its code.
#pragma once

namespace tx::backends::cuda {

// Blocks that a multiprocessor has at once, where a task asks for so many: the compiler keeps registers for them.
template <class Task>
inline constexpr int blocks_beside = [] {
  if constexpr (requires { Task::blocks_beside; }) return Task::blocks_beside;
  else return 1;
}();

}  // namespace tx::backends::cuda
