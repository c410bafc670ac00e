// A whole run of training in one call, for an executor and a source of batches.
#pragma once

#include <tx/inspect/profile.hpp>
#include <tx/io/chrome_trace.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/loop/loop.hpp>

#include <tuple>

namespace tx::train {

// A source of batches: next() returns a tuple of ranges, as many as the step has arguments; size() and batch() count rows, if it has them;
// save() and restore() keep its place (has_place), unless a batch is a function of nothing else.
template <class Data>
concept batch_source = requires(Data& data) { std::tuple_size<std::remove_cvref_t<decltype(data.next())>>::value; };

// Steps of an executor over batches, as a loop calls them. `profile`: a file for a Chrome trace of one step's kernels, past the first, slow
// ones; empty: none.
template <class Step, class Backend, batch_source Data>
class steps_of {
 public:
  steps_of(executor<Step, Backend>& run, Data& data, std::filesystem::path profile = {}) : run_(run), data_(data), profile_(std::move(profile)) {}

  step_told operator()(moment const& m) {
    auto const& batch = data_.next();
    double const rate = run_.rate();
    bool const traced = !profile_.empty() && m.is_to_profile();
    exec::kernel_log log;
    if (traced) run_.profile(&log);
    step_told told{std::apply([&](auto const&... arguments) { return static_cast<double>(static_cast<float>(run_(arguments...).loss)); }, batch)};
    if (traced) {
      run_.profile(nullptr);
      io::write_trace(profile_, profile_of<Step>(log));
    }
    if constexpr (requires { data_.batch(); }) told.work = {{"rows", static_cast<double>(data_.batch())}};
    told.rate = rate;
    return told;
  }

 private:
  executor<Step, Backend>& run_;
  Data& data_;
  std::filesystem::path profile_;
};

// Runs one phase and leaves the best state in the executor.
template <class Step, class Backend, batch_source Data>
loop_result fit(executor<Step, Backend>& run, Data& data, phase const& p, loop_options options = {}, std::filesystem::path profile = {}) {
  loop l(run, data, std::move(options));
  l.run(p, steps_of(run, data, std::move(profile)));
  return l.finish();
}

}  // namespace tx::train
