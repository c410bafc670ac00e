#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct options {
  int steps = 8;
  int threads = 2;
  float dropout = 0.1f;
  std::string profile{};  // a file: a trace of one step after the warm-up goes there
  std::string page{};     // a file: that step as an HTML page
  std::string check{};  // a folder: no timing; weights and batches are written there, then trained on without dropout
};

struct timing {
  int batch, seq;
  std::int64_t planned_peak;      // bytes, by the plan
  std::int64_t activations;       // of them, those kept for backward
  std::int64_t recomputed_flops;  // of a step
  double first_step = 0;          // seconds until the first loss, construction included
  double difference = 0;          // seconds of a step: 3 N steps less N steps, over 2 N
  std::vector<double> seconds{};  // of each timed step
  std::vector<float> losses{};
};

struct entry {
  std::string_view name, pool, dtype;
  int batch, seq;
  timing (*run)(options const&);
};

// Written by the build.
extern entry const models[];
extern int const model_count;

}  // namespace bench
