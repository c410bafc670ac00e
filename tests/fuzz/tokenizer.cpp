// The text of a tokenizer.json, a NUL, and a text: refused with the file's name, or ids that are below its size, as many as there is room for, and ranges within
// the text, which become a text again unless the decoder is refused.
#include "fuzz.hpp"

#include <tx/text/tokenizer.hpp>

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const input = fuzz::text_of(data, size);
  std::size_t const end = std::min(input.find('\0'), input.size());
  std::string const json = input.substr(0, end), text = input.substr(std::min(end + 1, input.size()));
  auto const coder = fuzz::unless_refused([&] { return tx::text::tokenizer::of(tx::io::parse_json(json, "fuzz"), "fuzz"); });
  if (!coder) return 0;
  for (std::size_t const most : {std::size_t{0}, std::size_t{3}, std::size_t{8}}) {
    try {
      auto const e = coder->encode(text, text, {.most = most});
      require(e.ids.size() == e.types.size() && (most == 0 || e.ids.size() <= most));
      for (std::int32_t const id : e.ids) require(id >= 0 && static_cast<std::size_t>(id) < coder->size());
      auto const placed = coder->encode(text, text, {.most = most, .ranges = true});
      require(placed.ids == e.ids && placed.types == e.types && placed.ranges.size() == e.ids.size());
      for (auto const& r : placed.ranges) require(r.begin <= r.end && r.end <= text.size());
      if (most == 0) continue;
      auto const alone = coder->encode(text, {.most = most});
      require(alone.ids.size() <= most);
    } catch (tx::value_error const&) {
      require(most > 0);  // no room for what stands around a text
    }
  }
  auto const ids = coder->ids_of(text);
  for (std::int32_t const id : ids) require(id >= 0 && static_cast<std::size_t>(id) < coder->size());
  if (auto const again = fuzz::unless_refused([&] { return coder->decode(ids); })) require(tx::io::is_utf8(*again));
  return 0;
}
