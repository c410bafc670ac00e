#include "judged.hpp"

#include <algorithm>
#include <cmath>

namespace bert {

std::vector<std::string> labels_of(tx::io::model_folder const& folder) {
  auto const& config = folder.config();
  auto const at = config.find("id2label");
  if (at == config.end() || !at->is_object()) return {};
  std::vector<std::string> names(at->size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    auto const name = at->find(std::to_string(k));
    if (name == at->end() || !name->is_string()) throw tx::format_error(folder.config_path().string() + ": id2label has no name for " + std::to_string(k));
    names[k] = name->get<std::string>();
  }
  return names;
}

nlohmann::json trained_config(std::span<std::string const> labels) {
  nlohmann::json changes{{"architectures", {compiled().architecture}}, {"problem_type", labels.empty() ? "regression" : "single_label_classification"}, {"num_labels", nullptr}};
  nlohmann::json by_number = nlohmann::json::object(), by_name = nlohmann::json::object();
  for (std::size_t k = 0; k < labels.size(); ++k) {
    by_number[std::to_string(k)] = labels[k];
    by_name[labels[k]] = k;
  }
  if (labels.empty()) {  // transformers' names for a number
    by_number["0"] = "LABEL_0";
    by_name["LABEL_0"] = 0;
  }
  changes["id2label"] = by_number;
  changes["label2id"] = by_name;
  return changes;
}

label_scores judgement::scores() const {
  std::vector<int> wanted;
  for (float const t : targets) wanted.push_back(static_cast<int>(t));
  return {static_cast<std::size_t>(compiled().labels), wanted, labels};
}
double judgement::value() const { return compiled().regression() ? pearson(numbers, targets) : scores().accuracy(); }
char const* judged_by() { return compiled().regression() ? "pearson" : "accuracy"; }

judgement judged(classifier& run, dataset const& texts) {
  judgement out;
  out.targets = texts.targets;
  auto const logits = run.logits(texts.coded());
  if (compiled().regression()) {
    out.numbers = logits;
    return out;
  }
  auto const labels = static_cast<std::size_t>(compiled().labels);
  for (std::size_t t = 0; t < texts.texts.size(); ++t) {
    auto const of = std::span(logits).subspan(t * labels, labels);
    auto const best = std::ranges::max_element(of);
    double sum = 0;
    for (float const x : of) sum += std::exp(static_cast<double>(x - *best));
    out.labels.push_back(static_cast<int>(best - of.begin()));
    out.probabilities.push_back(static_cast<float>(1 / sum));
  }
  return out;
}

}  // namespace bert
