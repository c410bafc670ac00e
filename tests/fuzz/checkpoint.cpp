// Whatever the bytes: a format_error, or a checkpoint.json that is written again as it was read. The bytes also get the
// checksum that they lack, or else nothing behind it would ever be reached.
#include "fuzz.hpp"

#include <tx/io/checkpoint_manifest.hpp>

namespace {

void read(std::string const& text) {
  auto const m = fuzz::unless_refused([&] { return tx::io::parse_manifest(text, "fuzz"); });
  if (m) fuzz::require(m->step >= 0 && tx::io::json_of(*m) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = fuzz::text_of(data, size);
  read(text);
  read(tx::io::detail::with_checksum(text));
  auto const sum = text.rfind(tx::io::detail::manifest_sum);
  if (sum != std::string::npos) read(tx::io::detail::with_checksum(text.substr(0, sum)));
  return 0;
}
