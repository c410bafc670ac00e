// What a trained model says of texts, and what its folder says of its labels.
#pragma once

#include "dataset.hpp"
#include "scores.hpp"

#include <tx/io/save_model_folder.hpp>

#include <optional>

namespace bert {

// A folder that was trained for what `tensors` are of. Throws what check_folder and load_pretrained throw, and format_error where it lacks one of them: `what` it
// should have been trained for, and `by` which command.
tx::io::model_folder load_trained(std::string const& folder, command_line::named_parameters& run, std::string const& what, std::string const& by);
// Names of labels by number; empty where the folder was trained for none.
std::vector<std::string> labels_of(tx::io::model_folder const& folder);
// The same of a folder that was trained; throws format_error where they are not as many as the program was compiled for.
std::vector<std::string> trained_labels(tx::io::model_folder const& folder, int compiled);
// Names of labels by number for training: those of a folder that was trained for the same ones (`known`) keep their numbers. Throws value_error unless there
// are as many as the program's head has; `head` is what tx_add_bert calls it: "sequence", and `rarest` what is said of the label that may be a
// mistake where there are too many.
std::vector<std::string> chosen_labels(std::vector<std::string> const& names, std::vector<std::string> const& known, int compiled, std::string const& source, std::string const& head,
                                       std::string const& rarest = "");
// What config.json says of a model for a task, "SequenceClassification", that was trained for labels of these names; of none: for numbers.
nlohmann::json trained_config(std::string const& task, std::span<std::string const> labels);

struct judgement {
  std::vector<int> labels;           // that texts were given; of a regression none
  std::vector<float> probabilities;  // of these labels
  std::vector<float> numbers;        // of a regression
  std::vector<float> targets;        // that texts have

  label_scores scores() const;
  std::vector<float> second() const;  // of two labels: the probabilities of the second
  // Of two labels the area under the curve of the second one's probability; nothing of others, and where texts have one label alone.
  std::optional<double> area_under_curve() const;
  // Accuracy, or Pearson's correlation: what validation picks a state by.
  double value() const;
};
// logits [texts, labels], or numbers, of texts that may have labels
judgement judged(std::vector<float> const& logits, std::span<float const> targets);
// "accuracy 0.9100  AUC 0.9650", or "pearson 0.8800"
std::string score_line(judgement const& of);
// "accuracy" or "pearson".
char const* judged_by();

}  // namespace bert
