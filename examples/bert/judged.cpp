#include "judged.hpp"

#include <tx/io/adapter_folder.hpp>
#include <tx/io/pretrained.hpp>
#include <tx/train/loop/area_under_curve.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bert {

tx::io::model_folder load_trained(std::string const& folder, command_line::named_parameters& run, std::string const& what, std::string const& by) {
  check_folder(folder);
  auto const of = tx::io::model_folder::open(folder);
  run.change([&](std::vector<named_tensor> const& tensors) {
    auto const report = tx::io::load_pretrained(of, tx::io::base_parameters(tensors), compiled().family);
    if (!report.fresh.empty()) throw tx::format_error(folder + " lacks " + report.fresh.front() + ". FIX: a folder that was trained for " + what + called(", as bert " + by + " writes it"));
  });
  return of;
}

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

std::vector<std::string> trained_labels(tx::io::model_folder const& folder, int compiled) {
  auto names = labels_of(folder);
  if (names.size() != static_cast<std::size_t>(compiled))
    throw tx::format_error(folder.config_path().string() + " names " + std::to_string(names.size()) + " labels, the program was compiled for " + std::to_string(compiled));
  return names;
}

std::vector<std::string> chosen_labels(std::vector<std::string> const& names, std::vector<std::string> const& known, int compiled, std::string const& source, std::string const& head,
                                       std::string const& rarest) {
  if (static_cast<int>(names.size()) != compiled) {
    std::string all;
    for (std::size_t k = 0; k < std::min<std::size_t>(names.size(), 10); ++k) all += (k == 0 ? "" : ", ") + tx::io::shown(names[k]);
    throw tx::value_error(source + " has " + std::to_string(names.size()) + " labels (" + all + (names.size() > 10 ? ", ..." : "") + "), the program was compiled for " +
                          std::to_string(compiled) + (static_cast<int>(names.size()) > compiled ? rarest : "") + ". FIX: tx_add_bert(... HEADS " + head + '=' + std::to_string(names.size()) + ")");
  }
  auto sorted = known;
  std::ranges::sort(sorted);
  auto wanted = names;
  std::ranges::sort(wanted);
  return sorted == wanted ? known : names;
}

nlohmann::json trained_config(std::string const& task, std::span<std::string const> labels) {
  nlohmann::json changes{{"architectures", {compiled().model_class + "For" + task}}, {"num_labels", nullptr}};
  if (task == "SequenceClassification") changes["problem_type"] = labels.empty() ? "regression" : "single_label_classification";
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

std::vector<float> judgement::second() const {
  std::vector<float> out;
  for (std::size_t t = 0; t < labels.size(); ++t) out.push_back(labels[t] == 1 ? probabilities[t] : 1 - probabilities[t]);
  return out;
}

std::optional<double> judgement::area_under_curve() const {
  auto const positive = static_cast<std::size_t>(std::ranges::count(targets, 1.0f));
  if (compiled().labels != 2 || positive == 0 || positive == targets.size()) return std::nullopt;
  return tx::train::area_under_curve(second(), targets);
}

std::string score_line(judgement const& of) {
  char text[80];
  std::snprintf(text, sizeof text, "%s %.4f", judged_by(), of.value());
  std::string out = text;
  if (auto const area = of.area_under_curve()) {
    std::snprintf(text, sizeof text, "  AUC %.4f", *area);
    out += text;
  }
  return out;
}

judgement judged(std::vector<float> const& logits, std::span<float const> targets) {
  judgement out;
  out.targets.assign(targets.begin(), targets.end());
  if (compiled().regression()) {
    out.numbers = logits;
    return out;
  }
  auto const labels = static_cast<std::size_t>(compiled().labels);
  for (std::size_t t = 0; t * labels < logits.size(); ++t) {
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
