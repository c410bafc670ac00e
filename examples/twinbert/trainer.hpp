// Training: what TwinBERT's steps are. The loop around them is tx::train::loop.
#pragma once

#include "batches.hpp"
#include "evaluate.hpp"

#include <tx/train/loop/options.hpp>

#include <string>

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
  int group = 1;        // similar pairs beside each other in a batch, once words have vectors
  share_of_batch share{};  // of several processes
  std::string profile;  // a file for a trace of one step's kernels
  std::function<double(double)> from_first{};  // of several processes: what the first has measured, on all
  std::int64_t check_every = 0;  // steps after which processes compare what they have; 0: never
  std::function<void(std::int64_t step, std::uint64_t sum)> check_same{};  // throws where a process has another sum of its parameters and states than the first
  // Checkpoints, metrics, resuming; validation is added. improved() is called for each state that is the best so far.
  tx::train::loop_options loop;
};

// Trains `e` and leaves the best validation state in it. Without validation pairs the last state is the best. At Ctrl-C or
// SIGTERM it saves after the running step and throws tx::train::stopped; a run that is resumed with the same options,
// pairs and vocabulary goes on as if nothing had happened. A finished run removes its saved states.
tx::train::loop_result train(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs, std::span<tx::text::pair const> dev,
                             training_options const& o);

}  // namespace twinbert
