// The tokenizer of a model's folder: what tokenizer.json says or, where there is none, vocab.txt, vocab.json and merges.txt, or a file of SentencePiece.
//
//   auto const coder = tx::text::tokenizer::load("all-MiniLM-L6-v2");
//   tx::text::encoding const e = coder.encode("How old are you?", {.most = 128});   // e.ids: [CLS] how old are you ? [SEP]
//   coder.encode(question, answer, {.most = 512, .how = tx::text::truncation::only_second});
//
// Known are WordPiece with BERT's normalizer, byte pairs with GPT-2's splitting, and Unigram as T5, XLM-R and DeBERTa have it; every other part of a file is
// refused by its name. What a file says of truncation and padding is not looked at: that is the caller's to say.
#pragma once

#include <tx/text/added_tokens.hpp>
#include <tx/text/byte_pairs.hpp>
#include <tx/text/range_trim.hpp>
#include <tx/text/sentencepiece.hpp>
#include <tx/text/token_template.hpp>
#include <tx/text/tokenizer_settings.hpp>
#include <tx/text/truncation.hpp>
#include <tx/text/unigram_text.hpp>
#include <tx/text/wordpiece.hpp>

#include <variant>

namespace tx::text {

struct encoding {
  std::vector<std::int32_t> ids, types;  // of as many tokens
  // If options ask for it, where each token lies in its text, in bytes: the first text, or the second for tokens of that. Those of the template are empty, at 0.
  // A token of a part of what a character became, or of a part of its bytes, has the range of the whole character, so ranges may overlap.
  std::vector<text_range> ranges;
};

struct encode_options {
  std::size_t most = 0;  // tokens, those of the template too; 0: as many as there are
  truncation how = truncation::longest_first;
  bool special_tokens = true;  // the template's
  bool ranges = false;         // encoding::ranges is wanted
};

// Const members may be called from several threads.
class tokenizer {
 public:
  // path: a folder, or a tokenizer.json. Throws io_error, or format_error naming the file and the part of it that is not known or not right.
  static tokenizer load(std::filesystem::path const& path) {
    if (!std::filesystem::is_directory(path)) return of(io::read_json(path), path.string());
    auto const file = [&](char const* name) { return path / name; };
    auto const has = [&](char const* name) { return std::filesystem::exists(path / name); };
    if (has("tokenizer.json")) return of(io::read_json(file("tokenizer.json")), file("tokenizer.json").string());
    if (has("vocab.txt")) {
      tokenizer_settings const said(path, {"Bert", "DistilBert", "Electra"});
      return said.checked(of_bert(wordpiece::load(file("vocab.txt"), said.words())));
    }
    if (has("vocab.json") && has("merges.txt")) {
      tokenizer_settings const said(path, {"Roberta", "GPT2"});
      return said.checked(of_roberta(byte_pairs::load(file("vocab.json"), file("merges.txt")), said.prefix_space()));
    }
    for (char const* const name : {"spiece.model", "spm.model", "sentencepiece.bpe.model"})
      if (has(name)) return of_sentencepiece(sentencepiece::load(file(name)));
    throw io_error("no tokenizer in " + path.string() + ": neither tokenizer.json nor vocab.txt nor vocab.json with merges.txt nor a file of SentencePiece");
  }
  static tokenizer of(nlohmann::json const& json, std::string const& source);
  // BERT's tokens around texts, and its five special tokens found in them.
  static tokenizer of_bert(wordpiece words) {
    std::int32_t const cls = words.cls_id(), sep = words.sep_id();
    std::vector<added_token> added;
    for (std::int32_t const id : {words.pad_id(), words.unk_id(), cls, sep, words.mask_id()}) added.push_back({words.tokens()[static_cast<std::size_t>(id)], id});
    return {std::move(words), false, added_tokens(std::move(added)), {}, token_template::bert(cls, sep), {}};
  }
  // The ids of its own package: nothing is put around texts, and no special token found in them.
  static tokenizer of_sentencepiece(sentencepiece pieces) { return {std::move(pieces), false, {}, {}, {}, {}}; }

  std::size_t size() const { return size_; }  // ids are below it
  // Of a token by its name.
  std::optional<std::int32_t> id(std::string const& name) const {
    if (auto const special = special_id(name)) return special;
    return std::visit([&](auto const& m) { return m.id(name); }, model_);
  }

  // Whether a token of WordPiece goes on with a word, as "##ing"; false of others.
  bool goes_on(std::int32_t id) const {
    auto const* const words = std::get_if<wordpiece>(&model_);
    return words != nullptr && id >= 0 && static_cast<std::size_t>(id) < words->size() && words->tokens()[static_cast<std::size_t>(id)].starts_with("##");
  }
  // Of an added token by its name.
  std::optional<std::int32_t> special_id(std::string const& name) const {
    for (auto const* tokens : {&added_, &behind_})
      for (added_token const& t : tokens->all())
        if (t.content == name) return t.id;
    return std::nullopt;
  }
  // The ids of a text alone.
  std::vector<std::int32_t> ids_of(std::string_view text) const { return tokens_of<false>(text).ids; }
  // Throws value_error where the template's tokens alone are more than `most`, and as kept() does.
  encoding encode(std::string_view text, encode_options const& options = {}) const { return around(template_.single, tokens_of(text, options), {}, options); }
  encoding encode(std::string_view first, std::string_view second, encode_options const& options = {}) const {
    return around(template_.pair, tokens_of(first, options), tokens_of(second, options), options);
  }

 private:
  using model = std::variant<wordpiece, byte_pairs, unigram_text, sentencepiece>;

  // behind: added tokens that are looked for where none of `added` was found. trims: of each part of the file that trims ranges, whether it takes a space
  // for put before texts.
  tokenizer(model m, bool prefix_space, added_tokens added, added_tokens behind, token_template around, std::vector<bool> trims)
      : model_(std::move(m)), prefix_space_(prefix_space), added_(std::move(added)), behind_(std::move(behind)), template_(std::move(around)), trims_(std::move(trims)) {
    size_ = std::visit([](auto const& each) { return each.size(); }, model_);
    for (auto const* tokens : {&added_, &behind_})
      for (added_token const& t : tokens->all()) size_ = std::max(size_, static_cast<std::size_t>(t.id) + 1);
  }

  token_list tokens_of(std::string_view text, encode_options const& options) const { return options.ranges ? tokens_of<true>(text) : tokens_of<false>(text); }
  template <bool Ranges>
  token_list tokens_of(std::string_view text) const {
    token_list out;
    std::vector<std::size_t> found;  // which are added tokens
    auto const cut = [&](std::string_view part) {
      auto const begin = static_cast<std::size_t>(part.data() - text.data());
      std::visit(
          [&](auto const& m) {
            if constexpr (std::is_same_v<decltype(m), byte_pairs const&>) m.template append<Ranges>(part, begin, prefix_space_ && !part.starts_with(' '), out);
            else m.template append<Ranges>(part, begin, out);
          },
          model_);
    };
    auto const take = [&](std::int32_t id, text_range where) {
      if constexpr (Ranges) {
        found.push_back(out.ids.size());
        out.ranges.push_back(where);
      }
      out.ids.push_back(id);
    };
    auto const look_again = [&](std::string_view part) {
      auto const begin = static_cast<std::size_t>(part.data() - text.data());
      behind_.split(part, cut, [&](std::int32_t id, text_range where) { take(id, {begin + where.begin, begin + where.end}); });
    };
    if (behind_.all().empty()) added_.split(text, cut, take);
    else added_.split(text, look_again, take);
    if constexpr (Ranges)
      if (auto const whole = out.ranges; !trims_.empty())
        for (bool const after_space : trims_) trim(text, whole, found, after_space, out);
    return out;
  }
  void trim(std::string_view text, std::vector<text_range> const& whole, std::vector<std::size_t> const& found, bool after_space, token_list& tokens) const {
    auto const* const bytes = std::get_if<byte_pairs>(&model_);
    auto next = found.begin();
    for (std::size_t k = 0; k < tokens.ids.size(); ++k) {
      text_range& r = tokens.ranges[k];
      bool const is_found = next != found.end() && *next == k;
      if (is_found) ++next;
      detail::blank_ends const blank = is_found           ? detail::blank_ends_of_text(text.substr(whole[k].begin, whole[k].end - whole[k].begin))
                                       : bytes != nullptr ? detail::blank_ends_of_bytes(bytes->bytes(tokens.ids[k]))
                                                          : detail::blank_ends{};
      r = detail::trimmed(r, blank, text, after_space && (k == 0 || r.begin == 0));
    }
  }

  static tokenizer of_roberta(byte_pairs pairs, bool prefix_space) {
    std::vector<added_token> added;
    for (char const* const name : {"<s>", "</s>", "<unk>", "<pad>", "<mask>", "<|endoftext|>"})
      if (auto const id = pairs.id(name)) added.push_back({name, *id, false, std::string_view(name) == "<mask>"});
    token_template around;
    if (auto const begin = pairs.id("<s>"), end = pairs.id("</s>"); begin && end) around = token_template::roberta(*begin, *end);
    return {std::move(pairs), prefix_space, added_tokens(std::move(added)), {}, std::move(around), {false}};
  }
  encoding around(std::vector<template_part> const& parts, token_list const& first, token_list const& second, encode_options const& o) const {
    std::size_t const own = o.special_tokens ? token_template::tokens_in(parts) : 0;
    std::size_t const room = o.most == 0 ? first.ids.size() + second.ids.size() : o.most - std::min(o.most, own);
    if (o.most != 0 && o.most < own && o.how != truncation::none)
      throw value_error("no room for the " + std::to_string(own) + " tokens around a text: at most " + std::to_string(o.most) + " are wanted");
    auto const [of_first, of_second] = kept(first.ids.size(), second.ids.size(), room, o.how);
    encoding out;
    for (template_part const& p : parts) {
      if (p.kind == template_part::what::token) {
        if (o.special_tokens) out.ids.push_back(p.id);
      } else {
        auto const& from = p.kind == template_part::what::first ? first : second;
        auto const n = static_cast<std::ptrdiff_t>(p.kind == template_part::what::first ? of_first : of_second);
        out.ids.insert(out.ids.end(), from.ids.begin(), from.ids.begin() + n);
        if (o.ranges) out.ranges.insert(out.ranges.end(), from.ranges.begin(), from.ranges.begin() + n);
      }
      out.types.resize(out.ids.size(), p.type);
      if (o.ranges) out.ranges.resize(out.ids.size());
    }
    return out;
  }

  model model_;
  bool prefix_space_;
  added_tokens added_, behind_;
  token_template template_;
  std::vector<bool> trims_;
  std::size_t size_ = 0;
};

}  // namespace tx::text

#include <tx/text/tokenizer_json.hpp>
