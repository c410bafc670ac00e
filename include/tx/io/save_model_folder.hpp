// A folder that transformers opens: weights, config.json, and the files of the tokenizer of the folder that training began with.
//
//   tx::io::save_model_folder("out", run.tensors(), folder, {{"architectures", {"BertForSequenceClassification"}}, {"num_labels", 2}});
#pragma once

#include <tx/io/model_folder.hpp>
#include <tx/io/parameters.hpp>

namespace tx::io {

// The configuration of `from` with other values for some of its keys; null takes a key out.
inline nlohmann::json changed_config(model_folder const& from, nlohmann::json const& changes) {
  nlohmann::json config = from.config();
  for (char const* const of_another_model : {"_name_or_path", "quantization_config"}) config.erase(of_another_model);
  for (char const* const type : {"torch_dtype", "dtype"})
    if (config.contains(type)) config[type] = "float32";
  for (auto const& [key, value] : changes.items()) {
    if (value.is_null()) config.erase(key);
    else config[key] = value;
  }
  return config;
}

// Makes the folder `to` or writes over what is in it, each file at once or not at all. A folder with a config.json is whole: that is written last, and where
// it or the tokenizer is to be another, the old one goes first. Files of a tokenizer that `from` lacks go. Throws io_error.
template <class Parameters>
void save_model_folder(std::filesystem::path const& to, Parameters const& parameters, model_folder const& from, nlohmann::json const& changes) {
  ensure_directory(to);
  bool const in_place = std::filesystem::weakly_canonical(to) == std::filesystem::weakly_canonical(from.path());
  std::string const config = changed_config(from, changes).dump(2) + '\n';
  std::vector<std::pair<std::filesystem::path, std::string>> others;  // files of the tokenizer that are not as they are to be
  std::vector<std::filesystem::path> left_over;
  for (char const* const name : tokenizer_files) {
    if (in_place) break;
    if (!from.has(name)) {
      if (std::error_code code; std::filesystem::exists(to / name, code)) left_over.push_back(to / name);
    } else if (std::string text = read_text(from.file(name)); !detail::has_text(to / name, text)) {
      others.emplace_back(to / name, std::move(text));
    }
  }
  if (!others.empty() || !left_over.empty() || !detail::has_text(to / "config.json", config)) detail::remove_file(to / "config.json");
  for (auto const& file : left_over) detail::remove_file(file);
  for (auto const& [file, text] : others) write_file_atomic(file, text);
  save_parameters(to / "model.safetensors", parameters, {{"format", "pt"}});
  write_file_atomic(to / "config.json", config);
}

}  // namespace tx::io
