// A file of SentencePiece, as spiece.model is one: pieces with scores and types, and how texts are changed before.
#pragma once

#include <tx/io/files.hpp>
#include <tx/io/protobuf_reader.hpp>
#include <tx/io/utf8.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace tx::text {

struct sentencepiece_model {
  enum class kind : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct piece {
    std::string text;
    float score = 0;
    kind type = kind::normal;
  };

  std::vector<piece> pieces;  // id = place
  std::string charsmap;       // may be empty
  bool prefix_space = true, remove_spaces = true, escape_spaces = true;  // add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces
  bool space_behind = false;                                            // treat_whitespace_as_suffix
  bool byte_fallback = false;

  // Throws io_error, or format_error naming the file and what is wrong in it: what is no such message, a model of another type than unigram, a piece that
  // is empty, too long, not UTF-8 or of a type that there is not, a score that is no number.
  static sentencepiece_model load(std::filesystem::path const& path) { return parse(io::read_text(path), path.string()); }
  static sentencepiece_model parse(std::string_view bytes, std::string const& source);
};

namespace detail {

inline sentencepiece_model::piece read_piece(io::protobuf_reader from, std::string const& name) {
  sentencepiece_model::piece out;
  auto const fail = [&](std::string const& what) { throw format_error(name + ' ' + what); };
  while (from.next()) {
    if (from.field() == 1) out.text = from.content();
    if (from.field() == 2) out.score = from.number();
    if (from.field() == 3) {
      if (from.integer() < 1 || from.integer() > 6) fail("is of the type " + std::to_string(from.integer()) + ", which there is not");
      out.type = static_cast<sentencepiece_model::kind>(from.integer());
    }
  }
  if (out.text.empty()) fail("is empty");
  if (out.text.size() >= 8000) fail("is of " + std::to_string(out.text.size()) + " bytes");
  if (!io::is_utf8(out.text)) fail("is not UTF-8");
  if (!std::isfinite(out.score)) fail("has a score that is no number");
  return out;
}

}  // namespace detail

inline sentencepiece_model sentencepiece_model::parse(std::string_view bytes, std::string const& source) {
  sentencepiece_model out;
  io::protobuf_reader message(bytes, source);
  while (message.next()) {
    if (message.field() == 1) out.pieces.push_back(detail::read_piece(message.message(), source + ": the piece " + std::to_string(out.pieces.size())));
    if (message.field() == 2)
      for (io::protobuf_reader trainer = message.message(); trainer.next();) {
        if (trainer.field() == 3 && trainer.integer() != 1) {
          std::uint64_t const type = trainer.integer();
          std::string const name = type == 2 ? "BPE" : type == 3 ? "WORD" : type == 4 ? "CHAR" : std::to_string(type);
          throw format_error(source + ": a model of the type " + name + " is not known; known is UNIGRAM");
        }
        if (trainer.field() == 24) out.space_behind = trainer.flag();
        if (trainer.field() == 35) out.byte_fallback = trainer.flag();
      }
    if (message.field() == 3)
      for (io::protobuf_reader normalizer = message.message(); normalizer.next();) {
        if (normalizer.field() == 2) out.charsmap = normalizer.content();
        if (normalizer.field() == 3) out.prefix_space = normalizer.flag();
        if (normalizer.field() == 4) out.remove_spaces = normalizer.flag();
        if (normalizer.field() == 5) out.escape_spaces = normalizer.flag();
      }
  }
  if (out.pieces.empty()) throw format_error(source + ": there are no pieces");
  return out;
}

}  // namespace tx::text
