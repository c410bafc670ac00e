// The checkpoints of a run of training: when they are written, which are kept, and from which one it goes on.
#pragma once

#include <tx/io/checkpoint.hpp>
#include <tx/train/loop/events.hpp>
#include <tx/train/loop/saved.hpp>

#include <filesystem>
#include <optional>

namespace tx::train {

// What becomes of the checkpoints when a run has come to its end: one more is written, or they go.
enum class at_end { save, remove };

struct checkpoint_options {
  std::filesystem::path folder{};  // empty: nothing is saved
  std::int64_t every = 0;          // steps; 0: when the run is told to stop, and at its end
  int keep = 2;                    // the newest
  bool best = false;               // also the best one that validation has seen, in FOLDER/best
  train::at_end at_end = train::at_end::save;
};

class checkpoints {
 public:
  explicit checkpoints(checkpoint_options o) : options_(std::move(o)) {}

  bool wanted() const { return !options_.folder.empty(); }
  bool due(std::int64_t step) const { return wanted() && every{options_.every}.due(step); }
  bool of_the_best() const { return wanted() && options_.best; }

  bool some() const { return wanted() && io::has_checkpoint(options_.folder); }

  // A run that begins has a folder without them. Throws value_error for another.
  void begin() const {
    for (auto const& folder : {options_.folder, best_folder()})
      if (wanted() && io::has_checkpoint(folder))
        throw value_error(folder.string() + " has checkpoints of another run. FIX: resume that run, remove_checkpoints, or another folder");
  }

  // Named by its step of the run, also where the optimizer has begun anew since. No second one of the same step.
  template <class Run>
  void save(Run& run, std::int64_t step, to_save const& what) {
    if (!wanted() || last_ == step) return;
    io::save_checkpoint(options_.folder, run, what.values(), {options_.keep, what.arrays(), step});
    last_ = step;
  }
  template <class Run>
  void save_best(Run& run, std::int64_t step, to_save const& what) const {
    io::save_checkpoint(best_folder(), run, what.values(), {1, what.arrays(), step});
  }

  template <class Run>
  io::resumed load(Run& run) const {
    if (!wanted()) throw value_error("loop: to resume it needs a folder of checkpoints. FIX: loop_options::folder, or checkpoints.folder");
    return io::load_checkpoint(options_.folder, run);
  }
  // The run goes on from this one: what lies behind it is damaged, or will come again.
  void go_on_from(io::resumed const& from, std::int64_t step) {
    last_ = step;
    io::remove_checkpoints_after(options_.folder, io::checkpoint_number(from.path));
    io::remove_checkpoints_after(best_folder(), step);
  }

  template <class Run, class State>
  void end(Run& run, std::int64_t step, State&& state) {
    if (!wanted()) return;
    if (options_.at_end == at_end::save)
      save(run, step, state());
    else
      io::remove_checkpoints(options_.folder);
  }

 private:
  std::filesystem::path best_folder() const { return options_.folder / "best"; }

  checkpoint_options options_;
  std::int64_t last_ = -1;  // the step of the last one
};

}  // namespace tx::train
