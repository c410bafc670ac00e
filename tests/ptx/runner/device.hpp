// A device that runs PTX on the host: memory, modules, launches. Wrong accesses, missing barriers and unknown
// instructions are exceptions.
#pragma once

#include "block.hpp"

#include <list>

namespace ptx {

struct loaded {
  module code;
  std::map<std::string, std::byte*> variables;  // where they lie
};

class device {
 public:
  explicit device(order in = order::forwards) : in_(in) {}

  loaded const& load(std::string_view text);

  // `arguments`: an address for each parameter. `without`: a barrier or wait that is left out, by its number in the
  // kernel.
  void launch(loaded const& m, kernel const& k, dim3 grid, dim3 threads, int dynamic_shared,
              void const* const* arguments, int without = -1, pace* paced = nullptr);

  device_memory memory;
  clock time;
  order in() const { return in_; }

 private:
  order in_;
  std::list<loaded> modules_;
  block block_{memory, time};
};

}  // namespace ptx
