// tokenizer::of: a tokenizer.json part by part, each of a kind that is known or refused by its name.
#pragma once

#include <tx/text/tokenizer.hpp>

namespace tx::text {

namespace detail {

class tokenizer_reader {
 public:
  tokenizer_reader(nlohmann::json const& json, std::string const& source) : json_(json), source_(source) {
    if (!json.is_object()) fail("is no JSON object");
  }

  [[noreturn]] void fail(std::string const& what) const { throw format_error(source_ + ": " + what); }

  nlohmann::json const& part(nlohmann::json const& of, char const* name) const {
    static nlohmann::json const nothing;
    auto const at = of.find(name);
    return at == of.end() ? nothing : *at;
  }
  nlohmann::json const& part(char const* name) const { return part(json_, name); }
  std::string type_of(nlohmann::json const& what, char const* name) const {
    if (what.is_null()) return "";
    if (!what.is_object() || !part(what, "type").is_string()) fail(std::string("the ") + name + " lacks a type");
    return what["type"].get<std::string>();
  }
  bool flag(nlohmann::json const& of, char const* name, bool otherwise) const {
    auto const& at = part(of, name);
    if (at.is_null()) return otherwise;
    if (!at.is_boolean()) fail(std::string(name) + " is " + io::shown_value(at) + ", not true or false");
    return at.get<bool>();
  }
  // A setting that is known with one value alone.
  void only(nlohmann::json const& of, char const* name, nlohmann::json const& value) const {
    auto const& at = part(of, name);
    if (at.is_null() || at == value) return;
    fail(std::string(name) + " is " + io::shown_value(at) + "; known is " + io::shown_value(value));
  }

  bert_rules rules() const {
    auto const& n = part("normalizer");
    if (type_of(n, "normalizer") != "BertNormalizer") fail("a normalizer " + io::shown(type_of(n, "normalizer")) + " is not known beside WordPiece");
    bool const lower = flag(n, "lowercase", true);
    return {.clean = flag(n, "clean_text", true), .ideographs = flag(n, "handle_chinese_chars", true), .strip_accents = flag(n, "strip_accents", lower), .lowercase = lower};
  }
  wordpiece words() const {
    auto const& model = part("model");
    if (auto const type = type_of(part("pre_tokenizer"), "pre_tokenizer"); type != "BertPreTokenizer") fail("a pre_tokenizer " + io::shown(type) + " is not known beside WordPiece");
    only(model, "unk_token", "[UNK]");
    only(model, "continuing_subword_prefix", "##");
    only(model, "max_input_chars_per_word", max_word_characters);
    return wordpiece::of(tokens_by_id(part(model, "vocab"), source_), source_, rules());
  }

  bool prefix_space() const {
    auto const& p = part("pre_tokenizer");
    if (type_of(p, "pre_tokenizer") != "ByteLevel") fail("a pre_tokenizer " + io::shown(type_of(p, "pre_tokenizer")) + " is not known beside BPE");
    only(p, "use_regex", true);
    return flag(p, "add_prefix_space", true);
  }
  byte_pairs pairs() const {
    auto const& model = part("model");
    if (!part("normalizer").is_null()) fail("a normalizer " + io::shown(type_of(part("normalizer"), "normalizer")) + " is not known beside BPE");
    only(model, "continuing_subword_prefix", "");
    only(model, "end_of_word_suffix", "");
    only(model, "dropout", 0.0);
    only(model, "byte_fallback", false);
    only(model, "ignore_merges", false);
    auto const& merges = part(model, "merges");
    if (!merges.is_array()) fail("the merges are no list");
    std::vector<byte_pairs::merge> all;
    for (auto const& m : merges) {
      std::optional<byte_pairs::merge> two;
      if (m.is_string()) two = byte_pairs::merge_of(m.get_ref<std::string const&>());
      else if (m.is_array() && m.size() == 2 && m[0].is_string() && m[1].is_string()) two = {m[0].get<std::string>(), m[1].get<std::string>()};
      if (!two) fail("merge number " + std::to_string(all.size() + 1) + " is not of two tokens");
      all.push_back(*std::move(two));
    }
    return byte_pairs(part(model, "vocab"), all, source_);
  }

  added_tokens added() const {
    std::vector<added_token> out;
    auto const& list = part("added_tokens");
    if (!list.is_null() && !list.is_array()) fail("added_tokens are no list");
    for (auto const& t : list) {
      if (!t.is_object() || !part(t, "content").is_string()) fail("an added token has no content");
      auto const content = t["content"].get<std::string>();
      auto const& id = part(t, "id");
      if (content.empty()) fail("an added token is empty");
      if (!id.is_number_integer() || id < 0 || id > INT32_MAX - 1) fail("the id of " + io::shown(content) + " is " + io::shown_value(id));
      if (flag(t, "normalized", false) && !part("normalizer").is_null()) fail("the added token " + io::shown(content) + " is found in normalized text, which is not known");
      out.push_back({content, id.get<std::int32_t>(), flag(t, "single_word", false), flag(t, "lstrip", false), flag(t, "rstrip", false)});
    }
    return added_tokens(std::move(out));
  }
  token_template around() const { return token_template::of(part("post_processor"), source_); }

 private:
  nlohmann::json const& json_;
  std::string const& source_;
};

}  // namespace detail

inline tokenizer tokenizer::of(nlohmann::json const& json, std::string const& source) {
  detail::tokenizer_reader const read(json, source);
  std::string const type = read.type_of(read.part("model"), "model");
  auto const checked = [&](tokenizer&& t) {
    for (auto const* parts : {&t.template_.single, &t.template_.pair})
      for (template_part const& p : *parts)
        if (static_cast<std::size_t>(p.id) >= t.size()) read.fail("the post_processor names the id " + std::to_string(p.id) + ", which no token has");
    return std::move(t);
  };
  if (type == "WordPiece") return checked({read.words(), false, read.added(), read.around()});
  if (type == "BPE") return checked({read.pairs(), read.prefix_space(), read.added(), read.around()});
  read.fail("a model " + io::shown(type) + " is not known");
}

}  // namespace tx::text
