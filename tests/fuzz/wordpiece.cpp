// Lines of a vocabulary, a NUL, and a text: with that vocabulary and with one that is learned from the text, words come
// apart into pieces that make them up, and ids stay within the vocabulary and the room there is.
#include "fuzz.hpp"

#include <tx/text/wordpiece.hpp>

using fuzz::require;

namespace {

void encode(tx::text::wordpiece const& coder, std::string const& text) {
  auto const all = coder.encode(text);
  for (std::int32_t const id : all) require(id >= 0 && static_cast<std::size_t>(id) < coder.size());
  // The pieces of each word spell it; [UNK] stands for one that cannot be spelled.
  std::size_t at = 0;
  tx::text::for_each_word(text, [&](std::string_view word, std::size_t characters) {
    require(at < all.size());
    if (characters > tx::text::max_word_characters) {
      require(all[at++] == coder.unk_id());
      return true;
    }
    std::string spelled;
    std::size_t const first = at;
    do {
      std::string const& token = coder.tokens()[static_cast<std::size_t>(all[at])];
      bool const goes_on = token.size() > 2 && token.starts_with("##");
      if (at == first && all[at] == coder.unk_id() && token != word) {
        ++at;
        return true;
      }
      require(goes_on == (at > first));
      spelled += goes_on ? token.substr(2) : token;
      ++at;
    } while (spelled.size() < word.size() && at < all.size());
    require(spelled == word);
    return true;
  });
  require(at == all.size());
  std::vector<std::int32_t> ids(17);
  for (bool const special : {false, true}) {
    std::size_t const count = coder.encode(text, ids, special);
    std::size_t const room = ids.size() - (special ? 2 : 0);
    require(count == std::min(all.size(), room) + (special ? 2 : 0));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      bool const own = i < count && !(special && (i == 0 || i == count - 1));
      require(own ? ids[i] == all[i - (special ? 1 : 0)]
                  : ids[i] == (i >= count ? coder.pad_id()
                               : i == 0   ? coder.cls_id()
                                          : coder.sep_id()));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const input = fuzz::text_of(data, size);
  std::size_t const end = std::min(input.find('\0'), input.size());
  std::string const text = input.substr(std::min(end + 1, input.size()));
  std::size_t const most = 6 + size % 64;
  auto const learned = tx::text::wordpiece::learn(std::span(&text, 1), most);
  require(learned.size() <= most);
  encode(learned, text);
  auto const given = fuzz::unless_refused([&] {
    return tx::text::wordpiece::parse("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n" + input.substr(0, end), "fuzz");
  });
  if (given) encode(*given, text);
  return 0;
}
