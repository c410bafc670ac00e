// What commands that train on examples have in common: their options, and a run over the examples in an order that is drawn anew for each epoch.
#pragma once

#include "dataset.hpp"
#include "training.hpp"

#include <functional>
#include <map>
#include <optional>

namespace bert {

// `data` and `dev` tell what these files hold; `own` are the command's other options.
std::vector<command_line::option> finetuning_options(std::string const& data, std::string const& dev, std::vector<command_line::option> own = {});

// What those options say.
struct finetuning {
  std::string data, dev, out;
  std::uint64_t seed;
  int longest;             // tokens of a text that is learned from
  step_settings settings;  // its rate is the highest
  double warmup;
  std::optional<std::int64_t> steps;  // in place of epochs
  double epochs;
  std::int64_t validations, patience;

  explicit finetuning(command_line::options const& given);
  // Throws value_error where there are fewer examples than a step takes.
  void check_count(std::size_t examples, char const* what) const;
};

// A folder's weights, for a model that may have a head of its own; says which tensors are fresh.
void begin_with(tx::io::model_folder const& folder, std::vector<named_tensor> const& tensors);

// What a command adds.
struct examples {
  struct learned {
    double loss;
    std::size_t tokens;
  };
  std::size_t count;
  std::function<learned(std::span<std::size_t const> drawn, step_settings const& settings, std::string const& trace)> learn;  // one step
  std::function<double()> validate;
  tx::train::measure measure;
  std::function<void()> improved;
  std::map<std::string, std::string> common;  // what a run and one that resumes it must share beside finetuning's
};
// Of a classifier and labelled texts; both must outlive it.
examples labelled_examples(classifier& run, dataset const& learned, dataset const& unseen, std::string const& model_sum, std::function<void()> improved);
// Ends with the best state in `run`.
tx::train::loop_result finetuned(trained_run& run, command_line::options const& given, finetuning const& f, examples const& e);

// "; 120 steps in 3.4 s, of which step 80 was the best", and where the model is to standard error.
std::string run_told(tx::train::loop_result const& result, finetuning const& f);

}  // namespace bert
