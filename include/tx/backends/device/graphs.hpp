// Runs of a program as captured graphs: the launches of a run, captured once and started with one call. What varies from run to run lies in the device's
// memory; a run whose launches differ, as with other extents, has a graph of its own.
#pragma once

#include <tx/run/replay.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tx::backends::device {

template <class Device>
class graphs {
  using driver = typename Device::driver;
  using runnable = typename driver::runnable;

 public:
  static constexpr std::size_t most = 64;  // that are kept: those that were used last

  graphs() = default;
  graphs(graphs const&) = delete;
  graphs& operator=(graphs const&) = delete;
  ~graphs() {
    for (entry const& e : kept_)
      if (e.runs != nullptr) driver::destroy(e.runs);
  }

  // The first run starts kernels one by one, so that each is loaded and libraries are ready; the second one is captured.
  template <class Run>
  void operator()(exec::frame const& f, Run const& run) {
    if (f.observed) return run();
    entry& e = find(exec::launch_facts::of(f));
    e.used = ++runs_;
    if (!e.seen) {
      run();
      e.seen = true;
      return;
    }
    if (e.runs == nullptr) e.runs = captured(run);
    Device::check(driver::start(e.runs, Device::stream()), "a run could not be started");
  }

 private:
  struct entry {
    exec::launch_facts facts;
    bool seen = false;
    runnable runs = nullptr;
    std::uint64_t used = 0;  // in which run, the last time
  };

  entry& find(exec::launch_facts const& facts) {
    for (entry& e : kept_)
      if (e.facts == facts) return e;
    if (kept_.size() < most) return kept_.emplace_back(entry{facts});
    entry& oldest = *std::ranges::min_element(kept_, {}, &entry::used);
    if (oldest.runs != nullptr) driver::destroy(oldest.runs);
    return oldest = {facts};
  }

  template <class Run>
  static runnable captured(Run const& run) {
    Device::check(driver::begin_capture(Device::stream()), "a run could not be captured");
    typename driver::captured graph = nullptr;
    try {
      run();
    } catch (...) {
      static_cast<void>(driver::end_capture(Device::stream(), &graph));
      if (graph != nullptr) driver::destroy(graph);
      throw;
    }
    Device::check(driver::end_capture(Device::stream(), &graph), "a run could not be captured");
    runnable runs = nullptr;
    auto const status = driver::make_ready(&runs, graph);
    driver::destroy(graph);
    Device::check(status, "a captured run could not be made ready");
    return runs;
  }

  std::vector<entry> kept_;
  std::uint64_t runs_ = 0;
};

}  // namespace tx::backends::device
