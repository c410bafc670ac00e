// What a loop tells while it runs: the line of progress, and the files of metrics.
#pragma once

#include <tx/io/metric_sinks.hpp>
#include <tx/io/metrics.hpp>
#include <tx/io/progress.hpp>
#include <tx/io/tensorboard.hpp>
#include <tx/train/loop/events.hpp>
#include <tx/train/loop/recent.hpp>

#include <map>

namespace tx::train {

// What a step got through; `name` in the plural, as "tokens": the line has tokens/s, files have tokens_per_second.
struct work {
  std::string name;
  double amount;
};

// What a step tells of itself.
struct step_told {
  double loss;
  std::vector<train::work> work{};
  std::optional<double> rate{};  // of learning
};

struct report_options {
  std::filesystem::path metrics{};  // a file of JSON lines; empty: none
  std::filesystem::path events{};   // a folder for TensorBoard; empty: none
  std::int64_t every = 10;          // steps between two lines of both, from the first on
  bool line = true;                 // of progress
  std::string loss = "loss";        // its label there
  io::progress_options progress{};
};

class report {
 public:
  explicit report(report_options o) : options_(std::move(o)) {}

  // `resumed`: the steps before this run, where there were some. Throws value_error where a run that begins has a file of another's metrics.
  void open(std::optional<std::int64_t> resumed) {
    if (!options_.metrics.empty()) {
      std::error_code absent;
      auto const size = std::filesystem::file_size(options_.metrics, absent);
      if (!resumed && !absent && size > 0)
        throw value_error(options_.metrics.string() + " has the metrics of another run. FIX: resume that run, remove the file, or name another");
      sinks_.emplace<io::metrics_log>(options_.metrics);
    }
    if (!options_.events.empty()) {
      io::event_file_options o;
      if (resumed) o.resumed_at = *resumed + 1;
      sinks_.emplace<io::event_file>(options_.events, o);
    }
  }

  // The line counts up to so many steps from now on.
  void total(std::int64_t steps, std::int64_t done) {
    if (options_.line) line_.emplace(steps, done, options_.progress);
  }

  // Speeds are over what steps take alone, not validation and saving.
  void step(std::int64_t step, step_told const& told, double seconds, double elapsed) {
    loss_.add(told.loss, step);
    seconds_.add(seconds, step);
    std::vector<io::progress_field> fields{{options_.loss, loss_.value()}};
    std::vector<io::metric> metrics{{"loss", told.loss}};
    if (told.rate) metrics.emplace_back("rate", *told.rate);
    for (auto const& [name, amount] : told.work) {
      recent& mean = work_[name];
      mean.add(amount, step);
      double const speed = mean.value() / seconds_.value();
      fields.emplace_back(name + "/s", speed);
      metrics.emplace_back(name + "_per_second", speed);
    }
    if (told.rate) fields.emplace_back("rate", *told.rate);
    metrics.emplace_back("seconds", elapsed);
    if (line_) line_->update(step, fields);
    if (every{options_.every}.due(step) || step == 1) write(step, metrics);
  }

  // Of a run that was ended before it had saved anything.
  void forget() const {
    if (!options_.metrics.empty()) io::cut_metrics(options_.metrics, 0);
  }
  void write(std::int64_t step, std::span<io::metric const> values) { sinks_.write(step, values); }
  // A line of its own.
  void note(std::string const& text) {
    if (line_) line_->note(text);
  }
  void finish() {
    if (line_) line_->finish();
  }

  void save(to_save& out) const {
    loss_.save(out, "loss");
    seconds_.save(out, "spent");
    std::error_code absent;  // somebody may have moved the file away
    auto const size = options_.metrics.empty() ? 0 : std::filesystem::file_size(options_.metrics, absent);
    if (!options_.metrics.empty() && !absent) out.put("metrics", size);
  }
  // Takes back what the file of metrics says of steps that are to come again.
  void restore(saved const& in, std::int64_t step) {
    loss_.restore(in, "loss");
    seconds_.restore(in, "spent");
    if (options_.metrics.empty()) return;
    std::error_code absent;
    auto const size = std::filesystem::file_size(options_.metrics, absent);
    if (absent) return;
    // Of the step itself there may be lines from before and after it was saved.
    auto const before = static_cast<std::uintmax_t>(in.value<std::int64_t>("metrics", static_cast<std::int64_t>(size)));
    if (before < size) std::filesystem::resize_file(options_.metrics, before);
    io::cut_metrics(options_.metrics, step);
  }

 private:
  report_options options_;
  io::metric_sinks sinks_;
  std::optional<io::progress> line_;
  recent loss_, seconds_;
  std::map<std::string, recent> work_;
};

}  // namespace tx::train
