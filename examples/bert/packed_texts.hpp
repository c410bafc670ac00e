// Arguments of programs of packed texts, as many as a step learns from or as are asked for at a time, and what programs of all heads do with them. Included
// behind the model's header.
#pragma once

#include "packing.hpp"
#include "tuned.hpp"

#include "../command_line/processes.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/distributed.hpp>

#include <algorithm>
#include <optional>

namespace bert::detail {

inline constexpr bool typed = model::config::types > 1;
inline constexpr int judged = 32;  // texts that are asked for together
inline constexpr int judged_tokens = judged * model::train_longest > model::longest ? judged * model::train_longest : model::longest;

template <int Tokens>
using per_token = tx::tensor<tx::i32, tx::dyn<Tokens>>;
template <int Texts>
using offsets = tx::tensor<tx::i32, Texts + 1>;
using step_tokens = per_token<model::batch * model::train_longest>;
using asked_tokens = per_token<judged_tokens>;

using step_batch = tx::text::packed_batch<model::batch, model::train_longest, model::batch * model::train_longest>;
using judged_batch = tx::text::packed_batch<judged, model::longest, judged_tokens>;
// A process by itself is one rank of one, whose collectives do nothing.
template <class Program>
using runner = tx::executor<Program, tx::distributed<tx::cpu, command_line::processes::communicator>>;
// Of this process: the threads that it is to have of those that are asked for.
inline tx::run_options run_options_of(int threads) { return {.threads = command_line::processes::now().threads(threads)}; }

// What a program that takes judged_batch says of all texts; numbers(batch) is how many numbers that are of a batch.
template <bool Typed>
std::vector<float> said_of(std::span<coded_text const> texts, auto& program, auto&& numbers) {
  std::vector<float> out;
  for_each_batch<judged_batch>(texts, [&](judged_batch const& b) {
    auto const& v = run_packed<Typed>(program, b).value;
    out.insert(out.end(), v.begin(), v.begin() + numbers(b));
  });
  return out;
}

// One step of an executor on texts and on what is wanted of them, if anything is said. Returns the loss.
template <bool Typed, class Step, class Batch, class... Wanted>
float learned(runner<Step>& run, Batch& batch, std::span<coded_text const> texts, step_settings const& s, std::string const& trace, Wanted const&... wanted) {
  batch.clear();
  for (coded_text const& t : texts) batch.add(t.ids, t.types);
  return traced_step<Step>(run, s, trace, [&] { return static_cast<float>(run_packed<Typed>(run, batch, wanted...).loss); });
}

// The programs of a head: its step, if it trains, and what it is asked by, of the same parameters. Where the step keeps a moving average of what it trains,
// that is asked, kept and told as its parameters, with what is not trained beside it, in memory of its own.
template <class Base, class Step, class Asked>
class head_programs : public run_of<Base, head_programs<Base, Step, Asked>> {
  static constexpr bool averages = model::tuning::average > 0;
  using of_numbers = run_of<Base, head_programs>;

 public:
  head_programs(std::uint64_t seed, tx::run_options const& o, bool trains) {
    auto& all = command_line::processes::now().all();
    if (trains) step_.emplace(tx::seed(seed), all, o);
    if (step_ && !averages) asked_.emplace(*step_, o);
    else asked_.emplace(tx::seed(seed), all, o);
  }
  std::vector<named_tensor> tensors(int k) const override { return step_ ? plain(step_->tensors(k)) : plain(asked_->tensors()); }
  std::vector<named_tensor> kept() const override { return plain(asked().tensors()); }
  std::vector<float> read() const override {
    std::vector<float> values = of_numbers::read();
    for_average([&](std::span<float> average) { std::ranges::copy(average, values.begin()); });
    return values;
  }
  void write(std::span<float const> values) override {
    of_numbers::write(values);
    for_average([&](std::span<float> average) { std::ranges::copy(values.first(average.size()), average.begin()); });
  }
  auto& step() const { return *step_; }

 protected:
  auto& asked() const {
    if (averages && step_) asked_->write(read());
    return *asked_;
  }

 private:
  // Of what is trained, which lies in front; there is none before the first update.
  void for_average(auto&& use) const {
    if constexpr (averages)
      if (step_->steps_run() >= model::tuning::accumulate) use(step_->elements(Step::optimizer::block));
  }

  mutable std::optional<runner<Step>> step_;
  mutable std::optional<runner<Asked>> asked_;
};

}  // namespace bert::detail
