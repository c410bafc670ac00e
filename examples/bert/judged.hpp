// What a trained model says of texts, and what its folder says of its labels.
#pragma once

#include "dataset.hpp"
#include "scores.hpp"

#include <tx/io/save_model_folder.hpp>

namespace bert {

// Names of labels by number; empty where the folder was trained for none.
std::vector<std::string> labels_of(tx::io::model_folder const& folder);
// What config.json says of a model of this program that was trained for labels of these names; of none: for numbers.
nlohmann::json trained_config(std::span<std::string const> labels);

struct judgement {
  std::vector<int> labels;           // that texts were given; of a regression none
  std::vector<float> probabilities;  // of these labels
  std::vector<float> numbers;        // of a regression
  std::vector<float> targets;        // that texts have

  label_scores scores() const;
  // Accuracy, or Pearson's correlation: what validation picks a state by.
  double value() const;
};
judgement judged(classifier& run, dataset const& texts);
// "accuracy" or "pearson".
char const* judged_by();

}  // namespace bert
