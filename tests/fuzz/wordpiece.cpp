// A vocabulary learned from the bytes encodes them within bounds; taken for a vocabulary file, they load or are
// refused.
#include <tx/text/tri_letter.hpp>
#include <tx/text/wordpiece.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace {

void encode(tx::text::wordpiece const& coder, std::string const& text) {
  auto const all = coder.encode(text);
  std::vector<std::int32_t> ids(17);
  for (bool const special : {false, true}) {
    std::size_t const count = coder.encode(text, ids, special);
    std::size_t const room = ids.size() - (special ? 2 : 0);
    if (count != std::min(all.size(), room) + (special ? 2 : 0)) std::abort();
    for (std::int32_t const id : ids) {
      if (id < 0 || static_cast<std::size_t>(id) >= coder.size()) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  auto const learned = tx::text::wordpiece::learn(std::span(&text, 1), 6 + size % 64);
  if (learned.size() > 6 + size % 64) std::abort();
  encode(learned, text);
  std::optional<tx::text::wordpiece> pieces;
  try {
    pieces = tx::text::wordpiece::parse("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n" + text, "fuzz");
  } catch (tx::format_error const&) {
  }
  if (pieces) encode(*pieces, text);
  auto const letters = tx::text::tri_letter::learn(std::span(&text, 1), 100);
  std::vector<std::int32_t> ids(letters.slots());
  std::size_t const words = letters.encode(text, ids);
  if (words < 1 || words > letters.shape().words) std::abort();
  std::optional<tx::text::tri_letter> parsed;
  try {
    parsed = tx::text::tri_letter::parse(text, "fuzz");
  } catch (tx::format_error const&) {
  }
  if (parsed) {
    ids.resize(parsed->slots());
    if (std::size_t const count = parsed->encode(text, ids); count < 1 || count > parsed->shape().words) std::abort();
  }
  return 0;
}
