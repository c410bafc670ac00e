// The compiled network behind plain interfaces, so that only engine.cpp instantiates programs: once for each kind of device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace command_line {
class processes;
}

namespace gpt {

struct named_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<float> data;
};

struct engine_options {
  std::uint64_t seed = 1;
  int threads = 0;  // 0: as many as the machine runs at once
  std::string device = "cpu";
};

// What is trained. The loop takes it for a run, whose parameters may lie in a device's memory: read and write copy them.
class trainer {
 public:
  static constexpr bool remote = true;
  struct schedule {
    double rate;         // at its highest
    std::int64_t steps;  // it falls to a twentieth of that in so many
  };
  virtual ~trainer() = default;

  // One step on `batch` pieces of context + 1 bytes: the loss, in nats a byte. And that of pieces which are not learned from.
  virtual double train(std::span<std::int32_t const> bytes, schedule const& s) = 0;
  virtual double foretell(std::span<std::int32_t const> bytes) = 0;

  // All parameters; k > 0: the optimizer's state k - 1. And the tensors of such a copy by name.
  virtual std::vector<float> read(int k = 0) const = 0;
  virtual void write(std::span<float const> values, int k = 0) = 0;
  virtual std::vector<named_tensor> tensors_of(std::span<float> copy, int k = 0) const = 0;
  virtual int states() const = 0;
  virtual std::int64_t steps_run() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual void restore(std::int64_t steps, std::uint64_t seed) = 0;
};

class writer {
 public:
  virtual ~writer() = default;
  // The logits behind a text of which each call has a byte more.
  virtual std::span<float const> behind(std::string const& text) = 0;
};

// value_error for a device that the program is not compiled for, or that processes cannot share; error for one that this machine lacks.
std::unique_ptr<trainer> make_trainer(engine_options const& options, command_line::processes& ranks);
// weights: a file that train wrote. full: without a cache of keys and values.
std::unique_ptr<writer> make_writer(engine_options const& options, std::filesystem::path const& weights, bool full);

}  // namespace gpt
