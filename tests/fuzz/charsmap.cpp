// How long a text is, in a byte, the text, and a map of characters: refused with the file's name, or a text that is UTF-8, the same whether or not it is asked
// where its bytes come from, which is within the text.
#include "fuzz.hpp"

#include <tx/text/text_changes.hpp>

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace tx::text::detail;
  std::string const input = fuzz::text_of(data, size);
  std::size_t const length = input.empty() ? 0 : std::min<std::size_t>(static_cast<unsigned char>(input[0]), input.size() - 1);
  std::string const text = input.substr(std::min<std::size_t>(1, input.size()), length), bytes = input.substr(std::min(1 + length, input.size()));
  auto const map = fuzz::unless_refused([&] { return charsmap(bytes, "fuzz"); });
  if (!map) return 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const longest = map->longest(std::string_view(text).substr(i));
    require(longest.length <= text.size() - i && (longest.length > 0) == map->shortest(std::string_view(text).substr(i)).has_value());
  }
  std::vector<text_change> const change{mapped_characters(std::make_shared<charsmap const>(*map))};
  change_rooms plain_rooms, traced_rooms;
  auto const plain = apply_all(change, written_text(text, 0, false, plain_rooms.written), plain_rooms).text;
  auto const traced = apply_all(change, written_text(text, 0, true, traced_rooms.written), traced_rooms).text;
  require(plain.bytes == traced.bytes && tx::io::is_utf8(plain.bytes) && traced_rooms.one.origins.size() == traced.bytes.size());
  for (std::size_t i = 0; i < traced.bytes.size(); ++i) {
    auto const [begin, end] = traced.origins[i];
    require(begin < end && end <= text.size() && (i == 0 || traced.origins[i - 1].begin <= begin));
  }
  return 0;
}
