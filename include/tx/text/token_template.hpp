// What stands around the tokens of a text, or of two: "[CLS] A [SEP] B [SEP]".
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/json.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tx::text {

struct template_part {
  enum class what : std::uint8_t { token, first, second } kind = what::first;
  std::int32_t id = 0;    // of a token
  std::int32_t type = 0;  // of all its tokens
  bool once = false;      // the token is not put behind a text that ends with it
};

struct token_template {
  std::vector<template_part> single{{}}, pair{{}, {template_part::what::second, 0, 1}};

  // [CLS] A [SEP], and [CLS] A [SEP] B [SEP] whose second half is of type 1.
  static token_template bert(std::int32_t cls, std::int32_t sep) {
    using enum template_part::what;
    template_part const begin{token, cls, 0}, end{token, sep, 0};
    return {{begin, {}, end}, {begin, {}, end, {second, 0, 1}, {token, sep, 1}}};
  }
  // <s> A </s>, and <s> A </s> </s> B </s>, all of type 0.
  static token_template roberta(std::int32_t opening, std::int32_t closing) {
    using enum template_part::what;
    template_part const begin{token, opening, 0}, end{token, closing, 0};
    return {{begin, {}, end}, {begin, {}, end, end, {second, 0, 0}, end}};
  }

  // A </s>, and A </s> B </s>, all of type 0, where a text that ends with </s> gets none.
  static token_template t5(std::int32_t closing) {
    using enum template_part::what;
    template_part const end{token, closing, 0, true};
    return {{{}, end}, {{}, end, {second, 0, 0}, end}};
  }

  static std::size_t tokens_in(std::vector<template_part> const& parts) {
    std::size_t n = 0;
    for (template_part const& p : parts) n += p.kind == template_part::what::token;
    return n;
  }

  // As tokenizer.json has it under post_processor; null is no token at all. Throws format_error that names `source` for what it does not know.
  static token_template of(nlohmann::json const& json, std::string const& source);
};

namespace detail {

class template_reader {
 public:
  explicit template_reader(std::string const& source) : source_(source) {}

  token_template read(nlohmann::json const& json) const {
    if (json.is_null()) return {};
    std::string const type = text(json, "type");
    if (type == "ByteLevel") return {};
    if (type == "Sequence") return last_of(json);
    if (type == "TemplateProcessing") return of_templates(json);
    if (type != "BertProcessing" && type != "RobertaProcessing") fail("a post_processor " + io::shown(type) + " is not known");
    std::int32_t const cls = id_of(json, "cls"), sep = id_of(json, "sep");
    return type == "BertProcessing" ? token_template::bert(cls, sep) : token_template::roberta(cls, sep);
  }

 private:
  [[noreturn]] void fail(std::string const& what) const { throw format_error(source_ + ": " + what); }

  std::string text(nlohmann::json const& json, char const* key) const {
    if (!json.is_object() || !json.contains(key) || !json[key].is_string()) fail(std::string("lacks a text under ") + key);
    return json[key].get<std::string>();
  }
  std::int32_t number(nlohmann::json const& json, std::string const& of) const {
    if (!json.is_number_integer() || json < 0 || json > INT32_MAX) fail("the id of " + of + " is " + io::shown_value(json));
    return json.get<std::int32_t>();
  }
  // ["[CLS]", 101]
  std::int32_t id_of(nlohmann::json const& json, char const* key) const {
    if (!json.contains(key) || !json[key].is_array() || json[key].size() != 2) fail(std::string("the post_processor lacks ") + key);
    return number(json[key][1], key);
  }
  // Of several one alone may add tokens.
  token_template last_of(nlohmann::json const& json) const {
    if (!json.contains("processors") || !json["processors"].is_array()) fail("a Sequence lacks processors");
    token_template out;
    bool any = false;
    for (auto const& each : json["processors"]) {
      if (each.is_object() && text(each, "type") == "ByteLevel") continue;
      if (any) fail("two post_processors add tokens");
      any = true;
      out = read(each);
    }
    return out;
  }
  token_template of_templates(nlohmann::json const& json) const {
    token_template out{parts(json, "single"), parts(json, "pair")};
    for (template_part const& p : out.single)
      if (p.kind == template_part::what::second) fail("the post_processor's template of one text names a second");
    return out;
  }
  std::vector<template_part> parts(nlohmann::json const& json, char const* key) const {
    if (!json.contains(key) || !json[key].is_array()) fail(std::string("the post_processor lacks ") + key);
    std::vector<template_part> out;
    for (auto const& piece : json[key]) {
      if (!piece.is_object() || piece.size() != 1) fail("a part of the post_processor is no object of one");
      std::string const kind = piece.begin().key();
      nlohmann::json const& what = piece.begin().value();
      std::string const name = text(what, "id");
      std::int32_t const type = what.contains("type_id") ? number(what["type_id"], name) : 0;
      if (kind == "Sequence" && (name == "A" || name == "B")) {
        out.push_back({name == "A" ? template_part::what::first : template_part::what::second, 0, type});
      } else if (kind == "SpecialToken") {
        if (!json.contains("special_tokens") || !json["special_tokens"].contains(name) || !json["special_tokens"][name].contains("ids") ||
            !json["special_tokens"][name]["ids"].is_array())
          fail("the special token " + io::shown(name) + " of the post_processor has no ids");
        for (auto const& id : json["special_tokens"][name]["ids"]) out.push_back({template_part::what::token, number(id, name), type});
      } else {
        fail("a part of the post_processor is a " + io::shown(kind) + " " + io::shown(name));
      }
    }
    return out;
  }

  std::string const& source_;
};

}  // namespace detail

inline token_template token_template::of(nlohmann::json const& json, std::string const& source) { return detail::template_reader(source).read(json); }

}  // namespace tx::text
