// What commands know of compiled programs: parameters by name, wherever they lie, and a run that trains them.
#pragma once

#include "processes.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace command_line {

struct named_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<float> data;
};

// Tensors to read. Not copied, as tensors may show `copy`.
struct held_tensors {
  std::vector<float> copy;  // of what lies in a device's memory; else empty, and the tensors are the run's own
  std::vector<named_tensor> tensors;

  held_tensors() = default;
  held_tensors(held_tensors&&) = default;
  held_tensors& operator=(held_tensors&&) = default;
};

class named_parameters {
 public:
  virtual ~named_parameters() = default;
  virtual held_tensors held(int k = 0) const = 0;  // k > 0: the optimizer's state k - 1
  // All of them as numbers, and the tensors of such a copy by name.
  virtual std::vector<float> read(int k = 0) const = 0;
  virtual void write(std::span<float const> values, int k = 0) = 0;
  virtual std::vector<named_tensor> tensors_of(std::span<float> copy, int k = 0) const = 0;
  virtual std::size_t size(int k = 0) const = 0;  // how many numbers that are

  // use(tensors) may write them, wherever they lie. Where it throws, those of a device are as they were.
  template <class Use>
  void change(Use const& use) {
    held_tensors const all = held();
    use(all.tensors);
    if (!all.copy.empty()) write(all.copy);
  }
};

// What trains, as the loop and checkpoints take it for a run (tx/io/checkpoint.hpp).
class trained_run : public named_parameters {
 public:
  static constexpr bool remote = true;  // parameters may lie in a device's memory: read and write copy them
  // Processes may divide the optimizer's states among them, and parameters: where divides() says so all have to read those, and to write.
  static constexpr bool divided = true;
  virtual bool divides() const { return false; }
  virtual bool divides_parameters() const { return false; }
  double from_first(double value) const { return processes::now().from_first(value); }

  virtual int states() const = 0;
  virtual std::int64_t steps_run() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual void restore(std::int64_t steps, std::uint64_t seed) = 0;

  // What is judged and saved: the parameters, or their moving average where there is one.
  virtual std::vector<float> kept() const { return read(); }
  virtual void keep(std::span<float const> values) { write(values); }
  virtual held_tensors held_kept() const { return held(); }
};

}  // namespace command_line
