// A tokenizer.json's decoder, step by step, each of a kind that is known or refused by its name.
#pragma once

#include <tx/text/metaspace_json.hpp>
#include <tx/text/text_change_json.hpp>
#include <tx/text/token_decoder.hpp>

#include <string>
#include <vector>

namespace tx::text::detail {

class decoder_reader {
 public:
  explicit decoder_reader(json_parts const& file) : file_(file) {}

  // One that is not known is refused where it is used: a text's ids are right without it.
  token_decoder read() const try {
    std::vector<decoder_step> steps;
    for (auto const* d : file_.each_of(file_.part("decoder"), "decoder", "decoders")) steps.push_back(step(*d));
    // A list of none leaves tokens as they are, one behind the other.
    if (steps.empty() && !file_.part("decoder").is_null()) steps.push_back(fused_tokens{});
    return token_decoder(std::move(steps));
  } catch (format_error const& e) {
    return token_decoder::refused(e.what());
  }

 private:
  decoder_step step(nlohmann::json const& d) const {
    std::string const type = file_.type_of(d, "decoder");
    if (type == "WordPiece") return joined_words{file_.part(d, "prefix").is_null() ? "##" : file_.text(d, "prefix"), file_.flag(d, "cleanup", true)};
    if (type == "ByteLevel") return named_bytes{};
    if (type == "ByteFallback") return numbered_bytes{};
    if (type == "Fuse") return fused_tokens{};
    if (type == "Replace") return replaced_in_tokens{replaced_strings_of(file_, d)};
    if (type == "BPEDecoder") return ended_words{not_empty(d, "suffix")};
    if (type == "Strip") return stripped_tokens{one_character(d, "content"), count(d, "start"), count(d, "stop")};
    if (type == "Metaspace") {
      metaspace mark = metaspace_of(file_, d);
      return marked_spaces{std::move(mark.mark), mark.place != mark_place::never};
    }
    file_.fail("a decoder " + io::shown(type) + " is not known. FIX: one of WordPiece, ByteLevel, Metaspace, ByteFallback, Fuse, Strip, Replace, BPEDecoder, or a Sequence of them");
  }
  std::string not_empty(nlohmann::json const& d, char const* name) const {
    std::string out = file_.text(d, name);
    if (out.empty()) file_.fail(std::string("the decoder's ") + name + " is empty");
    return out;
  }
  std::string one_character(nlohmann::json const& d, char const* name) const {
    std::string out = not_empty(d, name);
    if (io::decode_utf8(out, 0).length != out.size()) file_.fail(std::string("the decoder's ") + name + ' ' + io::shown(out) + " is not one character");
    return out;
  }
  std::size_t count(nlohmann::json const& d, char const* name) const {
    auto const& n = file_.part(d, name);
    if (!n.is_number_integer() || n < 0) file_.fail(std::string("the decoder's ") + name + " is " + io::shown_value(n) + ", no count");
    return n.get<std::size_t>();
  }

  json_parts const& file_;
};

}  // namespace tx::text::detail
