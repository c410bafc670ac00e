// Who looks at a run while it goes on: told of each kernel before and after it, in the order in which they run, by the
// thread that runs the program. An executor is told of its observers at run time; kernels know nothing of them.
#pragma once

#include <tx/run/frame.hpp>

namespace tx::exec {

class observer {
 public:
  virtual void before_run(frame const&) {}  // arguments, parameters and numbers are in their places
  virtual void before_kernel(frame const&, call const&) {}
  virtual void after_kernel(frame const&, call const&) {}  // one that throws ends the run there

 protected:
  ~observer() = default;
};

// The last observer is nearest to the kernel, so that a clock that is the last measures the kernel alone.
TX_COLD inline void tell_before(frame const& f, call const& c) {
  for (observer* const o : f.observers) o->before_kernel(f, c);
}
TX_COLD inline void tell_after(frame const& f, call const& c) {
  for (std::size_t k = f.observers.size(); k-- > 0;) f.observers[k]->after_kernel(f, c);
}

}  // namespace tx::exec
