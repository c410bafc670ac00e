// Arguments of programs of packed texts, as many as a step learns from or as are asked for at a time, and what programs of all heads do with them. Included
// behind the model's header.
#pragma once

#include "packing.hpp"
#include "tuned.hpp"

#include <algorithm>
#include <optional>

namespace bert::TX_ON_CHOSEN(detail) {

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
using command_line::run_of, command_line::runner;

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
  using asked_beside = command_line::beside<Step, Asked>;  // another program where processes divide the step's parameters
  static constexpr bool divides = !std::is_same_v<asked_beside, Asked>;

 public:
  head_programs(engine_options const& o, bool trains) {
    if (trains) step_.emplace(o);
    if (divides && step_) asked_beside_.emplace(*step_, o);
    else if (step_ && !averages) asked_.emplace(*step_, o);
    else asked_.emplace(o);
  }
  decltype(auto) with_parameters(auto&& use) const { return step_ ? use(*step_) : use(*asked_); }
  held_tensors held_kept() const override {
    return ask([](auto& program) { return command_line::held_of(program); });
  }
  std::vector<float> kept() const override {
    std::vector<float> values = this->read(0);
    if constexpr (averages)
      if (has_average()) std::ranges::copy(step_->read(Step::optimizer::block), values.begin());
    return values;
  }
  void keep(std::span<float const> values) override {
    this->write(values, 0);
    if constexpr (averages)
      if (has_average()) step_->write(values.first(step_->size(Step::optimizer::block)), Step::optimizer::block);
  }
  auto& step() const { return *step_; }

 protected:
  decltype(auto) ask(auto&& use) const {
    if constexpr (divides)
      if (step_) return use(*asked_beside_);
    if (averages && step_) asked_->write(kept());
    return use(*asked_);
  }

 private:
  // An average is of what is trained, which lies in front of all parameters; there is none before the first update.
  bool has_average() const { return step_->steps_run() >= model::tuning::accumulate; }

  mutable std::optional<runner<Step>> step_;
  mutable std::optional<runner<Asked>> asked_;
  mutable std::optional<runner<asked_beside>> asked_beside_;
};

}  // namespace bert::detail
