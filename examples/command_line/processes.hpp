// The processes that train one model together, where a launcher started several: `mpirun -n 2 PROGRAM train ...`, torchrun's variables, srun. Each runs the
// same command; the first writes files and speaks.
#pragma once

#include <tx/dist/net/ranks.hpp>
#include <tx/dist/net/sockets.hpp>

#include <functional>
#include <map>
#include <string>

namespace command_line {

class processes {
 public:
  using communicator = tx::dist::ranks<tx::dist::sockets>;

  // Waits until all are there. Throws value_error for a launcher's variables that make no sense, rank_error where one does not come.
  processes();

  bool several() const { return where_.size > 1; }
  bool first() const { return where_.rank == 0; }
  int number() const { return where_.rank; }
  int count() const { return where_.size; }
  communicator& all() { return all_; }

  // Of each: so many as are asked for, or where none are (0) a share of what the machine runs at once.
  int threads(int asked) const;
  // What the first process has, on all.
  double from_first(double value);
  // Throws value_error, which names it, where a value is another than the first process has under that name: they would train models of their own.
  void check_same(std::map<std::string, std::string> const& values);
  // The signal that the first was told to stop by: all go by that, as they have to end after the same step.
  int agreed(int signal);

  // Runs what this process does. What it throws ends the others too, with that reason.
  void together(std::function<void()> const& run);

 private:
  tx::dist::place where_;
  tx::dist::sockets connections_;
  communicator all_;
};

}  // namespace command_line
