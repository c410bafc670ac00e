// UTF-8 and the basic tokenizer: whatever the bytes, each belongs to one code point or broken sequence, what is shown
// of them is fit for a terminal, and words are what their own tokenization gives again.
#include "fuzz.hpp"

#include <tx/text/basic_tokenizer.hpp>
#include <tx/text/lines.hpp>

#include <nlohmann/json.hpp>

#include <vector>

using fuzz::require;
using tx::text::detail::fate;

namespace {

void check_utf8(std::string const& text) {
  std::string again, repaired;
  bool valid = true;
  for (std::size_t i = 0; i < text.size();) {
    auto const c = tx::io::decode_utf8(text, i);
    require(c.length >= 1 && c.length <= 4 && i + c.length <= text.size());
    require(c.value < 0x110000 && !(c.value >= 0xD800 && c.value < 0xE000));
    valid = valid && c.valid;
    if (c.valid)
      tx::io::append_utf8(again, c.value);
    else
      again.append(text, i, c.length);
    tx::io::append_utf8(repaired, c.value);
    i += c.length;
  }
  require(again == text && tx::io::is_utf8(text) == valid && tx::io::is_utf8(repaired));
  require(nlohmann::json::parse(tx::io::json_string(text)).get<std::string>() == repaired);
  fuzz::require_printable(tx::io::shown(text));
}

struct word {
  std::string text;
  std::size_t characters;
};
std::vector<word> words_of(std::string_view text, std::size_t most = SIZE_MAX) {
  std::vector<word> words;
  if (most > 0)
    tx::text::for_each_word(text, [&](std::string_view w, std::size_t characters) {
      words.push_back({std::string(w), characters});
      return words.size() < most;
    });
  return words;
}

void check_words(std::string const& text) {
  auto const words = words_of(text);
  std::string joined;
  std::size_t bytes = 0;
  bool marks = false;  // in an order that what was removed between them may have kept
  for (auto const& w : words) {
    require(!w.text.empty() && tx::io::is_utf8(w.text));
    std::size_t characters = 0;
    for (std::size_t i = 0; i < w.text.size(); ++characters) {
      auto const c = tx::io::decode_utf8(w.text, i);
      auto const what = tx::text::detail::bert_characters::uncased()[c.value].what;
      marks = marks || what == fate::mark;
      require(what == fate::letter || what == fate::mark || (what == fate::word && w.characters == 1));
      i += c.length;
    }
    require(characters == std::min(w.characters, tx::text::max_word_characters));
    bytes += w.text.size();
    joined += w.text + ' ';
  }
  require(bytes <= 3 * text.size());  // a syllable of three bytes is composed of three letters of three bytes
  auto const again = words_of(joined);
  require(again.size() == words.size());
  for (std::size_t i = 0; i < again.size(); ++i) require(again[i].text == words[i].text || (marks && again[i].text.size() == words[i].text.size()));
  require(words_of(text, words.size() / 2).size() == words.size() / 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = fuzz::text_of(data, size);
  check_utf8(text);
  check_words(text);
  std::size_t lines = 0, bytes = 0;
  tx::text::for_each_line(text, [&](std::string_view line, std::size_t number) {
    require(number == ++lines && line.find('\n') == std::string_view::npos);
    bytes += line.size();
  });
  require(bytes + (lines > 0 ? lines - 1 : 0) <= text.size());
  return 0;
}
