#include "device_memory.hpp"

#include <cstring>

namespace ptx {

namespace {
constexpr std::size_t alignment = 256;  // as cudaMalloc promises
}

std::byte* device_memory::allocate(std::size_t bytes) {
  allocation a;
  a.room = std::make_unique<std::byte[]>(bytes + alignment);
  auto const address = reinterpret_cast<std::uintptr_t>(a.room.get());
  a.first = a.room.get() + (alignment - address % alignment) % alignment;
  a.bytes = bytes;
  a.records.resize(bytes);
  std::memset(a.first, 0xff, bytes);  // NaN, where a program reads what it should not
  std::byte* const first = a.first;
  in_use_ += bytes;
  all_.emplace(first, std::move(a));
  return first;
}

bool device_memory::release(void const* p) {
  auto const at = all_.find(static_cast<std::byte const*>(p));
  if (at == all_.end()) return false;
  in_use_ -= at->second.bytes;
  last_ = nullptr;
  all_.erase(at);
  return true;
}

device_memory::allocation* device_memory::find(void const* p, std::size_t bytes) const {
  auto const* const at = static_cast<std::byte const*>(p);
  auto const inside = [&](allocation const& a) {
    auto const from = reinterpret_cast<std::uintptr_t>(at), first = reinterpret_cast<std::uintptr_t>(a.first);
    return from >= first && bytes <= a.bytes && from - first <= a.bytes - bytes;
  };
  if (last_ != nullptr && inside(*last_)) return last_;
  auto next = all_.upper_bound(at);
  if (next == all_.begin()) return nullptr;
  auto& a = const_cast<allocation&>((--next)->second);
  if (!inside(a)) return nullptr;
  return last_ = &a;
}

record* device_memory::records(void const* p, std::size_t bytes) {
  allocation* const a = find(p, bytes);
  return a == nullptr ? nullptr : a->records.data() + (static_cast<std::byte const*>(p) - a->first);
}

void device_memory::written(void const* p, std::size_t bytes, std::uint32_t now) {
  record* const r = records(p, bytes);
  if (r == nullptr) return;
  for (std::size_t i = 0; i < bytes; ++i) {
    r[i].written = {now, record::nobody, 0};
    r[i].atomically = false;
  }
}

std::string device_memory::whereabouts(std::uint64_t address) const {
  auto const* const at = reinterpret_cast<std::byte const*>(address);
  auto next = all_.upper_bound(at);
  if (next == all_.begin()) return "below all allocations";
  auto const& a = (--next)->second;
  return "byte " + std::to_string(at - a.first) + " of an allocation of " + std::to_string(a.bytes);
}

}  // namespace ptx
