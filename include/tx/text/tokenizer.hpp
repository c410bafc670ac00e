// The tokenizer of a model's folder: what tokenizer.json says or, where there is none, vocab.txt or vocab.json and merges.txt.
//
//   auto const coder = tx::text::tokenizer::load("all-MiniLM-L6-v2");
//   tx::text::encoding const e = coder.encode("How old are you?", {.most = 128});   // e.ids: [CLS] how old are you ? [SEP]
//   coder.encode(question, answer, {.most = 512, .how = tx::text::truncation::only_second});
//
// Known are WordPiece with BERT's normalizer and byte pairs with GPT-2's splitting; every other part of a file is refused by its name. What a file says of
// truncation and padding is not looked at: that is the caller's to say.
#pragma once

#include <tx/text/added_tokens.hpp>
#include <tx/text/byte_pairs.hpp>
#include <tx/text/token_template.hpp>
#include <tx/text/truncation.hpp>
#include <tx/text/wordpiece.hpp>

#include <variant>

namespace tx::text {

struct encoding {
  std::vector<std::int32_t> ids, types;  // of as many tokens
};

struct encode_options {
  std::size_t most = 0;  // tokens, those of the template too; 0: as many as there are
  truncation how = truncation::longest_first;
  bool special_tokens = true;  // the template's
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
    if (has("vocab.txt")) return of_bert(wordpiece::load(file("vocab.txt"), rules_of_folder(path)));
    if (has("vocab.json") && has("merges.txt")) return of_roberta(byte_pairs::load(file("vocab.json"), file("merges.txt")));
    throw io_error("no tokenizer in " + path.string() + ": neither tokenizer.json nor vocab.txt nor vocab.json with merges.txt");
  }
  static tokenizer of(nlohmann::json const& json, std::string const& source);
  // BERT's tokens around texts, and its five special tokens found in them.
  static tokenizer of_bert(wordpiece words) {
    std::int32_t const cls = words.cls_id(), sep = words.sep_id();
    std::vector<added_token> added;
    for (std::int32_t const id : {words.pad_id(), words.unk_id(), cls, sep, words.mask_id()}) added.push_back({words.tokens()[static_cast<std::size_t>(id)], id});
    return {std::move(words), false, added_tokens(std::move(added)), token_template::bert(cls, sep)};
  }

  std::size_t size() const { return size_; }  // ids are below it
  // Of a token by its name.
  std::optional<std::int32_t> id(std::string const& name) const {
    for (added_token const& t : added_.all())
      if (t.content == name) return t.id;
    return std::visit([&](auto const& m) { return m.id(name); }, model_);
  }

  // The ids of a text alone.
  std::vector<std::int32_t> ids_of(std::string_view text) const {
    std::vector<std::int32_t> out;
    added_.split(
        text,
        [&](std::string_view part) {
          std::string spaced;
          if (prefix_space_ && !part.starts_with(' ')) part = spaced = ' ' + std::string(part);
          auto const ids = std::visit([&](auto const& m) { return m.encode(part); }, model_);
          out.insert(out.end(), ids.begin(), ids.end());
        },
        [&](std::int32_t id) { out.push_back(id); });
    return out;
  }
  // Throws value_error where the template's tokens alone are more than `most`, and as kept() does.
  encoding encode(std::string_view text, encode_options const& options = {}) const { return around(template_.single, ids_of(text), {}, options); }
  encoding encode(std::string_view first, std::string_view second, encode_options const& options = {}) const {
    return around(template_.pair, ids_of(first), ids_of(second), options);
  }

 private:
  tokenizer(std::variant<wordpiece, byte_pairs> model, bool prefix_space, added_tokens added, token_template around)
      : model_(std::move(model)), prefix_space_(prefix_space), added_(std::move(added)), template_(std::move(around)) {
    size_ = std::visit([](auto const& m) { return m.size(); }, model_);
    for (added_token const& t : added_.all()) size_ = std::max(size_, static_cast<std::size_t>(t.id) + 1);
  }

  static tokenizer of_roberta(byte_pairs pairs) {
    std::vector<added_token> added;
    for (char const* const name : {"<s>", "</s>", "<unk>", "<pad>", "<mask>", "<|endoftext|>"})
      if (auto const id = pairs.id(name)) added.push_back({name, *id, false, std::string_view(name) == "<mask>"});
    token_template around;
    if (auto const begin = pairs.id("<s>"), end = pairs.id("</s>"); begin && end) around = token_template::roberta(*begin, *end);
    return {std::move(pairs), false, added_tokens(std::move(added)), std::move(around)};
  }
  // tokenizer_config.json says whether a vocab.txt is of lower-case words; if nothing does, it is.
  static bert_rules rules_of_folder(std::filesystem::path const& path) {
    bert_rules rules = bert_uncased;
    if (!std::filesystem::exists(path / "tokenizer_config.json")) return rules;
    nlohmann::json const config = io::read_json(path / "tokenizer_config.json");
    auto const say = [&](char const* name, bool& what) {
      if (auto const at = config.find(name); at != config.end() && at->is_boolean()) what = at->get<bool>();
    };
    say("do_lower_case", rules.lowercase);
    rules.strip_accents = rules.lowercase;
    say("strip_accents", rules.strip_accents);
    say("tokenize_chinese_chars", rules.ideographs);
    return rules;
  }

  encoding around(std::vector<template_part> const& parts, std::vector<std::int32_t> const& first, std::vector<std::int32_t> const& second, encode_options const& o) const {
    std::size_t const own = o.special_tokens ? token_template::tokens_in(parts) : 0;
    std::size_t const room = o.most == 0 ? first.size() + second.size() : o.most - std::min(o.most, own);
    if (o.most != 0 && o.most < own && o.how != truncation::none)
      throw value_error("no room for the " + std::to_string(own) + " tokens around a text: at most " + std::to_string(o.most) + " are wanted");
    auto const [of_first, of_second] = kept(first.size(), second.size(), room, o.how);
    encoding out;
    for (template_part const& p : parts) {
      if (p.kind == template_part::what::token) {
        if (o.special_tokens) out.ids.push_back(p.id);
      } else {
        auto const& from = p.kind == template_part::what::first ? first : second;
        auto const n = static_cast<std::ptrdiff_t>(p.kind == template_part::what::first ? of_first : of_second);
        out.ids.insert(out.ids.end(), from.begin(), from.begin() + n);
      }
      out.types.resize(out.ids.size(), p.type);
    }
    return out;
  }

  std::variant<wordpiece, byte_pairs> model_;
  bool prefix_space_;
  added_tokens added_;
  token_template template_;
  std::size_t size_ = 0;
};

}  // namespace tx::text

#include <tx/text/tokenizer_json.hpp>
