// The compiled network behind plain interfaces, so that only engine.cpp instantiates programs: once for each kind of device.
#pragma once

#include "../command_line/makers.hpp"
#include "../command_line/trained_run.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace gpt {

using command_line::engine_options, command_line::named_tensor;

class trainer : public command_line::trained_run {
 public:
  struct schedule {
    double rate;         // at its highest
    std::int64_t steps;  // it falls to a twentieth of that in so many
  };
  // One step on `batch` pieces of context + 1 bytes: the loss, in nats a byte. And that of pieces which are not learned from.
  virtual double train(std::span<std::int32_t const> bytes, schedule const& s) = 0;
  virtual double foretell(std::span<std::int32_t const> bytes) = 0;
};

class writer {
 public:
  virtual ~writer() = default;
  // The logits behind a text of which each call has a byte more.
  virtual std::span<float const> behind(std::string const& text) = 0;
};

inline std::unique_ptr<trainer> make_trainer(engine_options const& o) { return command_line::maker<trainer>::make("this program trains nothing", o); }
// weights: a file that train wrote. full: without a cache of keys and values.
inline std::unique_ptr<writer> make_writer(engine_options const& o, std::filesystem::path const& weights, bool full) {
  return command_line::maker<writer, std::filesystem::path const&, bool>::make("this program writes nothing", o, weights, full);
}

}  // namespace gpt
