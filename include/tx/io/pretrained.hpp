// Weights that were trained for another task: the encoder of a folder into a model with a head of its own.
//
//   auto const folder = tx::io::model_folder::open("all-MiniLM-L6-v2");
//   auto const report = tx::io::load_pretrained(folder, run.tensors(), "bert");     // of nn::sequence_classifier<nn::bert_family, ...>
//   // report.fresh: classifier.weight, classifier.bias; they are as the executor has made them
//
// The model calls its encoder's tensors NAME.…; the file does, or has an encoder alone, whose tensors have nothing in front. What both have is loaded. The
// encoder must be whole, but for its pooler; what the file has for other tasks is passed over.
#pragma once

#include <tx/io/model_folder.hpp>
#include <tx/io/parameters.hpp>

namespace tx::io {

struct pretrained_report {
  std::vector<std::string> fresh;   // of the model, which the file lacks
  std::vector<std::string> unused;  // of the file, which the model lacks
};

// Throws what load_parameters throws, before anything is written; numbers are rounded to the model's type, and none may be NaN or infinite.
template <class Parameters>
pretrained_report load_pretrained(model_folder const& folder, Parameters const& parameters, std::string const& encoder) {
  tensor_files const files = tensor_files::open(folder.path());
  std::string const prefix = encoder + '.';
  bool alone = true;
  for (tensor_info const* t : files.tensors()) alone = alone && !t->name.starts_with(prefix);
  load_options options{.finite = true, .convert = true};
  if (alone) options.into = prefix;

  pretrained_report report;
  std::vector<detail::tensor_place> places;
  detail::append_places(places, parameters);
  std::set<std::string> known, parts;  // names in the file; parts of the encoder: "embeddings", "encoder"
  auto const part_of = [](std::string_view name) { return std::string(name.substr(0, name.find('.'))); };
  for (auto const& p : places) {
    if (p.name.starts_with(prefix)) parts.insert(part_of(std::string_view(p.name).substr(prefix.size())));
    bool found = false;
    for (std::string const& name : detail::names_in_file(options, p.name)) found = found || (known.insert(name), files.find(name) != nullptr);
    if (found) continue;
    report.fresh.push_back(p.name);
    if (!p.name.starts_with(prefix) || p.name.starts_with(prefix + "pooler.")) options.missing.push_back(p.name);
  }
  std::string const pooler = alone ? "pooler." : prefix + "pooler.";
  detail::tensor_list read, unused;
  for (tensor_info const* t : files.tensors()) {
    bool const of_encoder = alone ? parts.contains(part_of(t->name)) : t->name.starts_with(prefix);
    // A part of the encoder that the model lacks is refused below.
    bool const is_read = known.contains(t->name) || (of_encoder && !t->name.starts_with(pooler));
    (is_read ? read : unused).push_back(t);
    if (!is_read) report.unused.push_back(t->name);
  }
  detail::fill(places, detail::match_tensors(read, files.source(), places, options, unused));
  return report;
}

}  // namespace tx::io
