// JSON event by event, for readers that refuse a key given twice, which a tree of the document would hide.
#pragma once

#include <nlohmann/json.hpp>

#include <string_view>

namespace tx::io {

// One type for all readers: nlohmann's parser is a template of its handler, and brings readers of four binary formats with it for each.
using json_events = nlohmann::json_sax<nlohmann::json>;

// Calls the members of `to` until one of them throws or the text ends. A NUL byte counts as its end.
inline void tell_events(std::string_view text, json_events& to) { nlohmann::json::sax_parse(text, &to); }

}  // namespace tx::io
