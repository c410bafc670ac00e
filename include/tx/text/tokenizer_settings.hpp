// What stands beside a vocabulary in folders without a tokenizer.json: tokenizer_config.json, special_tokens_map.json and added_tokens.json.
#pragma once

#include <tx/text/bert_characters.hpp>
#include <tx/text/json_parts.hpp>

#include <filesystem>
#include <vector>

namespace tx::text {

class tokenizer_settings {
 public:
  // kinds: of the tokenizers whose files these may be, as "Bert" of BertTokenizer. Throws format_error for one of another kind.
  tokenizer_settings(std::filesystem::path const& folder, std::vector<std::string> const& kinds)
      : config_(object(folder / "tokenizer_config.json")), map_(object(folder / "special_tokens_map.json")), added_(object(folder / "added_tokens.json")), folder_(folder) {
    if (auto const at = config_.find("tokenizer_class"); at != config_.end() && at->is_string()) class_ = at->get<std::string>();
    for (std::string const& kind : kinds)
      if (class_.empty() || is_of(kind)) return;
    fail(io::shown(class_) + " reads such files in another way");
  }

  // Whether they say that they are of this kind of tokenizer.
  bool is_of(std::string const& kind) const { return class_ == kind + "Tokenizer" || class_ == kind + "TokenizerFast"; }

  // Of a vocab.txt; if nothing says otherwise, its words are of lower case.
  bert_rules words() const {
    bert_rules rules = bert_uncased;
    rules.lowercase = flag("do_lower_case", rules.lowercase);
    rules.strip_accents = flag("strip_accents", rules.lowercase);
    rules.ideographs = flag("tokenize_chinese_chars", rules.ideographs);
    return rules;
  }
  // Of a vocab.json: a space is put before texts that have none there.
  bool prefix_space() const { return flag("add_prefix_space", false); }

  // Throws format_error where the files say of tokens what `t` does not do: names of its own for special ones, further ones, or one before each text.
  template <class Tokenizer>
  Tokenizer checked(Tokenizer t) const {
    for (auto const* of : {&config_, &map_})
      for (auto const& [key, value] : of->items())
        if (key.ends_with("_token") && !key.starts_with("add_")) known(t, name_of(value));
    for (auto const& [name, id] : added_.items()) known(t, name, id);
    if (auto const at = config_.find("added_tokens_decoder"); at != config_.end() && at->is_object())
      for (auto const& [id, token] : at->items()) known(t, name_of(token), nlohmann::json::parse(id, nullptr, false));
    for (char const* const name : {"add_bos_token", "add_eos_token"})
      if (flag(name, false)) fail(std::string(name) + " is known in a tokenizer.json alone");
    return t;
  }

  // Of a file; one that there is not is empty.
  static nlohmann::json object(std::filesystem::path const& path) {
    std::error_code none;
    if (!std::filesystem::exists(path, none)) return nlohmann::json::object();
    auto json = io::read_json(path);
    if (!json.is_object()) throw format_error(path.string() + ": is no JSON object");
    return json;
  }

 private:
  [[noreturn]] void fail(std::string const& what) const { throw format_error(folder_.string() + ": " + what + ". FIX: save a tokenizer.json, as the fast tokenizers of transformers do"); }

  bool flag(char const* name, bool otherwise) const {
    auto const at = config_.find(name);
    return at != config_.end() && at->is_boolean() ? at->get<bool>() : otherwise;
  }
  // A token is its name, or an object with it; null is none.
  std::string name_of(nlohmann::json const& token) const {
    if (token.is_null()) return "";
    if (token.is_string()) return token.get<std::string>();
    if (token.is_object() && token.contains("content") && token["content"].is_string()) return token["content"].get<std::string>();
    fail("a token is " + io::shown_value(token));
  }
  template <class Tokenizer>
  void known(Tokenizer const& t, std::string const& name, nlohmann::json const& id = nullptr) const {
    if (name.empty()) return;
    auto const own = t.special_id(name);
    if (!own) fail("the token " + io::shown(name) + " is none of those that stand for something in such files");
    if (!id.is_null() && id != *own) fail("the id of the token " + io::shown(name) + " is " + io::shown_value(id) + ", in the vocabulary " + std::to_string(*own));
  }

  nlohmann::json config_, map_, added_;
  std::string class_;  // empty where none is named
  std::filesystem::path folder_;
};

}  // namespace tx::text
