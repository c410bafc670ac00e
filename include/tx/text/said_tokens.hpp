// What special_tokens_map.json, added_tokens.json and tokenizer_config.json say of added tokens, and which ids those get: as transformers' tokenizers in
// Python, those that are not "Fast", read it.
#pragma once

#include <tx/text/added_tokens.hpp>
#include <tx/text/piece_names.hpp>
#include <tx/text/tokenizer_settings.hpp>

#include <map>
#include <set>

namespace tx::text::detail {

struct said_token {
  std::string content;
  bool is_name = true;  // a name alone, which changes nothing of a token that is there
  bool lstrip = false, rstrip = false, normalized = false, special = true;

  static said_token special_one(std::string name, bool lstrip = false) { return {.content = std::move(name), .is_name = false, .lstrip = lstrip}; }
};

class said_tokens {
 public:
  // Throws format_error that names the folder for what is not known.
  said_tokens(std::filesystem::path folder, nlohmann::json config) : folder_(std::move(folder)), config_(std::move(config)) {
    if (auto const at = config_.find("added_tokens_decoder"); at != config_.end()) {
      if (!at->is_object()) fail("the added_tokens_decoder is no object");
      for (auto const& [id, token] : at->items()) {
        said_token const t = token_of(token, false);
        put(nlohmann::json::parse(id, nullptr, false), t);
        said_again_.insert_or_assign(t.content, t);
      }
      return;
    }
    // What older files say counts where that is missing.
    nlohmann::json const map = tokenizer_settings::object(folder_ / "special_tokens_map.json"), added = tokenizer_settings::object(folder_ / "added_tokens.json");
    for (auto const& [key, value] : map.items()) {
      if (key != further || !value.is_array()) {
        config_[key] = value;
        if (value.is_object()) config_[key]["special"] = true;
        continue;
      }
      nlohmann::json all = config_.contains(further) && config_[further].is_array() ? config_[further] : nlohmann::json::array();
      for (nlohmann::json t : value) {
        if (t.is_object()) t["special"] = true;
        if (std::find(all.begin(), all.end(), t) == all.end()) all.push_back(std::move(t));
      }
      config_[further] = std::move(all);
    }
    std::set<std::string> names;
    for (char const* const key : keys)
      if (config_.contains(key) && !config_[key].is_null()) names.insert(token_of(config_[key], true).content);
    // Behind both files Python takes the last of those for the last of these where another key names it, too.
    if (auto const at = map.find(further); at != map.end() && at->is_array() && !at->empty() && !added.empty())
      if (std::string const last = token_of(at->back(), true).content; names.contains(last))
        fail("the token " + io::shown(last) + " is the last of the " + further +
             " and another special token, which transformers takes for one of added_tokens.json");
    if (config_.contains(further) && config_[further].is_array())
      for (auto const& t : config_[further]) names.insert(token_of(t, true).content);
    for (auto const& [name, id] : added.items()) {
      bool const is_special = names.contains(name);
      put(id, {.content = name, .is_name = false, .normalized = !is_special, .special = is_special});
    }
  }

  [[noreturn]] static void fail(std::filesystem::path const& folder, std::string const& what) {
    throw format_error(folder.string() + ": " + what + ". FIX: save a tokenizer.json, as AutoTokenizer.from_pretrained(folder).save_pretrained(folder) of transformers does");
  }

  // Those that stand for something, in their order; otherwise: what they are where files do not say.
  void take_special(std::map<std::string, said_token> const& otherwise) {
    for (char const* const key : keys) {
      auto const own = otherwise.find(key);
      bool const is_said = config_.contains(key);
      if (is_said ? config_[key].is_null() : own == otherwise.end()) continue;
      said_token t = is_said ? token_of(config_[key], true) : own->second;
      if (auto const again = said_again_.find(t.content); is_said && again != said_again_.end()) t = again->second;
      // A name alone is made a token as the class makes one of its own.
      else if (is_said && t.is_name && own != otherwise.end() && !own->second.is_name) t = {t.content, false, own->second.lstrip};
      by_key_.emplace(key, t.content);
      special_.push_back(std::move(t));
    }
    if (auto const at = config_.find(further); at != config_.end() && !at->is_null()) {
      if (!at->is_array()) fail("the additional_special_tokens are no list");
      for (auto const& t : *at) further_.push_back(token_of(t, true));
    }
  }
  // T5's: behind the file's pieces, the last first.
  void take_extra_ids(std::size_t pieces) {
    std::int64_t count = 100;
    if (auto const at = config_.find("extra_ids"); at != config_.end()) {
      if (!at->is_number_integer() || *at < 0 || *at > 1000000) fail("extra_ids is " + io::shown_value(*at));
      count = at->get<std::int64_t>();
    }
    std::int64_t said = 0;
    for (said_token const& t : further_) said += t.content.find("<extra_id_") != std::string::npos;
    if (said > 0 && said != count) fail("extra_ids is " + std::to_string(count) + ", and " + std::to_string(said) + " of the additional_special_tokens are such");
    bool const any = config_.contains(further) && !config_[further].is_null();
    auto const name = [](std::int64_t k) { return "<extra_id_" + std::to_string(k) + '>'; };
    if (said == 0)
      for (std::int64_t k = 0; k < count; ++k) further_.push_back({name(k)});
    if (any && said == 0) return;  // those get ids behind all others, the first first
    for (std::int64_t k = 0; k < count; ++k)
      added_.try_emplace(static_cast<std::int32_t>(static_cast<std::int64_t>(pieces) - 1 + count - k),
                         said_token{.content = name(k), .is_name = false, .lstrip = true, .rstrip = true});
  }

  // Gives special tokens that have none the ids that their names have, or those behind all others. added_first: an added token's name stands for its id
  // before a piece's does.
  void number(piece_names const& names, bool added_first) {
    std::unordered_map<std::string, std::int32_t> ids, added_ids;
    for (auto const& [id, t] : added_)
      if (!added_ids.emplace(t.content, id).second) fail("the added token " + io::shown(t.content) + " has two ids");
    for (std::size_t k = 0; k < names.size(); ++k) {
      auto const id = static_cast<std::int32_t>(k);
      auto const at = added_first ? added_.find(id) : added_.end();
      ids.insert_or_assign(at == added_.end() ? names.name(id).value() : at->second.content, id);
    }
    for (auto const& [name, id] : added_ids) ids.insert_or_assign(name, id);
    auto next = static_cast<std::int32_t>(ids.size());
    std::set<std::string> seen;
    special_.insert(special_.end(), further_.begin(), further_.end());
    std::erase_if(special_, [&](said_token const& t) { return !seen.insert(t.content).second; });
    for (said_token const& t : special_) {
      if (t.content.empty() || (t.is_name && added_ids.contains(t.content))) continue;
      auto const [at, is_new] = ids.emplace(t.content, next);
      next += is_new;
      said_token its = t;
      its.special = true;
      if (auto const there = added_.find(at->second); there != added_.end() && there->second.content != t.content)
        fail("the added tokens " + io::shown(there->second.content) + " and " + io::shown(t.content) + " have the same id");
      added_.insert_or_assign(at->second, std::move(its));
    }
  }

  // What a kind of special tokens is called, as "cls_token"; its id behind number().
  std::optional<std::string> special(std::string const& key) const {
    auto const at = by_key_.find(key);
    return at == by_key_.end() ? std::nullopt : std::optional(at->second);
  }
  std::optional<std::int32_t> special_id(std::string const& key) const {
    if (auto const name = special(key))
      for (auto const& [id, t] : added_)
        if (t.content == *name) return id;
    return std::nullopt;
  }
  std::vector<std::string> special_names() const {
    std::vector<std::string> out;
    for (said_token const& t : special_) out.push_back(t.content);
    return out;
  }
  // Those that are found as they are written where texts become lower case.
  std::vector<std::string> names_in_any_case() const {
    std::vector<std::string> out = special_names();
    for (auto const& [id, t] : added_)
      if (!t.special && t.normalized) out.push_back(t.content);
    std::erase(out, "");
    return out;
  }
  std::vector<added_token> added() const {
    std::vector<added_token> out;
    for (auto const& [id, t] : added_) out.push_back({.content = t.content, .id = id, .lstrip = t.lstrip, .rstrip = t.rstrip, .special = t.special});
    return out;
  }

 private:
  static constexpr char const* keys[] = {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};
  static constexpr char const* further = "additional_special_tokens";

  [[noreturn]] void fail(std::string const& what) const { fail(folder_, what); }

  said_token token_of(nlohmann::json const& token, bool may_be_name) const {
    if (may_be_name && token.is_string()) return {token.get<std::string>()};
    if (!token.is_object() || !token.contains("content") || !token["content"].is_string()) fail("a token is " + io::shown_value(token));
    auto const flag = [&](char const* name, bool otherwise) {
      auto const at = token.find(name);
      if (at == token.end() || at->is_null()) return otherwise;
      if (!at->is_boolean()) fail("of the token " + io::shown(token["content"].get<std::string>()) + ", " + name + " is " + io::shown_value(*at));
      return at->get<bool>();
    };
    if (flag("single_word", false)) fail("the token " + io::shown(token["content"].get<std::string>()) + " is a single_word, which is not known");
    bool const special = flag("special", false);
    return {token["content"].get<std::string>(), false, flag("lstrip", false), flag("rstrip", false), flag("normalized", !special), special};
  }
  void put(nlohmann::json const& id, said_token token) {
    if (!id.is_number_integer() || id < 0 || id > INT32_MAX - 1) fail("the id of the token " + io::shown(token.content) + " is " + io::shown_value(id));
    if (token.content.empty()) fail("an added token is empty");
    auto const name = token.content;
    if (!added_.emplace(id.get<std::int32_t>(), std::move(token)).second) fail("the id of the token " + io::shown(name) + " is another's, too");
  }

  std::filesystem::path folder_;
  nlohmann::json config_;
  std::map<std::int32_t, said_token> added_;
  std::map<std::string, said_token> said_again_;
  std::map<std::string, std::string> by_key_;
  std::vector<said_token> special_, further_;
};

}  // namespace tx::text::detail
