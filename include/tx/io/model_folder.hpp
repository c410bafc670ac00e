// A folder as Hugging Face lays a model out: config.json, the weights in one or several files, what its tokenizer needs.
//
//   auto const folder = tx::io::model_folder::open("all-MiniLM-L6-v2");
//   tx::io::check_config<minilm>(folder);                                    // io/check_config.hpp: was the program compiled for it?
//   tx::io::load_parameters(folder.path(), run.tensors(), {.ignore = {"pooler.*"}});
#pragma once

#include <tx/io/json.hpp>

namespace tx::io {

// What a tokenizer may consist of, in folders of all kinds.
inline constexpr char const* tokenizer_files[] = {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",     "vocab.txt",
                                                  "vocab.json",     "merges.txt",            "spiece.model",            "sentencepiece.bpe.model", "spm.model"};

class model_folder {
 public:
  // Throws io_error for a folder or config.json that cannot be read, format_error for one that is no JSON object.
  static model_folder open(std::filesystem::path const& path) {
    std::error_code none;  // reading says more
    if (!std::filesystem::exists(path, none)) throw io_error("there is no folder " + path.string() + ". FIX: a folder with config.json and model.safetensors");
    if (!std::filesystem::is_directory(path, none)) throw io_error(path.string() + " is a file. FIX: the folder that has it, with config.json and model.safetensors");
    if (!std::filesystem::exists(path / "config.json", none)) throw io_error(path.string() + " has no config.json. FIX: a model's folder, as save_pretrained writes it");
    return of(path, read_json(path / "config.json"));
  }
  // A folder of which the configuration has been read.
  static model_folder of(std::filesystem::path const& path, nlohmann::json config) {
    model_folder out(path);
    if (!config.is_object()) throw format_error(out.config_path().string() + " is no JSON object");
    out.config_ = std::move(config);
    return out;
  }

  std::filesystem::path const& path() const { return path_; }
  std::filesystem::path config_path() const { return path_ / "config.json"; }
  nlohmann::json const& config() const { return config_; }
  // "bert", "roberta", ...; empty where the configuration says nothing of it.
  std::string model_type() const { return text("model_type"); }
  // What config.json says under a name, as a text; empty where it says nothing or no text.
  std::string text(std::string const& name) const {
    auto const at = config_.find(name);
    return at != config_.end() && at->is_string() ? at->get<std::string>() : "";
  }
  // The path of a file of this folder, which need not be there.
  std::filesystem::path file(std::string const& name) const { return path_ / name; }
  bool has(std::string const& name) const {
    std::error_code none;
    return std::filesystem::exists(path_ / name, none);
  }

 private:
  explicit model_folder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  nlohmann::json config_;
};

}  // namespace tx::io
