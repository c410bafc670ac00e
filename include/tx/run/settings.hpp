// What may change between the runs of a program without compiling it again, and how a program reads it: as numbers.
#pragma once

#include <tx/expr/layout.hpp>
#include <tx/graph/graph.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/run/rate_schedule.hpp>

#include <array>
#include <limits>
#include <span>
#include <string>

namespace tx {

struct run_settings {
  struct group_settings {
    float rate = 1;   // factor of the learning rate
    float decay = 0;  // weight decay: decoupled in adamw and lamb, part of the gradient in other optimizers
  };
  float learning_rate = 1e-3f;
  float dropout = 0.1f;
  float clip_norm = 1.0f;  // the gradient is scaled down to this norm, in steps that clip
  tx::schedule schedule{};
  std::array<group_settings, max_groups> groups{};

  // A number that the model names, see expr/setting.hpp. Throws value_error for a name that it does not have.
  float& operator[](std::string_view name) {
    std::string known;
    for (int k = 0; k < named_count; ++k) {
      named_setting& own = named[static_cast<std::size_t>(k)];
      if (own.name == name) return own.value;
      known += (k == 0 ? "" : ", ") + std::string(own.name);
    }
    throw value_error("executor: the program has no setting '" + std::string(name) + "'. FIX: " +
                      (known.empty() ? "tx::setting<\"name\">(x, number) in the model, or no settings of its own" : "one of " + known));
  }
  struct named_setting {
    std::string_view name;
    float value = 0;
  };
  std::array<named_setting, max_settings> named{};  // by the executor, in the order of the program
  int named_count = 0;
};

namespace exec {

// Calls f(name, value) for each setting of a program with so many parameter groups.
template <class F>
TX_COLD void for_each_setting(run_settings& s, int groups, F&& f) {
  f("learning_rate", s.learning_rate);
  f("dropout", s.dropout);
  f("clip_norm", s.clip_norm);
  f("schedule.shape", s.schedule.shape);
  f("schedule.warmup", s.schedule.warmup);
  f("schedule.total", s.schedule.total);
  f("schedule.end", s.schedule.end);
  f("schedule.power", s.schedule.power);
  f("schedule.start", s.schedule.start);
  f("schedule.every", s.schedule.every);
  f("schedule.factor", s.schedule.factor);
  for (int k = 0; k < s.named_count; ++k) {
    auto& [name, value] = s.named[static_cast<std::size_t>(k)];
    f("named." + std::string(name), value);
  }
  for (int g = 0; g < groups; ++g) {
    std::string const group = "groups." + std::to_string(g);
    f(group + ".rate", s.groups[static_cast<std::size_t>(g)].rate);
    f(group + ".decay", s.groups[static_cast<std::size_t>(g)].decay);
  }
}

// The numbers of expr/scalar.hpp for the run after so many others. Throws value_error for a rate that is none; `trains`:
// the learning rate is read.
inline void write_scalars(std::span<float> to, run_settings const& s, int groups, std::int64_t steps_run, bool trains) {
  auto set = [&](int i, double v) { to[static_cast<std::size_t>(i)] = static_cast<float>(v); };
  if (!(s.dropout >= 0 && s.dropout < 1))
    throw value_error("executor: a dropout rate of " + std::to_string(s.dropout) + ". FIX: at least 0, below 1");
  if (trains && !(s.learning_rate >= 0 && s.learning_rate <= std::numeric_limits<float>::max()))
    throw value_error("executor: a learning rate of " + std::to_string(s.learning_rate) +
                      ". FIX: a finite number, at least 0");
  set(static_cast<int>(scalar::step), static_cast<double>(steps_run + 1));
  set(static_cast<int>(scalar::dropout), s.dropout);
  set(static_cast<int>(scalar::clip_norm), s.clip_norm);
  double const rate = s.learning_rate * s.schedule.at(steps_run);
  for (int g = 0; g < groups; ++g) {
    auto const& of_group = s.groups[static_cast<std::size_t>(g)];
    set(static_cast<int>(scalar::group_rates) + 2 * g, rate * of_group.rate);
    set(static_cast<int>(scalar::group_rates) + 2 * g + 1, of_group.decay);
  }
  for (int k = 0; k < s.named_count; ++k) set(static_cast<int>(scalar::named) + k, s.named[static_cast<std::size_t>(k)].value);
}

// The program's own settings, each at its first value.
template <class Settings>
void declare_settings(run_settings& to, Settings const& of_program) {
  for (declared_setting const& s : of_program) to.named[static_cast<std::size_t>(to.named_count++)] = {s.name, s.first};
}

}  // namespace exec
}  // namespace tx
