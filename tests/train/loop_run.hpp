// What a loop takes for a run, without a program: two parameters with two states each. A step moves all of them by what it is given.
#pragma once

#include "../io/small_run.hpp"
#include "../io/temp_folder.hpp"

#include <tx/train/loop/loop.hpp>
#include <tx/train/loop/shuffled_rows.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

struct toy_run : small_run<float> {
  std::vector<float> read() const { return blocks[0]; }
  void write(std::span<float const> values) { blocks[0].assign(values.begin(), values.end()); }

  // Depends on all that there is: the parameters, the states, the step and the seed.
  double step(float given) {
    ++steps;
    double loss = 0;
    for (std::size_t i = 0; i < blocks[0].size(); ++i) {
      float const wanted = given * static_cast<float>(i % 3);
      float const gradient = blocks[0][i] - wanted;
      blocks[1][i] = 0.5f * blocks[1][i] + gradient;
      blocks[2][i] += gradient * gradient + static_cast<float>(key);
      blocks[0][i] -= 0.1f * blocks[1][i] / (1 + 1e-4f * blocks[2][i] + 1e-3f * static_cast<float>(steps));
      loss += static_cast<double>(gradient * gradient);
    }
    return loss;
  }
};

// Seconds that pass as a test wants.
struct hand_clock {
  double at = 100;
  std::function<double()> function() {
    return [this] { return at; };
  }
};

// Rows of one number.
inline std::vector<float> numbers(std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<float>(i % 7) / 7;
  return all;
}

inline std::vector<nlohmann::json> lines_of(std::filesystem::path const& metrics) {
  std::vector<nlohmann::json> all;
  std::string const text = tx::io::read_text(metrics);
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) all.push_back(nlohmann::json::parse(text.substr(at, end - at)));
  return all;
}

// The names in a folder, sorted.
inline std::vector<std::string> names_in(std::filesystem::path const& folder) {
  std::vector<std::string> names;
  std::error_code absent;
  for (std::filesystem::directory_iterator at(folder, absent), end; !absent && at != end; at.increment(absent)) names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}
