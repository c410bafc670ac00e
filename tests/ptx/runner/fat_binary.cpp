#include "fat_binary.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace ptx {

namespace {

// Layouts as of CUDA 11 to 13; fatbinary.h of the toolkit has them in part.
struct wrapper_layout {
  std::uint32_t magic, version;
  std::byte const* data;
  void const* files;
};
struct container_layout {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // of all modules
};
struct module_layout {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes, options;
  std::uint16_t minor, major;
  std::uint32_t processor, name_offset, name_bytes;
  std::uint64_t flags;
};
constexpr std::uint32_t wrapper_magic = 0x466243b1, container_magic = 0xba55ed50;
constexpr std::uint16_t kind_ptx = 1;
constexpr std::uint64_t flag_compressed = 0x2000 | 0x8000;

template <class T>
T read(std::byte const* at) {
  T x;
  std::memcpy(&x, at, sizeof x);
  return x;
}

}  // namespace

std::vector<embedded> texts_of(void const* wrapper) {
  auto const w = read<wrapper_layout>(static_cast<std::byte const*>(wrapper));
  if (w.magic != wrapper_magic) throw std::runtime_error("a program's device code begins otherwise than expected");
  auto const c = read<container_layout>(w.data);
  if (c.magic != container_magic) throw std::runtime_error("a container of device code begins otherwise than expected");
  std::vector<embedded> found;
  std::byte const* at = w.data + c.header_bytes;
  std::byte const* const end = at + c.bytes;
  while (at < end) {
    auto const m = read<module_layout>(at);
    if (m.kind == kind_ptx) {
      if ((m.flags & flag_compressed) != 0)
        throw std::runtime_error("device code is compressed. FIX: compile it with nvcc --no-compress");
      found.push_back(
          {static_cast<int>(m.processor), std::string(reinterpret_cast<char const*>(at + m.header_bytes), m.bytes)});
    }
    at += m.header_bytes + m.bytes;
  }
  return found;
}

}  // namespace ptx
