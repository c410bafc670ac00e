// What io takes for a parameter: a name, a shape and its elements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

template <class T>
struct named_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<T> data;
};
