// The best state that validation has seen, and when to give up waiting for a better one.
#pragma once

#include <tx/train/loop/saved.hpp>

#include <cmath>
#include <optional>

namespace tx::train {

// What validation measures.
struct measure {
  std::string name = "loss";   // in files: "dev_loss"
  std::string label = "loss";  // in lines to read
  bool higher_is_better = false;

  // NaN is no better than any number. (So a run that has lost its way keeps what it had.)
  bool better(double value, double than) const { return higher_is_better ? value > than : value < than; }
};

template <class T>
class best_state {
 public:
  explicit best_state(measure m) : measure_(std::move(m)) {}

  // Keeps what read() returns if there was nothing before or it is better; any number is better than NaN. Returns whether it did.
  template <class Read>
  bool offer(double value, std::int64_t step, Read&& read) {
    if (known() && (std::isnan(value) || (!std::isnan(value_) && !measure_.better(value, value_)))) return false;
    value_ = value;
    step_ = step;
    parameters_ = read();
    return true;
  }

  bool known() const { return !parameters_.empty(); }
  std::optional<double> value() const { return known() ? std::optional(value_) : std::nullopt; }
  std::int64_t step() const { return step_; }
  std::vector<T> const& parameters() const { return parameters_; }

  // Names: the measure's, so that another measure is not taken for it.
  void save(to_save& out) const {
    out.put("best_" + measure_.name, value_);
    out.put("best_step", step_);
    out.put("best", parameters_);
  }
  // `count`: of the run's parameters.
  void restore(saved const& in, std::size_t count) {
    parameters_ = in.array<T>("best");
    if (!parameters_.empty() && parameters_.size() != count) throw format_error("a saved state is of another model. FIX: resume with the program that saved it, or begin a new run");
    if (!known()) return;
    value_ = in.value<double>("best_" + measure_.name);
    step_ = in.value<std::int64_t>("best_step");
  }

 private:
  measure measure_;
  double value_ = 0;
  std::int64_t step_ = 0;
  std::vector<T> parameters_;
};

// Ends a run that has not become better for so many validations; 0: never.
class patience {
 public:
  explicit patience(std::int64_t most) : most_(most) {}
  // Returns whether it is at its end.
  bool seen(bool improved) {
    waited_ = improved ? 0 : waited_ + 1;
    return over();
  }
  bool over() const { return most_ > 0 && waited_ >= most_; }
  void begin_anew() { waited_ = 0; }
  void save(to_save& out) const {
    if (most_ > 0) out.put("waited", waited_);
  }
  void restore(saved const& in) { waited_ = in.value<std::int64_t>("waited", 0); }

 private:
  std::int64_t most_, waited_ = 0;
};

}  // namespace tx::train
