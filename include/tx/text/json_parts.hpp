// Parts of a tokenizer.json, each of a kind that is known or refused by its name.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/json.hpp>

#include <string>

namespace tx::text::detail {

// What it does not know it refuses with a format_error that begins with the file's name.
class json_parts {
 public:
  json_parts(nlohmann::json const& json, std::string const& source) : json_(json), source_(source) {
    if (!json.is_object()) fail("is no JSON object");
  }

  [[noreturn]] void fail(std::string const& what) const { throw format_error(source_ + ": " + what); }
  std::string const& source() const { return source_; }

  // null where there is none.
  nlohmann::json const& part(nlohmann::json const& of, char const* name) const {
    static nlohmann::json const nothing;
    auto const at = of.find(name);
    return at == of.end() ? nothing : *at;
  }
  nlohmann::json const& part(char const* name) const { return part(json_, name); }
  std::string type_of(nlohmann::json const& what, char const* name) const {
    if (what.is_null()) return "";
    if (!what.is_object() || !part(what, "type").is_string()) fail(std::string("the ") + name + " lacks a type");
    return what["type"].get<std::string>();
  }
  std::string text(nlohmann::json const& of, char const* name) const {
    auto const& at = part(of, name);
    if (!at.is_string()) fail(std::string(name) + " is " + io::shown_value(at) + ", no text");
    return at.get<std::string>();
  }
  bool flag(nlohmann::json const& of, char const* name, bool otherwise) const {
    auto const& at = part(of, name);
    if (at.is_null()) return otherwise;
    if (!at.is_boolean()) fail(std::string(name) + " is " + io::shown_value(at) + ", not true or false");
    return at.get<bool>();
  }
  // A setting that is known with one value alone.
  void only(nlohmann::json const& of, char const* name, nlohmann::json const& value) const {
    auto const& at = part(of, name);
    if (at.is_null() || at == value) return;
    fail(std::string(name) + " is " + io::shown_value(at) + "; known is " + io::shown_value(value));
  }
  // What a Sequence lists under `list`, or the one that `what` is; nothing of null.
  std::vector<nlohmann::json const*> each_of(nlohmann::json const& what, char const* name, char const* list) const {
    if (what.is_null()) return {};
    if (type_of(what, name) != "Sequence") return {&what};
    auto const& all = part(what, list);
    if (!all.is_array()) fail(std::string("the ") + name + " lacks its " + list);
    std::vector<nlohmann::json const*> out;
    for (auto const& one : all)
      for (auto const* inner : nested(one, name, list)) out.push_back(inner);
    return out;
  }

 private:
  // A Sequence in a Sequence has no Sequence in it: files are nested as deep as their writer likes.
  std::vector<nlohmann::json const*> nested(nlohmann::json const& what, char const* name, char const* list) const {
    if (type_of(what, name) != "Sequence") return {&what};
    auto const& all = part(what, list);
    if (!all.is_array()) fail(std::string("the ") + name + " lacks its " + list);
    std::vector<nlohmann::json const*> out;
    for (auto const& one : all) {
      if (type_of(one, name) == "Sequence") fail(std::string("the ") + name + " is a Sequence in a Sequence in a Sequence");
      out.push_back(&one);
    }
    return out;
  }

  nlohmann::json const& json_;
  std::string const& source_;
};

}  // namespace tx::text::detail
