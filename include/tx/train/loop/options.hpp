// The options of a loop, what it tells its steps, and what it returns and throws.
#pragma once

#include <tx/train/loop/best.hpp>
#include <tx/train/loop/checkpoints.hpp>
#include <tx/train/loop/pace.hpp>
#include <tx/train/loop/report.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>

namespace tx::train {

struct loop_options {
  // A folder of this run alone, held by a lock: checkpoints/ and metrics.jsonl lie in it, unless the options below say otherwise. Empty:
  // what is not named below is not written.
  std::filesystem::path folder{};
  bool resume = false;   // go on from the newest checkpoint
  bool or_begin = false;  // with `resume`: where nothing has been saved yet, begin, as a job that is started again and again does
  checkpoint_options checkpoints{};
  report_options report{};

  // Measures how good the run is; none: the last state is the best. Of ranks that divide a run (zero) the first one's value goes for all.
  std::function<double()> validate{};
  train::measure measure = train::measure();  // not {}: GCC 12 warns then, wrongly, of a label that is not initialized
  std::int64_t patience = 0;           // validations without a better one that end it; 0: any number
  std::function<void()> improved{};    // after each that is better, or where none is made

  std::map<std::string, std::string> common{};  // what a run and one that resumes it must have in common, by name
  std::function<int(int)> agreed{};             // of the signal that told this process to stop, or 0: that which all ranks of a run go by; asked after each step
  std::string resume_by = "resuming";           // how a user does it, for messages
  std::function<double()> now = [] {            // seconds
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };

  // Throws value_error for what would have no effect, and for counts that are none.
  TX_COLD void check() const {
    auto const refuse = [](bool when, char const* what) {
      if (when) throw value_error(std::string("loop: ") + what);
    };
    bool const saved = !checkpoints.folder.empty();
    refuse(checkpoints.every < 0 || checkpoints.keep < 1, "checkpoints.every is below 0, or keep below 1. FIX: steps between two saves, 0 for none on the way, and at least one that stays");
    refuse(patience < 0, "patience is below 0. FIX: a number of validations, 0 for any");
    refuse(!saved && checkpoints.every > 0, "checkpoints.every without a folder saves nothing. FIX: loop_options::folder, or checkpoints.folder");
    refuse(!saved && checkpoints.best, "checkpoints.best without a folder saves nothing. FIX: loop_options::folder, or checkpoints.folder");
    refuse(!validate && checkpoints.best, "checkpoints.best without validate: nothing says which is the best. FIX: loop_options::validate");
    refuse(!validate && patience > 0, "patience without validate: nothing is measured that could become better. FIX: loop_options::validate");
  }
};

// Steps of one kind, under one schedule.
struct phase {
  length lasts{};
  train::validations validations{};
};

// Where a run is before a step.
struct moment {
  std::int64_t step;   // steps of the run that are done
  std::int64_t done;   // of the phase
  std::int64_t steps;  // that the phase has, or at most, as far as that is known; 0: nothing is
  double share;        // of the phase that is done

  // The one step of a phase to profile: past the first, slow ones, or the last where there are no more.
  bool is_to_profile() const { return done == (steps > 0 ? std::min<std::int64_t>(10, steps - 1) : 10); }
};

struct loop_result {
  std::int64_t steps = 0, best_step = 0;
  double seconds = 0;
  std::optional<double> best{};  // of validation
  bool stopped_early = false;    // by `patience`
};

// The run was told to stop by a signal; its state is saved if checkpoints are.
struct stopped : error {
  int signal;
  std::int64_t step;
  stopped(int number, std::int64_t at, std::string const& message) : error(message), signal(number), step(at) {}
};

// Data with a place that is saved. Others, as batches that are a function of the step, have nothing to save.
template <class Data>
concept has_place = requires(Data const& data, Data& other, to_save& out, saved const& in) {
  data.save(out);
  other.restore(in);
};
struct no_place {};

}  // namespace tx::train
