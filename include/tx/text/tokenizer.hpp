// The tokenizer of a model's folder: what tokenizer.json says or, where there is none, vocab.txt, vocab.json and merges.txt, or a file of SentencePiece.
//
//   auto const coder = tx::text::tokenizer::load("all-MiniLM-L6-v2");
//   tx::text::encoding const e = coder.encode("How old are you?", {.most = 128});   // e.ids: [CLS] how old are you ? [SEP]
//   coder.encode(question, answer, {.most = 512, .how = tx::text::truncation::only_second});
//   coder.decode(e.ids);                                                            // "how old are you?"
//
// Known are WordPiece with BERT's splitting, byte pairs with GPT-2's, and Unigram as T5, XLM-R and DeBERTa have it, each with any normalizer of
// text_change_json.hpp or BERT's, and files of SentencePiece as those three models have them; every other part of a file is refused by its name. What a file says of truncation and padding is not looked at: that is the
// caller's to say.
#pragma once

#include <tx/text/added_tokens.hpp>
#include <tx/text/byte_pairs.hpp>
#include <tx/text/named_pieces.hpp>
#include <tx/text/range_trim.hpp>
#include <tx/text/sentencepiece.hpp>
#include <tx/text/token_decoder.hpp>
#include <tx/text/token_template.hpp>
#include <tx/text/truncation.hpp>
#include <tx/text/unigram_text.hpp>
#include <tx/text/wordpiece.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <type_traits>
#include <variant>

namespace tx::text {

// Which text a token is of.
enum class token_source : std::uint8_t { around, first, second };  // around: the template's

struct encoding {
  std::vector<std::int32_t> ids, types;  // of as many tokens
  // If options ask for it, where each token lies in its text, in bytes: the first text, or the second for tokens of that. Those of the template are empty, at 0.
  // A token of a part of what a character became, or of a part of its bytes, has the range of the whole character, so ranges may overlap.
  // One that is trimmed of spaces and is nothing else has an empty range too, where it stands: sources tell such tokens from the template's.
  std::vector<text_range> ranges;
  std::vector<token_source> sources;  // with the ranges
  std::size_t left_out = 0;           // tokens of the texts for which there was no room
};

struct encode_options {
  std::size_t most = 0;  // tokens, those of the template too; 0: as many as there are
  truncation how = truncation::longest_first;
  bool special_tokens = true;  // the template's
  bool ranges = false;         // encoding::ranges and sources are wanted
};

struct decode_options {
  bool special_tokens = false;  // are a part of the text
};

// Const members may be called from several threads.
class tokenizer {
 public:
  // path: a folder, or a tokenizer.json. Throws io_error, or format_error naming the file and the part of it that is not known or not right.
  static tokenizer load(std::filesystem::path const& path);
  static tokenizer of(nlohmann::json const& json, std::string const& source);
  // BERT's tokens around texts, and its five special tokens found in them.
  static tokenizer of_bert(wordpiece words);
  // The ids of its own package: nothing is put around texts, and no special token found in them.
  static tokenizer of_sentencepiece(sentencepiece pieces) {
    return {std::move(pieces), {.decoder = token_decoder::refused("a file of SentencePiece says nothing of decoding. FIX: a tokenizer.json of the model")}};
  }

  std::size_t size() const { return size_; }  // ids are below it
  // Of a token by its name.
  std::optional<std::int32_t> id(std::string const& name) const {
    if (auto const special = special_id(name)) return special;
    return std::visit([&](auto const& m) { return m.id(name); }, model_);
  }

  // Of an id that a token has. An added token that is found in changed texts is called what it is in those, as in the texts that decode() makes.
  std::optional<std::string> name(std::int32_t id) const {
    if (auto const* added = how_.decoder.added_name(id)) return *added;
    return std::visit([&](auto const& m) { return name_in(m, id); }, model_);
  }

  // Whether a token of WordPiece goes on with a word, as "##ing"; false of others.
  bool goes_on(std::int32_t id) const {
    auto const* const words = std::get_if<wordpiece>(&model_);
    return words != nullptr && id >= 0 && static_cast<std::size_t>(id) < words->size() && words->tokens()[static_cast<std::size_t>(id)].starts_with("##");
  }
  // Of an added token by its name.
  std::optional<std::int32_t> special_id(std::string const& name) const {
    auto const at = how_.decoder.added_ids().find(name);
    return at == how_.decoder.added_ids().end() ? std::nullopt : std::optional(at->second);
  }
  // The ids of a text alone.
  std::vector<std::int32_t> ids_of(std::string_view text) const { return tokens_of<false>(text).ids; }
  // Throws value_error where the template's tokens alone are more than `most`, and as kept() does.
  encoding encode(std::string_view text, encode_options const& options = {}) const { return around(how_.around.single, tokens_of(text, options), {}, options); }
  encoding encode(std::string_view first, std::string_view second, encode_options const& options = {}) const {
    return around(how_.around.pair, tokens_of(first, options), tokens_of(second, options), options);
  }
  // The text of ids, as the file's decoder makes it; ids of no token are passed over. Throws value_error for one below 0, format_error where the file's
  // decoder is not known.
  std::string decode(std::span<std::int32_t const> ids, decode_options const& options = {}) const {
    return how_.decoder.text(ids, options.special_tokens, [&](std::int32_t id) { return name(id); });
  }

 private:
  using model = std::variant<wordpiece, byte_pairs, unigram_text, sentencepiece, named_pieces>;

  // What stands around a model.
  struct surroundings {
    bool prefix_space = false;  // before texts of byte pairs that begin with none
    added_tokens added{};       // found in texts as they are written
    std::vector<detail::text_change> changes{};  // of what stands between those; a model of Unigram has its own
    added_tokens behind{};                       // found in what texts are changed to, their names changed too
    token_template around{};
    std::vector<bool> trims{};  // of each part of the file that trims ranges, whether it takes a space for put before texts
    token_decoder decoder{};
    bool odd_to_first = false;  // as kept() has it
  };

  tokenizer(model m, surroundings how) : model_(std::move(m)), how_(std::move(how)) {
    size_ = std::visit([](auto const& each) { return each.size(); }, model_);
    for (auto const& each : how_.decoder.added_ids()) size_ = std::max(size_, static_cast<std::size_t>(each.second) + 1);
  }

  template <class Model>
  static std::optional<std::string> name_in(Model const& m, std::int32_t id) {
    auto const has = [&](auto const& pieces) { return id >= 0 && static_cast<std::size_t>(id) < pieces.size(); };
    if constexpr (std::is_same_v<Model, wordpiece>) return has(m) ? std::optional(m.tokens()[static_cast<std::size_t>(id)]) : std::nullopt;
    else if constexpr (std::is_same_v<Model, byte_pairs>) return has(m) ? std::optional(m.name(id)) : std::nullopt;
    else if constexpr (std::is_same_v<Model, unigram_text>) return has(m.model()) ? std::optional(m.model().text(id)) : std::nullopt;
    else if constexpr (std::is_same_v<Model, named_pieces>) return m.name(id);
    else return has(m) ? std::optional(m.text(id)) : std::nullopt;
  }

  token_list tokens_of(std::string_view text, encode_options const& options) const { return options.ranges ? tokens_of<true>(text) : tokens_of<false>(text); }
  template <bool Ranges>
  token_list tokens_of(std::string_view text) const {
    token_list out;
    std::vector<found_token> found;
    auto const place = [](auto const& part, auto const& whole) { return static_cast<std::size_t>(part.data() - whole.data()); };
    auto const take = [&](std::int32_t id, std::string_view written, text_range where) {
      if constexpr (Ranges) {
        if (!how_.trims.empty()) found.push_back({out.ids.size(), detail::blank_ends_of_text(written)});
        out.ranges.push_back(where);
      }
      out.ids.push_back(id);
    };
    auto const cut = [&](std::string_view part, std::size_t begin) {
      std::visit(
          [&](auto const& m) {
            if constexpr (std::is_same_v<decltype(m), byte_pairs const&>) m.template append<Ranges>(part, begin, how_.prefix_space && !part.starts_with(' '), out);
            else m.template append<Ranges>(part, begin, out);
          },
          model_);
    };
    // What is changed is cut in places of its own, from which those in the text are told.
    auto const change = [&](std::string_view part) {
      std::size_t const begin = place(part, text);
      detail::change_rooms rooms;
      auto const now = detail::apply_all(how_.changes, detail::written_text(part, begin, Ranges, rooms.written), rooms).text;
      how_.behind.split(
          now.bytes,
          [&](std::string_view between) {
            std::size_t const before = out.ranges.size();
            cut(between, place(between, now.bytes));
            for (std::size_t k = before; k < out.ranges.size(); ++k) out.ranges[k] = now.range(out.ranges[k].begin, out.ranges[k].end);
          },
          [&](std::int32_t id, text_range r) { take(id, now.bytes.substr(r.begin, r.end - r.begin), Ranges ? now.range(r.begin, r.end) : r); });
    };
    auto const look_again = [&](std::string_view part) {
      std::size_t const begin = place(part, text);
      how_.behind.split(
          part, [&](std::string_view between) { cut(between, place(between, text)); },
          [&](std::int32_t id, text_range r) { take(id, part.substr(r.begin, r.end - r.begin), {begin + r.begin, begin + r.end}); });
    };
    auto const take_written = [&](std::int32_t id, text_range r) { take(id, text.substr(r.begin, r.end - r.begin), r); };
    if (!how_.changes.empty()) how_.added.split(text, change, take_written);
    else if (!how_.behind.all().empty()) how_.added.split(text, look_again, take_written);
    else how_.added.split(text, [&](std::string_view part) { cut(part, place(part, text)); }, take_written);
    if constexpr (Ranges)
      for (bool const after_space : how_.trims) trim(text, found, after_space, out);
    return out;
  }
  // An added token that was found in a text.
  struct found_token {
    std::size_t number;  // among all tokens
    detail::blank_ends blank;
  };
  void trim(std::string_view text, std::vector<found_token> const& found, bool after_space, token_list& tokens) const {
    auto const* const bytes = std::get_if<byte_pairs>(&model_);
    auto next = found.begin();
    for (std::size_t k = 0; k < tokens.ids.size(); ++k) {
      text_range& r = tokens.ranges[k];
      detail::blank_ends blank;
      if (next != found.end() && next->number == k) blank = (next++)->blank;
      else if (bytes != nullptr) blank = detail::blank_ends_of_bytes(bytes->bytes(tokens.ids[k]));
      r = detail::trimmed(r, blank, text, after_space && (k == 0 || r.begin == 0));
    }
  }

  static tokenizer of_byte_pairs(byte_pairs pairs, bool prefix_space, bool is_gpt2);
  encoding around(std::vector<template_part> const& parts, token_list const& first, token_list const& second, encode_options const& o) const {
    std::size_t const own = o.special_tokens ? token_template::tokens_in(parts) : 0;
    std::size_t const room = o.most == 0 ? first.ids.size() + second.ids.size() : o.most - std::min(o.most, own);
    if (o.most != 0 && o.most < own && o.how != truncation::none)
      throw value_error("no room for the " + std::to_string(own) + " tokens around a text: at most " + std::to_string(o.most) + " are wanted");
    auto const [of_first, of_second] = kept(first.ids.size(), second.ids.size(), room, o.how, how_.odd_to_first);
    encoding out;
    out.left_out = first.ids.size() + second.ids.size() - of_first - of_second;
    bool behind_text = false;  // at least a token of one
    for (template_part const& p : parts) {
      if (p.kind == template_part::what::token) {
        if (o.special_tokens && !(p.once && behind_text && out.ids.back() == p.id)) out.ids.push_back(p.id);
        behind_text = false;
      } else {
        auto const& from = p.kind == template_part::what::first ? first : second;
        auto const n = static_cast<std::ptrdiff_t>(p.kind == template_part::what::first ? of_first : of_second);
        out.ids.insert(out.ids.end(), from.ids.begin(), from.ids.begin() + n);
        behind_text = n > 0;
        if (o.ranges) {
          out.ranges.insert(out.ranges.end(), from.ranges.begin(), from.ranges.begin() + n);
          out.sources.resize(out.ids.size(), p.kind == template_part::what::first ? token_source::first : token_source::second);
        }
      }
      out.types.resize(out.ids.size(), p.type);
      if (o.ranges) {
        out.ranges.resize(out.ids.size());
        out.sources.resize(out.ids.size());
      }
    }
    return out;
  }

  model model_;
  surroundings how_;
  std::size_t size_ = 0;
};

}  // namespace tx::text

#include <tx/text/tokenizer_folder.hpp>
#include <tx/text/tokenizer_json.hpp>
