// What a tokenizer.json says of a mark that stands for spaces, where texts are cut and where ids become texts again.
#pragma once

#include <tx/io/utf8.hpp>
#include <tx/text/json_parts.hpp>
#include <tx/text/text_splits.hpp>

#include <string>

namespace tx::text::detail {

struct metaspace {
  std::string mark;
  mark_place place;
};

inline metaspace metaspace_of(json_parts const& file, nlohmann::json const& p) {
  metaspace out{file.text(p, "replacement"), mark_place::never};
  if (out.mark.empty() || io::decode_utf8(out.mark, 0).length != out.mark.size()) file.fail("the replacement " + io::shown(out.mark) + " is not one character");
  std::string const place = file.part(p, "prepend_scheme").is_null() ? "always" : file.text(p, "prepend_scheme");
  if (place == "always") out.place = mark_place::always;
  else if (place == "first") out.place = mark_place::first;
  else if (place != "never") file.fail("the prepend_scheme " + io::shown(place) + " is not known");
  // As files of older versions say it.
  if (!file.flag(p, "add_prefix_space", true)) {
    if (!file.part(p, "prepend_scheme").is_null() && out.place != mark_place::never) file.fail("the prepend_scheme " + io::shown(place) + " is not what add_prefix_space says");
    out.place = mark_place::never;
  }
  return out;
}

}  // namespace tx::text::detail
