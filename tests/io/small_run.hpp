// What a checkpoint takes for a run, without a program: two parameters with two states each, and settings.
#pragma once

#include "named_tensor.hpp"

#include <tx/io/checkpoint.hpp>

#include <cmath>
#include <string>
#include <vector>

enum class small_shape : std::uint8_t { flat, bent };

template <class T>
struct small_run {
  std::vector<std::vector<T>> blocks{std::vector<T>(13), std::vector<T>(13), std::vector<T>(13)};
  std::int64_t steps = 0;
  std::uint64_t key = 1;
  float rate = 0.1f;
  std::string learns_by = "plain(beta 0.5)";
  small_shape shape = small_shape::flat;

  int states() const { return static_cast<int>(blocks.size()) - 1; }
  std::vector<named_tensor<T>> tensors(int k) {
    std::span<T> const all(blocks[static_cast<std::size_t>(k)]);
    return {{"hidden.weight", {3, 4}, all.first(12)}, {"hidden.scale", {}, all.last(1)}};
  }
  std::string optimizer() const { return learns_by; }
  std::int64_t steps_run() const { return steps; }
  std::uint64_t seed() const { return key; }
  void restore(std::int64_t s, std::uint64_t k) {
    steps = s;
    key = k;
  }
  template <class F>
  void for_each_setting(F&& f) {
    f("rate", rate);
    f("shape", shape);
  }

  // The state after so many steps.
  void go_to(std::int64_t step) {
    steps = step;
    rate = 0.1f * static_cast<float>(step + 1);
    for (std::size_t k = 0; k < blocks.size(); ++k)
      for (std::size_t i = 0; i < blocks[k].size(); ++i)
        blocks[k][i] = static_cast<T>(std::sin(static_cast<double>(step + 1) * static_cast<double>(7 * k + i + 1)));
  }
  friend bool operator==(small_run const&, small_run const&) = default;
};
