// What ranks learn from in these programs, and what a process holds.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

struct batch {
  static constexpr std::size_t texts = TX_BATCH, tokens = TX_SEQ;

  std::vector<int> ids, labels;

  // parts: of so many texts each.
  batch(int rank, int number, int parts = 1) : ids(texts * tokens * static_cast<std::size_t>(parts)), labels(texts * static_cast<std::size_t>(parts)) {
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = 1000 + static_cast<int>((i * 7919 + static_cast<std::size_t>(rank * 31 + number) * 104'729) % 20'000);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i + static_cast<std::size_t>(number)) % 2;
  }
};

// Bytes, as the kernel tells them: VmRSS or VmHWM.
inline long long held(std::string const& which) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(which + ":")) return std::atoll(line.c_str() + which.size() + 1) * 1024;
  return 0;
}
