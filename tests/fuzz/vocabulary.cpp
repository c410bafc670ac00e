// Whatever the bytes of a vocabulary file: a format_error, or tokens whose ids are their lines, which are the same when
// they are written and read again.
#include "fuzz.hpp"

#include <tx/text/tri_letter.hpp>
#include <tx/text/wordpiece.hpp>

#include <set>

using fuzz::require;

namespace {

void check_pieces(std::string const& text) {
  auto const pieces = fuzz::unless_refused([&] { return tx::text::wordpiece::parse(text, "fuzz"); });
  if (!pieces) return;
  auto const& tokens = pieces->tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) require(pieces->id(tokens[i]) == static_cast<std::int32_t>(i));
  std::set<std::int32_t> const special{pieces->pad_id(), pieces->unk_id(), pieces->cls_id(), pieces->sep_id(),
                                       pieces->mask_id()};
  require(special.size() == 5 && *special.begin() >= 0 && static_cast<std::size_t>(*special.rbegin()) < tokens.size());
  require(tx::text::wordpiece::parse(pieces->text(), "again").tokens() == tokens);
}

void check_trigrams(std::string const& text) {
  auto const letters = fuzz::unless_refused([&] { return tx::text::tri_letter::parse(text, "fuzz"); });
  if (!letters) return;
  auto const& all = letters->trigrams();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::int32_t const id = letters->id(all[i]);  // 0 for a line that no text can hold
    require(id == 0 || id == static_cast<std::int32_t>(i) + 1);
  }
  require(tx::text::tri_letter::parse(letters->text(), "again").trigrams() == all);
  std::vector<std::int32_t> ids(letters->slots());
  std::size_t const words = letters->encode(text, ids);
  require(words >= 1 && words <= letters->shape().words);
  for (std::int32_t const id : ids) require(id >= -1 && id <= static_cast<std::int32_t>(all.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = fuzz::text_of(data, size);
  check_pieces(text);
  check_pieces("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n" + text);
  check_trigrams(text);
  return 0;
}
