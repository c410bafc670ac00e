// Names and ids of the pieces of a file of SentencePiece, as a model's tokenizer numbers them.
#pragma once

#include <tx/text/sentencepiece.hpp>

#include <optional>

namespace tx::text {

class piece_names {
 public:
  enum class numbers : std::uint8_t {
    own,    // the file's
    xlm_r,  // <s>, <pad>, </s> and <unk> in front, then the pieces behind the file's first in its order, each its number and one, and <mask> behind them
  };

  // Throws format_error that names `source`: for xlm_r, an unknown piece that is not the first.
  piece_names(sentencepiece pieces, numbers how, std::string const& source) : pieces_(std::move(pieces)), how_(how) {
    if (how_ != numbers::xlm_r) return;
    if (pieces_.unknown() != 0)
      throw format_error(source + ": the unknown piece is number " + std::to_string(pieces_.unknown()) + "; in files of XLM-R it is 0. FIX: the tokenizer_class that the file is of");
    others_ = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}, {"<mask>", static_cast<std::int32_t>(pieces_.size()) + 1}};
  }

  sentencepiece const& pieces() const { return pieces_; }
  std::size_t size() const { return pieces_.size() + (how_ == numbers::xlm_r ? 2 : 0); }  // ids are below it

  std::optional<std::string> name(std::int32_t id) const {
    for (auto const& [name, its] : others_)
      if (its == id) return name;
    std::int32_t const piece = how_ == numbers::xlm_r ? id - 1 : id;
    return piece >= 0 && static_cast<std::size_t>(piece) < pieces_.size() ? std::optional(pieces_.text(piece)) : std::nullopt;
  }
  // None of a name that stands for what is not known.
  std::optional<std::int32_t> id(std::string const& name) const {
    if (auto const at = others_.find(name); at != others_.end()) return at->second;
    auto const piece = pieces_.id(name);
    if (!piece || how_ == numbers::own) return piece;
    return *piece == pieces_.unknown() ? std::nullopt : std::optional(*piece + 1);
  }

 private:
  sentencepiece pieces_;
  numbers how_;
  std::unordered_map<std::string, std::int32_t> others_;  // that have ids of their own
};

}  // namespace tx::text
