// Whatever the bytes: a format_error, or pairs as the format promises them, which are the same when they are written
// and read again.
#include "fuzz.hpp"

#include <tx/text/pairs.hpp>

using fuzz::require;

namespace {

// With all that a reader takes off: the mark at the start, and both characters of a line's end.
std::string written(std::vector<tx::text::pair> const& pairs) {
  std::string text = "\xEF\xBB\xBF";
  for (auto const& p : pairs) {
    text += p.query + '\t' + p.document;
    char digits[32];
    if (p.labelled) text.append("\t").append(digits, std::to_chars(digits, digits + sizeof digits, p.label).ptr);
    text += "\r\n";
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = fuzz::text_of(data, size);
  auto const pairs = fuzz::unless_refused([&] { return tx::text::parse_pairs(text, "fuzz"); });
  if (!pairs) return 0;
  require(!pairs->empty() && pairs->size() <= static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
  for (auto const& p : *pairs) {
    require(!p.query.empty() && tx::io::is_utf8(p.query) && tx::io::is_utf8(p.document));
    require(p.label >= 0 && p.label <= 1 && (p.labelled || p.label == 1));
    for (std::string const& column : {p.query, p.document}) require(column.find_first_of("\t\n") == std::string::npos);
  }
  auto const again = tx::text::parse_pairs(written(*pairs), "again");
  require(again.size() == pairs->size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    auto const &a = again[i], &b = (*pairs)[i];
    require(a.query == b.query && a.document == b.document && a.label == b.label && a.labelled == b.labelled);
  }
  return 0;
}
