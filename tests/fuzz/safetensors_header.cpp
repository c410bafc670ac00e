// The header of a safetensors file alone, with the length it has and as much data as it asks for: whatever the text, a
// format_error, or one JSON object without names that repeat.
#include "tensors.hpp"

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = fuzz::text_of(data, size);
  auto const header = fuzz::unless_refused([&] {
    tx::io::detail::safetensors_header h("fuzz");
    h.parse(text);
    return h;
  });
  if (!header) return 0;
  require(nlohmann::json::accept(text));
  std::uint64_t end = 0;
  for (auto const& e : header->entries) {
    require(e.name != "__metadata__" && tx::io::is_utf8(e.name));
    for (std::int64_t const extent : e.shape) require(extent >= 0);
    end = std::max(end, e.end);
  }
  for (auto const& [key, value] : header->metadata) require(tx::io::is_utf8(key) && tx::io::is_utf8(value));
  if (end > 10'000) return 0;
  std::vector<std::byte> file(8 + size + static_cast<std::size_t>(end));
  std::uint64_t const length = size;
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, data, size);
  fuzz::check_file(std::move(file));
  return 0;
}
