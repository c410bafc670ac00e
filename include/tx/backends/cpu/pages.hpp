// The backend's memory: in huge pages where the system has them, so that columns far apart do not each need an entry of the TLB.
#pragma once

#include <tx/plan/plan.hpp>

#include <cstddef>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tx::backends::cpu {

inline constexpr std::int64_t huge_page = std::int64_t{2} << 20;

// Smaller blocks gain nothing.
inline std::align_val_t page_alignment(std::int64_t count) {
  return std::align_val_t{static_cast<std::size_t>(count >= huge_page ? huge_page : exec::alignment)};
}

inline std::byte* allocate_pages(std::int64_t count) {
  auto* const p = static_cast<std::byte*>(::operator new(static_cast<std::size_t>(count), page_alignment(count)));
#if defined(MADV_HUGEPAGE)
  if (count >= huge_page) madvise(p, static_cast<std::size_t>(count), MADV_HUGEPAGE);  // advice: where it is not taken, nothing is lost
#endif
  return p;
}
inline void release_pages(std::byte* p, std::int64_t count) { ::operator delete(p, page_alignment(count)); }

}  // namespace tx::backends::cpu
