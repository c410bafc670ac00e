// The text of a vocab.json, a NUL, lines of merges, a NUL, and a text: each is refused with its name, or the text comes back from its ids. Merges are
// tried with a vocabulary of all bytes and of what they make, too.
#include "fuzz.hpp"

#include <tx/text/byte_pairs.hpp>

using fuzz::require;

namespace {

void encode(tx::text::byte_pairs const& coder, std::string const& text) {
  auto const ids = coder.encode(text);
  require(ids.size() <= text.size() && coder.decode(ids) == text);
  for (std::int32_t const id : ids) require(id >= 0 && static_cast<std::size_t>(id) < coder.size());
}

// Every byte, and what merges join of them, in their order.
nlohmann::json vocabulary_of(std::string_view merges) {
  nlohmann::json all;
  std::size_t next = 0;
  auto const add = [&](std::string const& name) {
    if (!all.contains(name)) all[name] = next++;
  };
  char32_t beyond = 0x100;
  for (char32_t b = 0; b < 256; ++b) {
    std::string name;
    tx::io::append_utf8(name, (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD) ? b : beyond++);
    add(name);
  }
  tx::text::for_each_line(merges, [&](std::string_view line, std::size_t) {
    auto const space = line.find(' ');
    if (space == std::string_view::npos) return;
    add(std::string(line.substr(0, space)));
    add(std::string(line.substr(space + 1)));
    add(std::string(line.substr(0, space)) + std::string(line.substr(space + 1)));
  });
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const input = fuzz::text_of(data, size);
  std::size_t const first = std::min(input.find('\0'), input.size()), second = std::min(input.find('\0', std::min(first + 1, size)), input.size());
  std::string const vocabulary = input.substr(0, first), merges = first < second ? input.substr(first + 1, second - first - 1) : "";
  std::string const text = second < size ? input.substr(second + 1) : "";
  if (auto const coder = fuzz::unless_refused([&] { return tx::text::byte_pairs::parse(vocabulary, merges, "fuzz", "fuzz"); })) encode(*coder, text);
  if (!tx::io::is_utf8(merges)) return 0;
  std::string const made = vocabulary_of(merges).dump();
  if (auto const coder = fuzz::unless_refused([&] { return tx::text::byte_pairs::parse(made, merges, "fuzz", "fuzz"); })) encode(*coder, text);
  return 0;
}
