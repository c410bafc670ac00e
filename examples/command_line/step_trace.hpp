// A Chrome trace of the kernels of one step, written when that has ended.
#pragma once

#include <tx/core/error.hpp>

#include <string>
#include <type_traits>

#if !defined(TX_FOR_CUDA) && !defined(TX_FOR_HIP)
#include "processes.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/inspect/profile.hpp>
#include <tx/run/executor.hpp>
#endif

namespace command_line {

// path: empty for none. On a device kernels run behind the host's back, which has no times of them.
template <class Step, class Backend>
class step_trace {
 public:
  template <class Run>
  step_trace(Run&, std::string const& path) {
    if (!path.empty()) throw tx::value_error("--profile: of kernels of the CPU alone. FIX: --device cpu");
  }
  void write() const {}
};

#if !defined(TX_FOR_CUDA) && !defined(TX_FOR_HIP)
template <class Step, class Backend>
  requires std::is_base_of_v<tx::cpu, Backend>
class step_trace<Step, Backend> {
 public:
  step_trace(tx::executor<Step, Backend>& run, std::string const& path) : run_(run), path_(path) { run_.profile(path_.empty() ? nullptr : &log_); }
  step_trace(step_trace const&) = delete;
  step_trace& operator=(step_trace const&) = delete;
  ~step_trace() { run_.profile(nullptr); }

  void write() const {
    if (!path_.empty()) processes::now().write_trace(path_, tx::profile_of<Step>(log_));
  }

 private:
  tx::executor<Step, Backend>& run_;
  std::string const& path_;
  tx::exec::kernel_log log_;
};
#endif

}  // namespace command_line
