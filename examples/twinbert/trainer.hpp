// Training: batches, schedule, validation, progress.
#pragma once

#include "batches.hpp"
#include "evaluate.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace twinbert {

struct training_options {
  std::uint64_t seed = 1;
  int threads = 0;
  bool layers = true;
  std::int64_t bag_steps = 0;  // of the words alone, before the encoder takes part
  std::int64_t steps = 0;      // after these
  double seconds = 0;          // > 0: in place of `steps`; the schedule follows the clock
  std::int64_t validations = 2;
  double rate = 1e-3, bag_word_rate = 1, word_rate = 1, decay = 0.01, word_decay = 0, dropout = 0, clip = 1,
         warmup = 0.05;
  augmentation augment;
  int group = 1;  // similar pairs beside each other in a batch, once words have vectors
  // Saved states; they say nothing of the model.
  std::string state_folder;
  std::int64_t save_every = 0;                // steps; 0: when the run is told to stop
  std::string profile;                        // a file for a trace of one step's kernels
  std::string events_folder;                  // for an event file of TensorBoard; empty: none
  bool resume = false;                        // go on from the newest one
  std::map<std::string, std::string> common;  // by option: what a run and one that resumes it must have in common
};

// The run was told to stop; its state is saved.
struct stopped : std::runtime_error {
  int signal;
  stopped(int number, std::string const& message) : std::runtime_error(message), signal(number) {}
};

struct outcome {
  std::int64_t steps = 0, best_step = 0;
  double seconds = 0;
  quality best;
};

// Trains `e` and leaves the best validation state in it; calls keep() whenever that improves. Without validation pairs
// the last state is the best. At Ctrl-C or SIGTERM it saves after the running step and throws `stopped`; a run that is
// resumed with the same options, pairs and vocabulary goes on as if nothing had happened. A finished run removes its
// saved states.
outcome train(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs, std::span<tx::text::pair const> dev,
              training_options const& o, std::string const& metrics_file, std::function<void()> const& keep);

}  // namespace twinbert
