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

// Makes the folder `to` or writes over what is in it, each file at once or not at all, config.json last: a folder with one is whole. Throws io_error.
template <class Parameters>
void save_model_folder(std::filesystem::path const& to, Parameters const& parameters, model_folder const& from, nlohmann::json const& changes) {
  ensure_directory(to);
  bool const in_place = std::filesystem::weakly_canonical(to) == std::filesystem::weakly_canonical(from.path());
  save_parameters(to / "model.safetensors", parameters, {{"format", "pt"}});
  for (char const* const name : tokenizer_files)
    if (!in_place && from.has(name)) write_file_atomic(to / name, read_file(from.file(name)));
  write_file_atomic(to / "config.json", changed_config(from, changes).dump(2) + '\n');
}

}  // namespace tx::io
