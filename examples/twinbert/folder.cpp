#include "folder.hpp"

#include <tx/io/crc64.hpp>
#include <tx/io/parameters.hpp>

#include <filesystem>

namespace twinbert {

namespace fs = std::filesystem;

std::vector<std::string> model_files(description const& d) { return {vocabulary_file(d), "config.json", "model.safetensors", "metrics.jsonl"}; }

void write_config(std::string const& folder, description const& d, bool layers) {
  auto const sum = tx::io::sum_file(folder + '/' + vocabulary_file(d));
  tx::io::write_file_atomic(folder + "/config.json", config_text(d, {layers, tx::io::hex_digits(sum.crc64)}));
}

void write_parameters(std::string const& folder, engine const& e) {
  auto parameters = e.read();
  tx::io::save_parameters(folder + "/model.safetensors", e.tensors_of(parameters), {{"format", "pt"}});
}

model_config read_config(std::string const& folder, description const& d) {
  std::string const path = folder + "/config.json";
  std::error_code none;  // reading says more
  if (auto const size = fs::file_size(path, none); !none && size > max_config)
    throw tx::format_error(path + ": " + std::to_string(size) + " bytes; a config.json has at most " +
                           std::to_string(max_config));
  return parse_config(tx::io::read_text(path), path, d);
}

tokenizer load_vocabulary(std::string const& folder, description const& d, model_config const& c) {
  auto loaded = tokenizer::load(d, folder);  // first: of a damaged file it says more
  std::string const path = folder + '/' + vocabulary_file(d);
  std::string const sum = tx::io::hex_digits(tx::io::sum_file(path).crc64);
  if (!c.vocabulary.empty() && sum != c.vocabulary)
    throw tx::value_error(path + " is not the vocabulary that the model was trained with: its CRC-64 is " + sum +
                          ", config.json says " + c.vocabulary + ". FIX: bring back the file that training wrote");
  return loaded;
}

void read_parameters(std::string const& folder, engine& e) {
  auto parameters = e.read();
  tx::io::load_parameters(folder + "/model.safetensors", e.tensors_of(parameters));
  e.write(parameters);
}

}  // namespace twinbert
