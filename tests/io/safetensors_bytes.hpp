// Safetensors files built by hand, right or wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

inline std::vector<std::byte> safetensors_bytes(std::uint64_t length, std::string_view rest) {
  std::vector<std::byte> bytes(8 + rest.size());
  std::memcpy(bytes.data(), &length, 8);
  if (!rest.empty()) std::memcpy(bytes.data() + 8, rest.data(), rest.size());
  return bytes;
}

// A header with its true length and `data` zero bytes after it.
inline std::vector<std::byte> safetensors_bytes(std::string const& header, std::size_t data = 0) {
  return safetensors_bytes(header.size(), header + std::string(data, '\0'));
}
