// The memory of a device: allocations, and a record for each byte of them.
#pragma once

#include "clock.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ptx {

class device_memory {
 public:
  std::byte* allocate(std::size_t bytes);
  bool release(void const* p);  // false: it is no beginning of an allocation
  // Whether [p, +bytes) lies in one allocation.
  bool holds(void const* p, std::size_t bytes) const { return find(p, bytes) != nullptr; }
  // Records of [p, +bytes), or nullptr where that is not in one allocation.
  record* records(void const* p, std::size_t bytes);
  // The host, or a copy between launches, wrote [p, +bytes); what lies in no allocation is the host's own.
  void written(void const* p, std::size_t bytes, std::uint32_t now);
  std::string whereabouts(std::uint64_t address) const;
  std::size_t in_use() const { return in_use_; }

 private:
  struct allocation {
    std::unique_ptr<std::byte[]> room;
    std::byte* first = nullptr;
    std::size_t bytes = 0;
    std::vector<record> records;
  };
  allocation* find(void const* p, std::size_t bytes) const;

  std::map<std::byte const*, allocation> all_;
  mutable allocation* last_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace ptx
