// What must hold of a safetensors file that was accepted.
#pragma once

#include "fuzz.hpp"

#include <tx/io/safetensors.hpp>

#include <algorithm>

namespace fuzz {

// Tensors that lie in `bytes` without overlap, that can be written, and are the same when they are read again.
inline void check_tensors(tx::io::safetensors const& file, std::span<std::byte const> bytes) {
  std::byte const* next = bytes.data();
  std::vector<tx::io::tensor_info const*> order;
  for (auto const& t : file.tensors()) {
    require(file.find(t.name) == &t);
    require(t.bytes.data() >= next && t.bytes.data() + t.bytes.size() <= bytes.data() + bytes.size());
    next = t.bytes.data() + t.bytes.size();
    tx::io::detail::check_tensor(t);
    order.push_back(&t);
  }
  require(file.tensors().empty() || next == bytes.data() + bytes.size());
  std::string const header = tx::io::detail::safetensors_header_text(order, file.metadata());
  std::vector<std::byte> again(8 + header.size());
  std::uint64_t const length = header.size();
  std::memcpy(again.data(), &length, 8);
  std::memcpy(again.data() + 8, header.data(), header.size());
  for (auto const& t : file.tensors()) again.insert(again.end(), t.bytes.begin(), t.bytes.end());
  auto const back = tx::io::safetensors::parse(std::move(again));
  require(back.tensors().size() == file.tensors().size() && back.metadata() == file.metadata());
  for (auto const& t : file.tensors()) {
    auto const* found = back.find(t.name);
    require(found != nullptr && found->type == t.type && found->shape == t.shape &&
            std::ranges::equal(found->bytes, t.bytes));
  }
}

// Parses a file; nothing where it is refused.
inline void check_file(std::vector<std::byte> bytes) {
  std::span<std::byte const> const all(bytes);  // moving a vector moves no element
  auto const file = unless_refused([&] { return tx::io::safetensors::parse(std::move(bytes), "fuzz"); });
  if (file) check_tensors(*file, all);
}

}  // namespace fuzz
