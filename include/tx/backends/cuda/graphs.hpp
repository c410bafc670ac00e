// Runs of a program as CUDA graphs: the launches of a run, captured once and started with one call. What varies from run to run lies in the device's
// memory; a run whose launches differ, as with other extents, has a graph of its own.
#pragma once

#include <tx/backends/cuda/gpu.hpp>
#include <tx/run/replay.hpp>

#include <vector>

namespace tx::backends::cuda {

class graphs {
 public:
  static constexpr std::size_t most = 64;  // that are kept; runs of other launches than theirs start kernels one by one

  graphs() = default;
  graphs(graphs const&) = delete;
  graphs& operator=(graphs const&) = delete;
  ~graphs() {
    for (entry const& e : kept_)
      if (e.runs != nullptr) cudaGraphExecDestroy(e.runs);
  }

  // The first run starts kernels one by one, so that each is loaded and libraries are ready; the second one is captured.
  template <class Run>
  void operator()(exec::frame const& f, Run const& run) {
    if (f.observed) return run();
    entry* const e = find(exec::launch_facts::of(f));
    if (e == nullptr || !e->seen) {
      run();
      if (e != nullptr) e->seen = true;
      return;
    }
    if (e->runs == nullptr) e->runs = captured(run);
    gpu::check(cudaGraphLaunch(e->runs, gpu::stream()), "a run could not be started");
  }

 private:
  struct entry {
    exec::launch_facts facts;
    bool seen = false;
    cudaGraphExec_t runs = nullptr;
  };

  entry* find(exec::launch_facts const& facts) {
    for (entry& e : kept_)
      if (e.facts == facts) return &e;
    if (kept_.size() == most) return nullptr;
    kept_.push_back({facts});
    return &kept_.back();
  }

  template <class Run>
  static cudaGraphExec_t captured(Run const& run) {
    gpu::check(cudaStreamBeginCapture(gpu::stream(), cudaStreamCaptureModeThreadLocal), "a run could not be captured");
    cudaGraph_t graph = nullptr;
    try {
      run();
    } catch (...) {
      cudaStreamEndCapture(gpu::stream(), &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    gpu::check(cudaStreamEndCapture(gpu::stream(), &graph), "a run could not be captured");
    cudaGraphExec_t runs = nullptr;
    cudaError_t const status = cudaGraphInstantiate(&runs, graph, 0);
    cudaGraphDestroy(graph);
    gpu::check(status, "a captured run could not be made ready");
    return runs;
  }

  std::vector<entry> kept_;
};

}  // namespace tx::backends::cuda
