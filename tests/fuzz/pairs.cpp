// Whatever the bytes: a format_error, or pairs as the format promises them.
#include <tx/text/pairs.hpp>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  try {
    auto const pairs = tx::text::parse_pairs({reinterpret_cast<char const*>(data), size});
    if (pairs.empty()) std::abort();
    for (auto const& p : pairs) {
      if (p.query.empty() || !tx::io::is_utf8(p.query) || !tx::io::is_utf8(p.document)) std::abort();
      if (!(p.label >= 0 && p.label <= 1) || (!p.labelled && p.label != 1)) std::abort();
      if (p.query.find_first_of("\t\n") != std::string::npos || p.document.find_first_of("\t\n") != std::string::npos) {
        std::abort();
      }
    }
  } catch (tx::format_error const&) {
  }
  return 0;
}
