// Writes safetensors files.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/files.hpp>
#include <tx/io/safetensors_format.hpp>
#include <tx/io/utf8.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tx::io {

namespace detail {

inline void check_tensor(tensor_info const& t) {
  auto const fail = [&](std::string const& what) { throw value_error("tensor " + shown(t.name) + ": " + what); };
  if (t.name == "__metadata__") fail("the format keeps this name for itself");
  if (!is_utf8(t.name)) fail("its name is not UTF-8");
  auto const count = byte_count(t.type, t.shape);
  if (!count) fail("its shape has a negative size or does not fit 64 bits");
  if (static_cast<std::uint64_t>(*count) != t.bytes.size()) {
    fail(std::to_string(t.bytes.size()) + " bytes where its type and shape take up " + std::to_string(*count));
  }
  if (t.type == dtype::boolean && std::ranges::any_of(t.bytes, [](std::byte b) { return b > std::byte{1}; })) {
    fail("a BOOL byte is neither 0 nor 1");
  }
}

// The header of tensors in file order, padded with spaces so that the data start on a multiple of 8 bytes.
inline std::string safetensors_header_text(std::span<tensor_info const* const> order,
                                           std::map<std::string, std::string> const& metadata) {
  std::string text = "{";
  if (!metadata.empty()) {
    text += "\"__metadata__\":{";
    for (auto const& [key, value] : metadata) {
      if (!is_utf8(key) || !is_utf8(value)) throw value_error("the metadata key " + shown(key) + " is not UTF-8");
      if (text.back() != '{') text += ',';
      text += json_string(key) + ':' + json_string(value);
    }
    text += '}';
  }
  std::uint64_t begin = 0;
  for (tensor_info const* t : order) {
    if (text.size() > 1) text += ',';
    text += json_string(t->name) + ":{\"dtype\":\"" + std::string(safetensors_name(t->type)) + "\",\"shape\":[";
    for (std::size_t i = 0; i < t->shape.size(); ++i) text.append(i > 0 ? "," : "").append(std::to_string(t->shape[i]));
    text += "],\"data_offsets\":[" + std::to_string(begin) + ',' + std::to_string(begin + t->bytes.size()) + "]}";
    begin += t->bytes.size();
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > max_safetensors_header) throw value_error("the header would exceed 100,000,000 bytes");
  return text;
}

// Writes a file of tensors; `written` sees its bytes in their order, a piece at a time, while they are near the processor.
template <class Written>
void write_safetensors(std::filesystem::path const& path, std::span<tensor_info const> tensors,
                       std::map<std::string, std::string> const& metadata, Written written) {
  static_assert(std::endian::native == std::endian::little, "tensor bytes are written as they lie in memory");
  std::vector<tensor_info const*> order;
  order.reserve(tensors.size());
  for (auto const& t : tensors) {
    check_tensor(t);
    order.push_back(&t);
  }
  std::ranges::sort(order, {},
                    [](tensor_info const* t) { return std::pair(-size_of(t->type), std::string_view(t->name)); });
  std::vector<std::string_view> names;
  for (auto const& t : tensors) names.push_back(t.name);
  std::ranges::sort(names);
  if (auto const twin = std::ranges::adjacent_find(names); twin != names.end()) {
    throw value_error("tensor " + shown(*twin) + " is given twice");
  }
  std::string const header = safetensors_header_text(order, metadata);
  auto const length = std::bit_cast<std::array<std::byte, 8>>(std::uint64_t{header.size()});
  constexpr std::size_t piece = std::size_t{1} << 18;  // of the size of a cache
  atomic_file file(path);
  auto const write = [&](std::span<std::byte const> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(piece, bytes.size()))) {
      auto const next = bytes.first(std::min(piece, bytes.size()));
      written(next);
      file.write(next);
    }
  };
  write(length);
  write(std::as_bytes(std::span(header)));
  for (tensor_info const* t : order) write(t->bytes);
  file.commit();
}

}  // namespace detail

// Writes tensors sorted by element size, largest first, then by name, so that each lies aligned; the same input gives
// the same bytes. The file appears complete or not at all (see atomic_file). Throws value_error for tensors the format
// cannot hold, before anything is written, and io_error when writing fails.
inline void write_safetensors(std::filesystem::path const& path, std::span<tensor_info const> tensors,
                              std::map<std::string, std::string> const& metadata = {}) {
  detail::write_safetensors(path, tensors, metadata, [](std::span<std::byte const>) {});
}

}  // namespace tx::io
