#include "allocations.hpp"

#include <cstdlib>
#include <new>

#if !defined(UNCOUNTED)
std::atomic<long> allocations{0};

namespace {
__attribute__((noinline)) void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* const p = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
__attribute__((noinline)) void released(void* p) { std::free(p); }
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, 16); }
void* operator new[](std::size_t bytes) { return counted(bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t a) { return counted(bytes, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t bytes, std::align_val_t a) { return counted(bytes, static_cast<std::size_t>(a)); }
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept { return counted(bytes, 16); }
void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept { return counted(bytes, 16); }
void operator delete(void* p, std::nothrow_t const&) noexcept { released(p); }
void operator delete[](void* p, std::nothrow_t const&) noexcept { released(p); }
void operator delete(void* p) noexcept { released(p); }
void operator delete[](void* p) noexcept { released(p); }
void operator delete(void* p, std::size_t) noexcept { released(p); }
void operator delete[](void* p, std::size_t) noexcept { released(p); }
void operator delete(void* p, std::align_val_t) noexcept { released(p); }
void operator delete[](void* p, std::align_val_t) noexcept { released(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { released(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { released(p); }
#endif
