// tokenizer::of: a tokenizer.json part by part, each of a kind that is known or refused by its name.
#pragma once

#include <tx/text/decoder_json.hpp>
#include <tx/text/json_parts.hpp>
#include <tx/text/tokenizer.hpp>
#include <tx/text/unigram_json.hpp>

#include <set>
#include <string_view>
#include <unordered_map>

namespace tx::text {

namespace detail {

class tokenizer_reader : public json_parts {
 public:
  using json_parts::json_parts;

  // How WordPiece's words are told: BERT's normalizer comes with them, others have changed texts before.
  bert_rules rules() const {
    if (!ends_in_bert()) return {.clean = false, .ideographs = false, .strip_accents = false, .lowercase = false};
    auto const& n = *normalizers().back();
    bool const lower = flag(n, "lowercase", true);
    return {.clean = flag(n, "clean_text", true), .ideographs = flag(n, "handle_chinese_chars", true), .strip_accents = flag(n, "strip_accents", lower), .lowercase = lower};
  }
  std::vector<text_change> changes() const { return text_changes_of(*this, type_of(part("model"), "model") == "WordPiece" && ends_in_bert() ? 1 : 0); }
  wordpiece words() const {
    auto const& model = part("model");
    if (auto const type = type_of(part("pre_tokenizer"), "pre_tokenizer"); type != "BertPreTokenizer") fail("a pre_tokenizer " + io::shown(type) + " is not known beside WordPiece");
    only(model, "unk_token", "[UNK]");
    only(model, "continuing_subword_prefix", "##");
    only(model, "max_input_chars_per_word", max_word_characters);
    return wordpiece::of(tokens_by_id(part(model, "vocab"), source()), source(), rules());
  }

  bool prefix_space() const {
    auto const& p = part("pre_tokenizer");
    if (type_of(p, "pre_tokenizer") != "ByteLevel") fail("a pre_tokenizer " + io::shown(type_of(p, "pre_tokenizer")) + " is not known beside BPE");
    only(p, "use_regex", true);
    return flag(p, "add_prefix_space", true);
  }
  byte_pairs pairs() const {
    auto const& model = part("model");
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
    return byte_pairs(part(model, "vocab"), all, source());
  }

  // Those that are found in texts as they are written, or those that are found in what texts are changed to, which are looked for behind the others.
  std::vector<added_token> added(bool changed) const {
    std::vector<added_token> out;
    auto const& list = part("added_tokens");
    if (!list.is_null() && !list.is_array()) fail("added_tokens are no list");
    for (auto const& t : list) {
      if (!t.is_object() || !part(t, "content").is_string()) fail("an added token has no content");
      auto const content = t["content"].get<std::string>();
      auto const& id = part(t, "id");
      if (content.empty()) fail("an added token is empty");
      if (!id.is_number_integer() || id < 0 || id > INT32_MAX - 1) fail("the id of " + io::shown(content) + " is " + io::shown_value(id));
      if (flag(t, "normalized", false) != changed) continue;
      out.push_back({content, id.get<std::int32_t>(), flag(t, "single_word", false), flag(t, "lstrip", false), flag(t, "rstrip", false), flag(t, "special", false)});
    }
    return out;
  }
  added_tokens added_behind() const {
    auto out = added(true);
    if (!out.empty() && ends_in_bert())
      fail("the added token " + io::shown(out.front().content) + " is found in text that BERT's normalizer has changed, which is not known. FIX: add it with normalized=False");
    return added_tokens(with_changed_names(std::move(out), changes()));
  }
  // An added token that the model has, has the model's id, of equal pieces that of the last; others have those behind it, in order, each name and id once:
  // what other files say, their own reader corrects in ways of its own. One that is found in changed texts must have a name in those.
  void check_added() const {
    nlohmann::json const& vocabulary = part(part("model"), "vocab");  // a list of [token, number], or an object of ids by token
    std::unordered_map<std::string_view, std::int64_t> places;  // in the list
    if (vocabulary.is_array() && !part("added_tokens").empty())
      for (std::int64_t place = 0; auto const& piece : vocabulary) places.insert_or_assign(piece[0].get_ref<std::string const&>(), place++);
    auto const id_in_vocabulary = [&](std::string const& name) -> std::optional<std::int64_t> {
      if (vocabulary.is_array()) {
        auto const at = places.find(name);
        return at == places.end() ? std::nullopt : std::optional(at->second);
      }
      auto const at = vocabulary.find(name);
      return at == vocabulary.end() ? std::nullopt : std::optional(at->get<std::int64_t>());
    };
    auto next = static_cast<std::int64_t>(vocabulary.size());
    std::set<std::string> names;
    for (auto const& t : part("added_tokens")) {
      auto const& content = t["content"].get_ref<std::string const&>();
      auto const said = t["id"].get<std::int64_t>();
      if (!names.insert(content).second) fail("the added token " + io::shown(content) + " is given twice");
      auto const own = id_in_vocabulary(content);
      std::int64_t const wanted = own ? *own : next++;
      if (said != wanted) fail("the id of the added token " + io::shown(content) + " is " + std::to_string(said) + ", not " + std::to_string(wanted));
    }
    auto const all = changes();
    for (added_token const& t : added(true))
      if (changed_by(all, t.content).empty())
        fail("the added token " + io::shown(t.content) + " is found in changed text, in which nothing is left of it. FIX: add it with normalized=False");
  }
  token_decoder decoder() const {
    token_decoder out = decoder_reader(*this).read();
    out.add(added(false));
    if (auto const behind = added(true); !behind.empty() && !ends_in_bert()) {
      auto const all = changes();
      for (added_token const& t : behind) out.add(t, changed_by(all, t.content));
    }
    return out;
  }
  token_template around() const { return token_template::of(part("post_processor"), source()); }
  std::vector<bool> trims() const {
    std::vector<bool> out;
    for (auto const* p : each_of(part("post_processor"), "post_processor", "processors"))
      if (auto const type = type_of(*p, "post_processor"); (type == "ByteLevel" || type == "RobertaProcessing") && flag(*p, "trim_offsets", true))
        out.push_back(flag(*p, "add_prefix_space", true));
    return out;
  }

 private:
  std::vector<nlohmann::json const*> normalizers() const { return each_of(part("normalizer"), "normalizer", "normalizers"); }
  bool ends_in_bert() const {
    auto const all = normalizers();
    return !all.empty() && type_of(*all.back(), "normalizer") == "BertNormalizer";
  }
};

}  // namespace detail

inline tokenizer tokenizer::of(nlohmann::json const& json, std::string const& source) {
  detail::tokenizer_reader const read(json, source);
  std::string const type = read.type_of(read.part("model"), "model");
  auto const checked = [&](tokenizer&& t) {
    read.check_added();
    for (auto const* parts : {&t.how_.around.single, &t.how_.around.pair})
      for (template_part const& p : *parts)
        if (static_cast<std::size_t>(p.id) >= t.size()) read.fail("the post_processor names the id " + std::to_string(p.id) + ", which no token has");
    return std::move(t);
  };
  surroundings how{.added = added_tokens(read.added(false)), .around = read.around(), .trims = read.trims(), .decoder = read.decoder()};
  if (type == "Unigram") return checked({detail::unigram_reader(read).read(read.added(true)), std::move(how)});
  if (type == "WordPiece" || type == "BPE") {
    how.changes = read.changes();
    how.behind = read.added_behind();
    if (type == "WordPiece") return checked({read.words(), std::move(how)});
    how.prefix_space = read.prefix_space();
    return checked({read.pairs(), std::move(how)});
  }
  read.fail("a model " + io::shown(type) + " is not known");
}

}  // namespace tx::text
