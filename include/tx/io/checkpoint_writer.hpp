// Saves a run while it goes on: what is saved is copied between two steps, and a thread brings the copy to the disk.
//
//   tx::io::checkpoint_writer saves;
//   …
//   saves.save("run/checkpoints", run, {{"batch", batch}});   // as save_checkpoint, but returns once the state is copied
//   …
//   saves.wait();                                             // until it is on the disk
#pragma once

#include <tx/io/background_work.hpp>
#include <tx/io/checkpoint_snapshot.hpp>

#include <atomic>

namespace tx::io {

// There is one save at a time: one that comes while the last is still being written waits for it, so that none is left out, and a
// disk that is too slow slows the run down as it would without a thread. A process that ends in between leaves the checkpoints
// that were complete, as with save_checkpoint.
class checkpoint_writer {
 public:
  checkpoint_writer() = default;
  // Waits for this rank's own writing, not for other ranks'.
  ~checkpoint_writer() { ends_ = true; }

  // What writing throws (see save_checkpoint) comes out of the save that follows or of wait(), whichever is first. If it is a
  // save, that one is tried and waited for before: what could not be written then may be possible now, and nothing is lost.
  template <class Run>
  void save(std::filesystem::path const& folder, Run& run, checkpoint_values const& position = {}, save_options const& options = {}) {
    if (detail::is_divided(run) && (options.writes || options.portions)) wait();  // what ends this rank ends the others, who are not asked for their part first
    if constexpr (detail::portioned_run<Run>) {
      if (options.portions) {
        snapshot_.take_portion(run, position, options);
        return work_.start([this, folder, keep = options.keep, patience = options.patience] { write_checkpoint_portion(folder, snapshot_.portion(), keep, patience, [this] { return ends_.load(); }); });
      }
    }
    if (detail::is_left_to_another(run, options)) return;
    if (!options.writes) return detail::take_part(run);
    std::exception_ptr const before = work_.end();
    snapshot_.take(run, position, options);
    work_.start([this, folder, keep = options.keep] { write_checkpoint(folder, snapshot_.contents(), keep); });
    if (!before) return;
    static_cast<void>(work_.end());  // of two reasons the first is told
    std::rethrow_exception(before);
  }

  // Until what was saved last is complete on the disk.
  void wait() {
    if (auto const error = work_.end()) std::rethrow_exception(error);
  }

  // Is there an exception that the next save() or wait() will throw?
  bool failed() const { return work_.failed(); }

 private:
  checkpoint_snapshot snapshot_;
  std::atomic<bool> ends_{false};  // nobody waits for other ranks any more
  background_work work_{"saving a checkpoint"};  // it reads the snapshot, so it ends first
};

}  // namespace tx::io
