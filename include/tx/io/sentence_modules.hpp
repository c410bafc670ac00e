// What a folder of sentence-transformers says of a text's vector: modules.json lists what follows the encoder, 1_Pooling/config.json the mean or the first
// token, sentence_bert_config.json how many tokens are looked at.
#pragma once

#include <tx/io/json.hpp>

namespace tx::io {

struct sentence_modules {
  bool first_token = false;  // in place of the mean of all tokens
  bool normalize = false;
  int longest = 0;  // tokens; 0: nothing is said

  // A folder without these files is an encoder alone: the mean, as it is. Throws format_error for modules and poolings other than these.
  static sentence_modules of(std::filesystem::path const& folder) {
    sentence_modules out;
    std::filesystem::path const list = folder / "modules.json";
    std::error_code none;
    if (!std::filesystem::exists(list, none)) return out;
    nlohmann::json const modules = read_json(list);
    if (!modules.is_array()) throw format_error(list.string() + " is no list of modules");
    for (auto const& m : modules) {
      auto const text = [&](char const* key) {
        auto const at = m.is_object() ? m.find(key) : m.end();
        return m.is_object() && at != m.end() && at->is_string() ? at->get<std::string>() : std::string();
      };
      std::string const type = text("type").substr(text("type").rfind('.') + 1);
      if (type == "Pooling") out.first_token = is_first_token(folder / text("path") / "config.json");
      else if (type == "Normalize") out.normalize = true;
      else if (type != "Transformer") throw format_error(list.string() + ": a module " + shown(text("type")) + " is not known; known are Transformer, Pooling and Normalize");
    }
    std::filesystem::path const sizes = folder / "sentence_bert_config.json";
    if (std::filesystem::exists(sizes, none)) {
      nlohmann::json const config = read_json(sizes);
      if (auto const at = config.find("max_seq_length"); at != config.end() && at->is_number_unsigned() && *at < 1'000'000) out.longest = at->get<int>();
    }
    return out;
  }

  // Writes what of() reads, and sentence-transformers opens, into the folder of an encoder whose vectors have `width` numbers.
  void save(std::filesystem::path const& folder, int width) const {
    nlohmann::json modules = nlohmann::json::array();
    auto const add = [&](std::string const& type, std::string const& path) {
      modules.push_back({{"idx", modules.size()}, {"name", std::to_string(modules.size())}, {"path", path}, {"type", "sentence_transformers.models." + type}});
    };
    add("Transformer", "");
    add("Pooling", "1_Pooling");
    if (normalize) add("Normalize", "2_Normalize");
    ensure_directory(folder / "1_Pooling");
    if (normalize) ensure_directory(folder / "2_Normalize");  // it has nothing to say, and is looked for
    nlohmann::json const pooling{{"word_embedding_dimension", width}, {"pooling_mode_cls_token", first_token}, {"pooling_mode_mean_tokens", !first_token}};
    write_file_atomic(folder / "1_Pooling" / "config.json", pooling.dump(2) + '\n');
    if (longest > 0) write_file_atomic(folder / "sentence_bert_config.json", nlohmann::json{{"max_seq_length", longest}, {"do_lower_case", false}}.dump(2) + '\n');
    write_file_atomic(folder / "modules.json", modules.dump(2) + '\n');
  }

 private:
  static bool is_first_token(std::filesystem::path const& path) {
    nlohmann::json const config = read_json(path);
    std::vector<std::string> chosen;
    for (auto const& [key, value] : config.items())
      if (key.starts_with("pooling_mode_") && value.is_boolean() && value.get<bool>()) chosen.push_back(key.substr(13));
    if (auto const at = config.find("pooling_mode"); chosen.empty() && at != config.end() && at->is_string()) chosen.push_back(at->get<std::string>());
    if (chosen.size() == 1 && (chosen[0] == "cls_token" || chosen[0] == "cls")) return true;
    if (chosen.size() == 1 && (chosen[0] == "mean_tokens" || chosen[0] == "mean")) return false;
    throw format_error(path.string() + ": a pooling other than mean_tokens or cls_token, or several");
  }
};

}  // namespace tx::io
