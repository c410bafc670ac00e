// The allocations of this program through operator new; not counted under the thread sanitizer, which has these operators itself.
#pragma once

#include <atomic>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNCOUNTED
#endif
#endif

#if !defined(UNCOUNTED)
extern std::atomic<long> allocations;
#endif
