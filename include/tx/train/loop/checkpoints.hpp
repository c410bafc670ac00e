// The checkpoints of a run of training: when and how they are written, which are kept, and from which one it goes on.
#pragma once

#include <tx/io/checkpoint_writer.hpp>
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
  // Steps go on while a checkpoint is written, from a copy that takes as much memory as the checkpoint. false: they wait.
  bool background = true;
  bool portions = false;  // ranks that divide the run write what they keep, each its own, in a folder that all reach; see io::save_options
  bool reads_only = false;  // nothing is written or removed, as by a rank beside the one that saves for all
};

class checkpoints {
 public:
  explicit checkpoints(checkpoint_options o) : options_(std::move(o)) {}

  bool wanted() const { return !options_.folder.empty(); }
  bool writes() const { return wanted() && !options_.reads_only; }
  bool due(std::int64_t step) const { return wanted() && every{options_.every}.due(step); }
  bool of_the_best() const { return wanted() && options_.best; }

  bool some() const { return wanted() && io::has_checkpoint(options_.folder); }

  // A run that begins has a folder without them. Throws value_error for another.
  void begin() const {
    for (auto const& folder : {options_.folder, best_folder()})
      if (writes() && io::has_checkpoint(folder))
        throw value_error(folder.string() + " has checkpoints of another run. FIX: resume that run, tx::io::remove_checkpoints(folder), or another folder");
  }

  // Of a run that was ended before it had saved anything but its best state.
  void forget() const {
    if (writes()) io::remove_checkpoints_after(best_folder(), -1);
  }

  // Named by its step of the run, also where the optimizer has begun anew since. No second one of the same step. In the background it is
  // on the disk after wait(), and what writing throws comes out of a later call (see io::checkpoint_writer).
  template <class Run>
  void save(Run& run, std::int64_t step, to_save const& what) {
    if (!takes_part(run) || (last_ == step && !failed())) return;
    write(options_.folder, options_.keep, run, step, what);
    last_ = step;
  }
  // Where the save before has failed, the state is saved among the others first: the run ends with that failure, and goes on from there.
  template <class Run>
  void save_best(Run& run, std::int64_t step, to_save const& what) {
    if (!takes_part(run)) return;
    try {
      wait();
    } catch (...) {
      save(run, step, what);
      wait();
      throw;
    }
    write(best_folder(), 1, run, step, what);
  }

  // Until all that was saved is on the disk. Throws what kept it from getting there.
  void wait() {
    saved_unless_thrown([&] { writer_.wait(); });
  }
  // Has a save failed, of which nobody has been told yet? save() tells, and tries again before.
  bool failed() const { return writer_.failed(); }

  template <class Run>
  io::resumed load(Run& run) {
    wait();
    if constexpr (io::detail::divided_run<Run>)
      if (io::detail::is_divided(run)) static_cast<void>(run.from_first(0));  // which made a checkpoint of all ranks' portions
    if (!wanted()) throw value_error("loop: to resume it needs a folder of checkpoints. FIX: loop_options::folder, or checkpoints.folder");
    return io::load_checkpoint(options_.folder, run);
  }
  // The run goes on from this one: what lies behind it is damaged, or will come again.
  void go_on_from(io::resumed const& from, std::int64_t step) {
    wait();
    last_ = step;
    if (!writes()) return;
    io::remove_checkpoints_after(options_.folder, io::checkpoint_number(from.path));
    io::remove_checkpoints_after(best_folder(), step);
  }

  // All is on the disk when this returns, or removed.
  template <class Run, class State>
  void end(Run& run, std::int64_t step, State&& state) {
    if (!takes_part(run)) return;
    if (options_.at_end == at_end::save) save(run, step, state());
    wait();
    if (writes() && options_.at_end == at_end::remove) io::remove_checkpoints(options_.folder);
  }

 private:
  // Of ranks that divide the run all read what one of them writes.
  template <class Run>
  bool takes_part(Run const& run) const {
    return writes() || (wanted() && io::detail::is_divided(run));
  }
  std::filesystem::path best_folder() const { return options_.folder / "best"; }

  template <class Run>
  void write(std::filesystem::path const& folder, int keep, Run& run, std::int64_t step, to_save const& what) {
    saved_unless_thrown([&] {
      io::save_options const options{keep, what.arrays(), step, writes(), options_.portions};
      if (options_.background || options_.portions)  // ranks that write portions ask each other the same, whoever waits
        writer_.save(folder, run, what.values(), options);
      if (options_.background) return;
      if (options_.portions)
        writer_.wait();
      else
        io::save_checkpoint(folder, run, what.values(), options);
    });
  }
  // The step of a save that has failed may be saved once more.
  template <class F>
  void saved_unless_thrown(F write) {
    try {
      write();
    } catch (...) {
      last_ = -1;
      throw;
    }
  }

  checkpoint_options options_;
  std::int64_t last_ = -1;  // the step of the last one
  io::checkpoint_writer writer_;
};

}  // namespace tx::train
