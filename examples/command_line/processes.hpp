// The processes that run one command together, where a launcher started several: `mpirun -n 2 PROGRAM train ...`, torchrun's variables, srun. Each runs the
// same command; the first writes files and speaks.
#pragma once

#include <tx/dist/net/ranks.hpp>
#include <tx/dist/net/sockets.hpp>
#include <tx/io/chrome_trace.hpp>
#include <tx/train/loop/options.hpp>
#include <tx/train/loop/shuffled_order.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace command_line {

class processes {
 public:
  using communicator = tx::dist::ranks<tx::dist::sockets>;

  // Waits until all are there. of_batch: so many neighbours have one batch together, of which they divide the work.
  // Throws value_error for a launcher's variables that make no sense, rank_error where one does not come.
  explicit processes(int of_batch = 1);
  processes(processes const&) = delete;
  processes& operator=(processes const&) = delete;
  // Those whose command is running (together()); outside of one this process alone.
  static processes& now();

  bool several() const { return where_.size > 1; }
  bool first() const { return where_.rank == 0; }
  int number() const { return where_.rank; }
  int local_number() const { return where_.local_rank; }  // among those on this machine
  int count() const { return where_.size; }
  int batches() const { return std::max(1, count() / of_batch_); }  // that all together have in a step
  int batch() const { return number() / of_batch_; }                // which of them is this one's
  communicator& all() { return all_; }

  tx::train::rank_share rank_share() const { return {static_cast<std::uint64_t>(batch()), static_cast<std::uint64_t>(batches())}; }

  // Of each: so many as are asked for, or where none are (0) a share of what the machine runs at once.
  int threads(int asked) const;
  // What the first process has, on all.
  double from_first(double value);
  // Of what each batch has.
  double sum(double value);
  // Throws value_error, which names it, where a value is another than the first process has under that name: they would train models of their own.
  void check_same(std::map<std::string, std::string> const& values);
  // The signal that the first was told to stop by: all go by that, as they have to end after the same step.
  int agreed(int signal);

  // This process's part of so many: its first, and the one behind its last. Parts follow each other in the order of the processes.
  std::pair<std::size_t, std::size_t> part(std::size_t count) const;
  // What all have, in their order; on the first alone, nothing on the others.
  std::string gathered(std::string const& own);
  std::vector<float> gathered(std::vector<float> const& own);
  // A Chrome trace of what each of them timed, with a lane for each; events as tx::io::trace_events takes them.
  template <class Events>
  void write_trace(std::string const& path, Events const& events) {
    std::string const all = gathered(tx::io::trace_events(events, number() + 1, several() ? "process " + std::to_string(number()) : ""));
    if (first()) tx::io::write_trace_of(path, all);
  }
  // ", 3.1% of it in communication", of a run of so many seconds; nothing of one process. Nothing is computed meanwhile.
  std::string communication_in(double seconds) const;
  // Where there are several, a run of all of them: the first measures and writes, all go by what it has measured and by its signals; checkpoints are read by all.
  // helps: what the others do where the first writes what has improved, as all have to read parameters that processes divide; then all measure, too.
  // Throws what check_same throws where `o.common` differs.
  void share(tx::train::loop_options& o, std::function<void()> helps = nullptr);

  // Runs what this process does; all but the first are silent meanwhile, but for errors. What it throws ends the others too, with that reason.
  void together(std::function<void()> const& run);

 private:
  processes(tx::dist::place const& where, int of_batch) : where_(where), connections_(where_), all_(connections_), of_batch_(of_batch) {}
  template <class T>
  std::vector<T> gathered_elements(std::span<T const> own);

  static inline processes* running_ = nullptr;
  tx::dist::place where_;
  tx::dist::sockets connections_;
  communicator all_;
  int of_batch_;
  double before_ = 0;  // seconds in communication before the run
};

}  // namespace command_line
