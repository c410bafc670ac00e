// What may change between the runs of a program without compiling it again, and how a program reads it: as numbers.
//
//   run.settings["learning_rate"] = 3e-4f;                  // a name that the program lacks does not compile
//   run.settings.at("dropout") = rate;                      // the same for a name that is known at run time: value_error
//   run.settings.schedule = {tx::decay_shape::cosine, 1'000, 100'000};
#pragma once

#include <tx/graph/graph.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/run/rate_schedule.hpp>

#include <array>
#include <span>
#include <string>

namespace tx {

// What a group of parameters takes of the learning rate.
struct group_settings {
  float rate = 1;   // factor of the learning rate
  float decay = 0;  // weight decay: decoupled in adamw, lamb, lion, novograd and adafactor, part of the gradient in other optimizers
};

// One for each group of a model's parameters.
template <int Count>
class groups_of_settings {
 public:
  static constexpr std::size_t size() { return static_cast<std::size_t>(Count); }
  // Throws value_error for a group that the model lacks.
  constexpr group_settings& operator[](std::size_t k) { return items_[checked(k)]; }
  constexpr group_settings const& operator[](std::size_t k) const { return items_[checked(k)]; }
  constexpr group_settings* begin() { return items_.data(); }
  constexpr group_settings* end() { return items_.data() + size(); }
  constexpr group_settings const* begin() const { return items_.data(); }
  constexpr group_settings const* end() const { return items_.data() + size(); }

 private:
  static constexpr std::size_t checked(std::size_t k) {
    if (k >= size()) lacks(k);
    return k;
  }
  [[noreturn]] TX_COLD static void lacks(std::size_t k) {
    throw value_error("executor: settings.groups[" + std::to_string(k) + "]; the model has " + std::to_string(Count) +
                      " groups of parameters. FIX: a number below that; tx::group_of<Model, \"name\"> is the group of a parameter");
  }

  std::array<group_settings, size()> items_{};
};

// Of programs that train: how the setting "learning_rate" goes on from step to step, and what each group of parameters takes of it.
template <int Groups>
struct update_settings {
  tx::schedule schedule{};
  groups_of_settings<Groups> groups{};
};

namespace exec {

// A name of a program's settings: its number among them, found while compiling.
template <class Program>
struct setting_number {
  int value;

  template <std::size_t N>
  consteval setting_number(char const (&name)[N]) : value(number_of(std::string_view(name, N - 1))) {
    if (value < 0)
      throw invalid("no part of the program has a setting of that name: tx::dropout and attention have \"dropout\", clip_gradient \"clip_norm\", an optimizer \"learning_rate\". FIX: one that it has, or settings.at(name)");
  }
  static constexpr int number_of(std::string_view name) {
    int k = 0;
    for (declared_setting const& s : Program::settings) {
      if (name == s.name) return k;
      ++k;
    }
    return -1;
  }
};

struct no_update_settings {};

}  // namespace exec

// The settings of a program, which begin as they were declared (expr/setting.hpp). Which values each may have is checked before a run: a
// value_error. Groups: those of the model's parameters; -1 of a program that does not train.
template <class Program, int Groups>
class run_settings : public std::conditional_t<(Groups >= 0), update_settings<Groups>, exec::no_update_settings> {
  static constexpr bool trains = Groups >= 0;
  static constexpr int count = static_cast<int>(Program::settings.size());

 public:
  constexpr run_settings() {
    int k = 0;
    for (declared_setting const& s : Program::settings) values_[static_cast<std::size_t>(k++)] = s.first;
  }

  float& operator[](exec::setting_number<Program> name) { return values_[static_cast<std::size_t>(name.value)]; }
  float const& operator[](exec::setting_number<Program> name) const { return values_[static_cast<std::size_t>(name.value)]; }

  static constexpr bool has(std::string_view name) { return exec::setting_number<Program>::number_of(name) >= 0; }

  // Throws value_error for a name that the program lacks.
  TX_COLD float& at(std::string_view name) {
    int const k = exec::setting_number<Program>::number_of(name);
    if (k >= 0) return values_[static_cast<std::size_t>(k)];
    std::string known;
    for (declared_setting const& s : Program::settings) known += (known.empty() ? "" : ", ") + std::string(s.name);
    throw value_error("executor: the program has no setting '" + std::string(name) + "'. FIX: " +
                      (known.empty() ? "tx::setting<\"name\">(x, number) in the model, or no settings of its own" : "one of " + known));
  }

  // For code of any program: sets it where there is such a setting, and says whether there is.
  bool set(std::string_view name, float value) {
    int const k = exec::setting_number<Program>::number_of(name);
    if (k >= 0) values_[static_cast<std::size_t>(k)] = value;
    return k >= 0;
  }

  // The learning rate of the update after so many, before each group's factor. executor::rate() has that of the next run.
  double rate_at(std::int64_t updates_made) const
    requires trains
  {
    return static_cast<double>((*this)["learning_rate"]) * this->schedule.at(updates_made);
  }

  // Calls f(name, value) for each setting.
  template <class F>
  TX_COLD void for_each(F&& f) {
    int k = 0;
    for (declared_setting const& s : Program::settings) f(std::string(s.name), values_[static_cast<std::size_t>(k++)]);
    if constexpr (trains) {
      tx::schedule& s = this->schedule;
      f(std::string("schedule.shape"), s.shape);
      f(std::string("schedule.warmup"), s.warmup);
      f(std::string("schedule.total"), s.total);
      f(std::string("schedule.end"), s.end);
      f(std::string("schedule.power"), s.power);
      f(std::string("schedule.start"), s.start);
      f(std::string("schedule.every"), s.every);
      f(std::string("schedule.factor"), s.factor);
      for (int g = 0; g < Groups; ++g) {
        group_settings& own = this->groups[static_cast<std::size_t>(g)];
        f("groups." + std::to_string(g) + ".rate", own.rate);
        f("groups." + std::to_string(g) + ".decay", own.decay);
      }
    }
  }

  // The numbers of expr/scalar.hpp for the run after so many others, of which `runs` make an update.
  void write_scalars(std::span<float> to, std::int64_t steps_run, int runs = 1) const {
    auto set = [&](int i, double v) { to[static_cast<std::size_t>(i)] = static_cast<float>(v); };
    set(static_cast<int>(scalar::run), static_cast<double>(steps_run + 1));
    set(static_cast<int>(scalar::update), static_cast<double>(steps_run / runs + 1));
    set(static_cast<int>(scalar::ends_update), (steps_run + 1) % runs == 0 ? 1 : 0);
    int k = 0;
    for (declared_setting const& s : Program::settings) {
      float const value = values_[static_cast<std::size_t>(k)];
      if (s.allows != nullptr && !s.allows(value)) refuse(s, value);
      set(static_cast<int>(scalar::named) + k++, value);
    }
    if constexpr (trains) {
      double const rate = rate_at(steps_run / runs);
      for (int g = 0; g < Groups; ++g) {
        group_settings const& of_group = this->groups[static_cast<std::size_t>(g)];
        check(g, ".rate", of_group.rate);
        check(g, ".decay", of_group.decay);
        check(g, ".rate times the learning rate", static_cast<float>(rate * static_cast<double>(of_group.rate)));
        set(static_cast<int>(scalar::group_rates) + 2 * g, rate * static_cast<double>(of_group.rate));
        set(static_cast<int>(scalar::group_rates) + 2 * g + 1, of_group.decay);
      }
      if constexpr (has("layer_decay")) {  // see train/layer_decay.hpp
        double share = 1;
        for (int layers = 0; layers <= max_layers; ++layers, share *= static_cast<double>((*this)["layer_decay"]))
          set(static_cast<int>(scalar::layer_shares) + max_layers - layers, share);
      }
    }
  }

 private:
  [[noreturn]] TX_COLD static void refuse(declared_setting const& s, float value) {
    throw value_error("executor: settings[\"" + std::string(s.name) + "\"] is " + std::to_string(value) + ". FIX: " + s.allowed);
  }

  static void check(int group, char const* what, float value) {
    if (!is_rate(value)) refuse(group, what, value);
  }
  [[noreturn]] TX_COLD static void refuse(int group, char const* what, float value) {
    throw value_error("executor: settings.groups[" + std::to_string(group) + "]" + what + " is " + std::to_string(value) +
                      ". FIX: a finite number, at least 0; a rate of 0 leaves the group as it is");
  }

  std::array<float, static_cast<std::size_t>(count > 0 ? count : 1)> values_{};
};

}  // namespace tx
