// The device that CUDA's runtime, in cudart/, works on. Variables of the environment say how:
//   PTX_ORDER=backwards  threads, blocks and streams the other way round
//   PTX_TARGET=80        the processor whose code runs, where a program has several; else the newest
//   PTX_WITHOUT=NAME:3   leaves out barrier or wait 3 of the kernel NAME
//
//   PTX_TABLE=FILE       what can be told of each kernel that ran, a JSON object a line; its PTX goes to FILE.ptx
//
//   PTX_LIST=FILE        barriers and waits of the kernels that ran, a line each: NAME:3, and where C++ has it
#pragma once

#include "work_queue.hpp"

#include <map>
#include <memory>
#include <string>

namespace ptx {

struct function {
  loaded const* from = nullptr;
  kernel const* code = nullptr;
  int most_dynamic_shared = -1;  // bytes; -1: the program has not asked for more than it gets anyway
};

class simulated {
 public:
  static simulated& get();

  order in;
  device gpu;
  work_queue streams;
  std::map<void const*, function> functions;       // by the address of the host's function
  std::map<std::byte const*, std::size_t> pinned;  // memory of the host, and its bytes
  bool is_pinned(void const* p) const;
  struct use_of {
    function const* what = nullptr;
    long launches = 0, blocks = 0;
    unsigned most_threads = 0;  // of a block
    std::size_t most_shared = 0;
    std::unique_ptr<pace> paced;  // where a table is asked for
  };
  std::map<std::string, use_of> ran;
  long launches = 0;  // that are done, and copies within the device
  std::string text;  // PTX of all modules

  void start(function const& f, dim3 grid, dim3 threads, std::size_t shared, void** arguments, stream* s);
  int target() const { return target_; }

  // Says what is wrong and ends the process: a device would not go on either.
  [[noreturn]] static void stop(char const* what);

 private:
  simulated();
  ~simulated();

  int target_ = 0, without_ = -1;
  std::string without_in_, list_, table_;
  void write_table() const;
};

// f(), and what goes wrong in it ends the process.
template <class F>
auto checked(F&& f) {
  try {
    return f();
  } catch (std::exception const& e) {
    simulated::stop(e.what());
  }
}

}  // namespace ptx
