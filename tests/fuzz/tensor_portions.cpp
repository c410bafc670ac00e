// Two headers of safetensors files, one behind the other with a byte 0 between, each with as much data as it asks for, and what their tensors make together: a format_error, or
// tensors that have each file's rows where that says.
#include "tensors.hpp"

#include <tx/io/tensor_portions.hpp>

using fuzz::require;

namespace {

std::optional<tx::io::safetensors> file_of(std::string const& text, int seed) {
  auto const header = fuzz::unless_refused([&] {
    tx::io::detail::safetensors_header h("fuzz");
    h.parse(text);
    return h;
  });
  if (!header) return std::nullopt;
  std::uint64_t end = 0;
  for (auto const& e : header->entries) end = std::max(end, e.end);
  if (end > 10'000) return std::nullopt;
  std::vector<std::byte> file(8 + text.size() + static_cast<std::size_t>(end));
  std::uint64_t const length = text.size();
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, text.data(), text.size());
  for (std::size_t k = 8 + text.size(); k < file.size(); ++k) file[k] = static_cast<std::byte>((k * 7 + static_cast<std::size_t>(seed)) % 2);
  return fuzz::unless_refused([&] { return tx::io::safetensors::parse(std::move(file), "fuzz"); });
}

// Row `row` of block `block` along the axis.
std::span<std::byte const> row_of(tx::io::tensor_info const& t, int axis, std::int64_t block, std::int64_t row) {
  std::int64_t each = tx::size_of(t.type);
  for (std::size_t a = static_cast<std::size_t>(axis) + 1; a < t.shape.size(); ++a) each *= t.shape[a];
  return t.bytes.subspan(static_cast<std::size_t>((block * t.shape[static_cast<std::size_t>(axis)] + row) * each), static_cast<std::size_t>(each));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = fuzz::text_of(data, size);
  std::size_t const split = std::min(text.find('\0'), text.size());
  std::vector<tx::io::safetensors> files;
  for (std::string const& header : {text.substr(0, split), text.substr(std::min(split + 1, text.size()))})
    if (auto file = file_of(header, static_cast<int>(files.size()))) files.push_back(std::move(*file));
  auto const whole = fuzz::unless_refused([&] { return tx::io::joined_portions(files, "fuzz"); });
  if (!whole) return 0;
  for (auto const& file : files)
    for (auto const& t : file.tensors()) {
      auto const* const found = whole->find(t.name);
      require(found != nullptr && found->type == t.type);
      auto const rows = file.metadata().find("portion " + t.name);
      if (rows == file.metadata().end()) {
        require(found->shape == t.shape && std::ranges::equal(found->bytes, t.bytes));
        continue;
      }
      auto const says = tx::io::detail::rows_in(rows->second, t);
      require(found->shape[static_cast<std::size_t>(says.axis)] == says.extent);
      if (t.bytes.empty()) continue;
      std::int64_t blocks = 1;
      for (int a = 0; a < says.axis; ++a) blocks *= t.shape[static_cast<std::size_t>(a)];
      for (std::int64_t b = 0; b < blocks; ++b)
        for (std::int64_t r = 0; r < t.shape[static_cast<std::size_t>(says.axis)]; ++r)
          require(std::ranges::equal(row_of(t, says.axis, b, r), row_of(*found, says.axis, b, says.first + r)));
    }
  return 0;
}
