// What a tokenizer.json lists under normalizer, but for BERT's, which comes with its words.
#pragma once

#include <tx/text/base64.hpp>
#include <tx/text/json_parts.hpp>
#include <tx/text/text_changes.hpp>

#include <string>
#include <vector>

namespace tx::text::detail {

// The pattern of Replace, in a normalizer or a decoder, and what it becomes.
inline replaced_strings replaced_strings_of(json_parts const& file, nlohmann::json const& n) {
  auto const& pattern = file.part(n, "pattern");
  std::string by = file.text(n, "content");
  if (!pattern.is_object()) file.fail("the pattern of Replace is " + io::shown_value(pattern));
  if (auto const& text = file.part(pattern, "String"); text.is_string() && text != "") return replaced_strings(text.get<std::string>(), std::move(by));
  auto const& expression = file.part(pattern, "Regex");
  if (expression != " {2,}") {
    std::string const shown = io::shown_value(pattern.empty() ? pattern : pattern.begin().value());
    file.fail("the pattern of Replace is " + shown + "; known are texts and the expression ' {2,}'");
  }
  return replaced_strings("", std::move(by));
}

inline text_change text_change_of(json_parts const& file, nlohmann::json const& n) {
  std::string const type = file.type_of(n, "normalizer");
  if (type == "NFC") return normal_form{.similar = false, .composed = true};
  if (type == "NFD") return normal_form{.similar = false, .composed = false};
  if (type == "NFKC") return normal_form{.similar = true, .composed = true};
  if (type == "NFKD") return normal_form{.similar = true, .composed = false};
  if (type == "StripAccents") return filtered_characters::without_accents();
  if (type == "Nmt") return filtered_characters::nmt();
  if (type == "Replace") return replaced_strings_of(file, n);
  if (type == "Strip") return stripped_spaces{file.flag(n, "strip_left", true), file.flag(n, "strip_right", true)};
  if (type == "Lowercase") return lower_case{};
  if (type == "Precompiled") {
    auto const bytes = bytes_of_base64(file.text(n, "precompiled_charsmap"));
    if (!bytes) file.fail("the precompiled_charsmap is no base64");
    return mapped_characters(std::make_shared<charsmap const>(*bytes, file.source()));
  }
  if (type == "Prepend") {
    std::string what = file.text(n, "prepend");
    if (what.empty()) file.fail("prepend is empty");
    return put_before{std::move(what)};
  }
  if (type == "BertNormalizer") file.fail("a normalizer 'BertNormalizer' is known as the last one beside WordPiece alone. FIX: put it last, or list what it does: NFD, StripAccents, Lowercase");
  file.fail("a normalizer " + io::shown(type) + " is not known. FIX: one of NFC, NFD, NFKC, NFKD, StripAccents, Nmt, Strip, Lowercase, Prepend, Replace, Precompiled, or a Sequence of them");
}

// All of them, but for the last `besides`.
inline std::vector<text_change> text_changes_of(json_parts const& file, std::size_t besides = 0) {
  auto const all = file.each_of(file.part("normalizer"), "normalizer", "normalizers");
  std::vector<text_change> out;
  for (std::size_t k = 0; k + besides < all.size(); ++k) out.push_back(text_change_of(file, *all[k]));
  return out;
}

}  // namespace tx::text::detail
