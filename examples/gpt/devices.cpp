// Which kind of device computes: the engines that the program is compiled with.
#include "../command_line/processes.hpp"
#include "engine.hpp"

#include <tx/core/error.hpp>

namespace gpt {

// Of engine.cpp, which is compiled once for each.
std::unique_ptr<trainer> make_trainer_on_cpu(engine_options const&, command_line::processes&);
std::unique_ptr<trainer> make_trainer_on_cuda(engine_options const&, command_line::processes&);
std::unique_ptr<trainer> make_trainer_on_hip(engine_options const&, command_line::processes&);
std::unique_ptr<writer> make_writer_on_cpu(engine_options const&, std::filesystem::path const&, bool);
std::unique_ptr<writer> make_writer_on_cuda(engine_options const&, std::filesystem::path const&, bool);
std::unique_ptr<writer> make_writer_on_hip(engine_options const&, std::filesystem::path const&, bool);

namespace {

[[noreturn]] void refuse(std::string const& device) {
  throw tx::value_error("--device " + device + ": this program is not compiled for it. FIX: cpu; or cmake -DTX_CUDA=ON for cuda, -DTX_HIP=ON for hip");
}

}  // namespace

std::unique_ptr<trainer> make_trainer(engine_options const& o, command_line::processes& ranks) {
  if (o.device == "cpu") return make_trainer_on_cpu(o, ranks);
  if (ranks.several()) throw tx::value_error("--device " + o.device + ": several processes train one model on processors alone. FIX: one process, or --device cpu");
#if defined(GPT_ON_CUDA)
  if (o.device == "cuda") return make_trainer_on_cuda(o, ranks);
#endif
#if defined(GPT_ON_HIP)
  if (o.device == "hip") return make_trainer_on_hip(o, ranks);
#endif
  refuse(o.device);
}

std::unique_ptr<writer> make_writer(engine_options const& o, std::filesystem::path const& weights, bool full) {
  if (o.device == "cpu") return make_writer_on_cpu(o, weights, full);
#if defined(GPT_ON_CUDA)
  if (o.device == "cuda") return make_writer_on_cuda(o, weights, full);
#endif
#if defined(GPT_ON_HIP)
  if (o.device == "hip") return make_writer_on_hip(o, weights, full);
#endif
  refuse(o.device);
}

}  // namespace gpt
