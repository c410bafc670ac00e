// What tests of checkpoints share: a small run at a step, and what is to happen where a folder is not taken.
#pragma once

#include "small_run.hpp"

#include <catch2/catch.hpp>

#include <limits>

inline small_run<float> at_step(std::int64_t step) {
  small_run<float> r;
  r.go_to(step);
  r.key = std::numeric_limits<std::uint64_t>::max() - 3;
  r.shape = small_shape::bent;
  return r;
}

// The run must be as it was, whatever is thrown.
template <class Error, class Run = small_run<float>>
void refused(std::filesystem::path const& folder, std::string const& reason, Run r = {}, tx::io::resume_options o = {}) {
  Run const before = r;
  CHECK_THROWS_AS(tx::io::load_checkpoint(folder, r, o), Error);
  CHECK_THROWS_WITH(tx::io::load_checkpoint(folder, r, o), Catch::Matchers::Contains(reason));
  CHECK(r == before);
}

inline void change(std::filesystem::path const& file, std::string const& from, std::string const& to) {
  std::string text = tx::io::read_text(file);
  auto const at = text.find(from);
  REQUIRE(at != std::string::npos);
  tx::io::write_file_atomic(file, text.replace(at, from.size(), to));
}

// A checkpoint.json that is wrong in itself, not damaged.
inline void change_promise(std::filesystem::path const& file, std::string const& from, std::string const& to) {
  change(file, from, to);
  std::string const text = tx::io::read_text(file);
  tx::io::write_file_atomic(file,
                            tx::io::detail::with_checksum(text.substr(0, text.rfind(tx::io::detail::manifest_sum))));
}
