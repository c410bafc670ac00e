// tokenizer::load: that of a model's folder, with a tokenizer.json or as older ones are.
#pragma once

#include <tx/text/named_pieces_folder.hpp>
#include <tx/text/tokenizer.hpp>
#include <tx/text/tokenizer_settings.hpp>

#include <string_view>

namespace tx::text {

inline tokenizer tokenizer::load(std::filesystem::path const& path) {
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
    return said.checked(of_byte_pairs(byte_pairs::load(file("vocab.json"), file("merges.txt")), said.prefix_space(), said.is_of("GPT2")));
  }
  for (char const* const name : {"spiece.model", "spm.model", "sentencepiece.bpe.model"}) {
    if (!has(name)) continue;
    detail::named_pieces_folder const said(path);
    if (!said.is_known()) return of_sentencepiece(sentencepiece::load(file(name)));
    auto [pieces, around, added] = said.read();
    token_decoder decoder = token_decoder::refused("a file of SentencePiece says nothing of decoding. FIX: a tokenizer.json of the model");
    decoder.add(added);
    return {std::move(pieces), {.around = std::move(around), .decoder = std::move(decoder), .odd_to_first = true}};
  }
  throw io_error("no tokenizer in " + path.string() + ": neither tokenizer.json nor vocab.txt nor vocab.json with merges.txt nor a file of SentencePiece");
}

inline tokenizer tokenizer::of_bert(wordpiece words) {
  std::int32_t const cls = words.cls_id(), sep = words.sep_id();
  std::vector<added_token> added;
  for (std::int32_t const id : {words.pad_id(), words.unk_id(), cls, sep, words.mask_id()}) added.push_back({.content = words.tokens()[static_cast<std::size_t>(id)], .id = id, .special = true});
  token_decoder decoder({detail::joined_words{"##", true}});
  decoder.add(added);
  return {std::move(words), {.added = added_tokens(std::move(added)), .around = token_template::bert(cls, sep), .decoder = std::move(decoder)}};
}

inline tokenizer tokenizer::of_byte_pairs(byte_pairs pairs, bool prefix_space, bool is_gpt2) {
  // GPT-2's, which puts nothing around texts and leaves ranges as they are, or RoBERTa's: where no file says which, the latter has tokens for the ends of texts.
  std::vector<added_token> added;
  for (char const* const name : {"<s>", "</s>", "<unk>", "<pad>", "<mask>", "<|endoftext|>"})
    if (auto const id = pairs.id(name)) added.push_back({.content = name, .id = *id, .lstrip = std::string_view(name) == "<mask>", .special = true});
  token_template around;
  std::vector<bool> trims;
  if (auto const begin = pairs.id("<s>"), end = pairs.id("</s>"); begin && end && !is_gpt2) {
    around = token_template::roberta(*begin, *end);
    trims = {prefix_space};
  }
  token_decoder decoder({detail::named_bytes{}});
  decoder.add(added);
  return {std::move(pairs),
          {.prefix_space = prefix_space, .added = added_tokens(std::move(added)), .around = std::move(around), .trims = std::move(trims), .decoder = std::move(decoder)}};
}

}  // namespace tx::text
