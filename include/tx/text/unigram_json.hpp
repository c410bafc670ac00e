// A tokenizer.json whose model is Unigram, as those of T5, XLM-R and DeBERTa are.
#pragma once

#include <tx/text/base64.hpp>
#include <tx/text/json_parts.hpp>
#include <tx/text/unigram_text.hpp>

namespace tx::text::detail {

class unigram_reader {
 public:
  explicit unigram_reader(json_parts const& file) : file_(file) {}

  // added: tokens that are found in changed texts.
  unigram_text read(std::vector<added_token> added) const {
    std::vector<text_change> changes;
    for (auto const* n : file_.each_of(file_.part("normalizer"), "normalizer", "normalizers")) changes.push_back(change(*n));
    std::vector<text_split> splits;
    for (auto const* p : file_.each_of(file_.part("pre_tokenizer"), "pre_tokenizer", "pretokenizers")) splits.push_back(split(*p));
    return {model(), std::move(changes), std::move(splits), std::move(added)};
  }

 private:
  unigram model() const {
    auto const& m = file_.part("model");
    auto const& list = file_.part(m, "vocab");
    if (!list.is_array()) file_.fail("the vocabulary is no list of pieces with scores");
    auto const& unknown = file_.part(m, "unk_id");
    if (!unknown.is_number_integer() || unknown < 0 || unknown >= list.size()) file_.fail("the unk_id is " + io::shown_value(unknown) + ", which no piece has");
    std::vector<unigram::piece> pieces;
    pieces.reserve(list.size());
    for (auto const& p : list) {
      if (!p.is_array() || p.size() != 2 || !p[0].is_string() || !p[1].is_number())
        file_.fail("the piece " + std::to_string(pieces.size()) + " is not a text with a score");
      pieces.emplace_back(p[0].get<std::string>(), p[1].get<double>());
    }
    return unigram(std::move(pieces), unknown.get<std::size_t>(), file_.flag(m, "byte_fallback", false), file_.source());
  }

  text_change change(nlohmann::json const& n) const {
    std::string const type = file_.type_of(n, "normalizer");
    if (type == "Precompiled") {
      auto const bytes = bytes_of_base64(file_.text(n, "precompiled_charsmap"));
      if (!bytes) file_.fail("the precompiled_charsmap is no base64");
      return mapped_characters(std::make_shared<charsmap const>(*bytes, file_.source()));
    }
    if (type == "Replace") return replace(n);
    if (type == "Strip") return stripped_spaces{file_.flag(n, "strip_left", true), file_.flag(n, "strip_right", true)};
    if (type == "Lowercase") return lower_case{};
    if (type == "Prepend") {
      std::string what = file_.text(n, "prepend");
      if (what.empty()) file_.fail("prepend is empty");
      return put_before{std::move(what)};
    }
    file_.fail("a normalizer " + io::shown(type) + " is not known beside Unigram");
  }
  text_change replace(nlohmann::json const& n) const {
    auto const& pattern = file_.part(n, "pattern");
    std::string by = file_.text(n, "content");
    if (!pattern.is_object()) file_.fail("the pattern of Replace is " + io::shown_value(pattern));
    if (auto const& text = file_.part(pattern, "String"); text.is_string() && text != "") return replaced_strings(text.get<std::string>(), std::move(by));
    auto const& expression = file_.part(pattern, "Regex");
    if (expression != " {2,}") {
      std::string const shown = io::shown_value(pattern.empty() ? pattern : pattern.begin().value());
      file_.fail("the pattern of Replace is " + shown + "; known are texts and the expression ' {2,}'");
    }
    return replaced_strings("", std::move(by));
  }

  text_split split(nlohmann::json const& p) const {
    std::string const type = file_.type_of(p, "pre_tokenizer");
    if (type == "WhitespaceSplit") return spaced_words{};
    if (type != "Metaspace") file_.fail("a pre_tokenizer " + io::shown(type) + " is not known beside Unigram");
    std::string mark = file_.text(p, "replacement");
    if (mark.empty() || io::decode_utf8(mark, 0).length != mark.size()) file_.fail("the replacement " + io::shown(mark) + " is not one character");
    std::string const place = file_.part(p, "prepend_scheme").is_null() ? "always" : file_.text(p, "prepend_scheme");
    marked_words out{std::move(mark), mark_place::never, file_.flag(p, "split", true)};
    if (place == "always") out.place = mark_place::always;
    else if (place == "first") out.place = mark_place::first;
    else if (place != "never") file_.fail("the prepend_scheme " + io::shown(place) + " is not known");
    // As files of older versions say it.
    if (!file_.flag(p, "add_prefix_space", true)) {
      if (!file_.part(p, "prepend_scheme").is_null() && out.place != mark_place::never) file_.fail("the prepend_scheme " + io::shown(place) + " is not what add_prefix_space says");
      out.place = mark_place::never;
    }
    return out;
  }

  json_parts const& file_;
};

}  // namespace tx::text::detail
