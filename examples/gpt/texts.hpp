// A text in memory, and pieces of it at drawn places.
#pragma once

#include "config.hpp"

#include <tx/core/fixed_string.hpp>
#include <tx/core/philox.hpp>
#include <tx/io/files.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpt {

class texts {
 public:
  // Throws io_error, and value_error where the file is shorter than one piece.
  explicit texts(std::string const& path) : all_(tx::io::read_text(path)) {
    if (all_.size() <= config::context)
      throw tx::value_error(path + " has " + std::to_string(all_.size()) + " bytes. FIX: a text of more than " + std::to_string(config::context));
  }
  // Tells it from other texts.
  std::string identity() const { return std::to_string(all_.size()) + " bytes, " + std::to_string(tx::fnv1a(all_)); }

  // The pieces of step `step` from number `from` on, as many as fit into `to`, one after the other: a function of the seed, the step and the text alone.
  void draw(std::uint64_t seed, std::int64_t step, std::span<tx::i32> to, std::uint32_t from = 0) const {
    constexpr std::size_t piece = config::context + 1;
    for (std::size_t b = 0; b * piece < to.size(); ++b) {
      auto const r = tx::philox(tx::philox_key::from(seed), {{from + static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(step), 0, 0x74657874u}});
      std::size_t const first = (std::uint64_t{r[1]} << 32 | r[0]) % (all_.size() - config::context);
      for (std::size_t i = 0; i < piece; ++i) to[b * piece + i] = static_cast<unsigned char>(all_[first + i]);
    }
  }

 private:
  std::string all_;
};

}  // namespace gpt
