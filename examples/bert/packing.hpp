// Texts through a program that takes packed ones, as many at a time as it has room for.
#pragma once

#include "../command_line/run_of.hpp"
#include "../command_line/step_trace.hpp"
#include "engine.hpp"

#include <tx/run/executor.hpp>
#include <tx/text/packed_batch.hpp>

namespace bert {

// Calls run(batch) for each batch, whose texts follow those of the one before.
template <class Batch, class Run>
void for_each_batch(std::span<coded_text const> texts, Run&& run) {
  Batch batch;
  for (coded_text const& t : texts) {
    if (batch.add(t.ids, t.types)) continue;
    run(batch);
    batch.clear();
    batch.add(t.ids, t.types);
  }
  if (batch.texts() > 0) run(batch);
}

// One step of an executor under settings; its trace to a file, if one is named.
template <class Step, class Run>
auto traced_step(Run& run, step_settings const& s, std::string const& trace, auto&& one) {
  run.settings["learning_rate"] = static_cast<float>(s.rate);
  run.settings.set("dropout", static_cast<float>(s.dropout));
  run.settings.set("layer_decay", static_cast<float>(s.layer_decay));
  for (auto& group : run.settings.groups)
    if (group.decay > 0) group.decay = static_cast<float>(s.decay);
  command_line::step_trace<Step, command_line::backend> const traced(run, trace);
  auto const told = one();
  traced.write();
  return told;
}

// Packed texts to a program: types of tokens only where the model has them.
template <bool Typed, class Program, class Batch, class... More>
auto run_packed(Program& program, Batch const& b, More const&... more) {
  if constexpr (Typed) return program(b.ids, b.positions, b.offsets, b.types, more...);
  else return program(b.ids, b.positions, b.offsets, more...);
}

}  // namespace bert
