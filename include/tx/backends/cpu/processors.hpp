// Which processors a thread may use, which one it is on, and how many it makes sense to use: those that its affinity names, and no more
// than the control groups of the process grant the time of.
#pragma once

#if defined(__linux__)
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>

namespace tx::backends::cpu {

namespace detail {

// The file `cpu.max` of a control group: the microseconds of processor time in a period, and the period. "max 100000" is no limit.
inline int processors_of_quota(char const* text) {
  char* at = nullptr;
  long const quota = std::strtol(text, &at, 10);
  long const period = at == text ? 0 : std::strtol(at, nullptr, 10);
  return quota > 0 && period > 0 ? static_cast<int>(std::max(1l, (quota + period - 1) / period)) : 0;  // 0: no limit
}

#if defined(__linux__)
inline std::string start_of_file(std::string const& path) {
  char text[4096];
  int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  ::ssize_t const bytes = ::read(file, text, sizeof text);
  ::close(file);
  return bytes > 0 ? std::string(text, static_cast<std::size_t>(bytes)) : std::string();
}

// The least quota of the group of this process and of those around it; 0: there is none.
inline int processors_granted() {
  std::string groups("\n");
  groups += start_of_file("/proc/self/cgroup");
  std::size_t const at = groups.find("\n0::");
  if (at == std::string::npos) return 0;
  std::string path = groups.substr(at + 4, groups.find('\n', at + 4) - at - 4);
  for (int least = 0;;) {
    int const n = processors_of_quota(start_of_file(std::string("/sys/fs/cgroup").append(path).append("/cpu.max")).c_str());
    if (n > 0 && (least == 0 || n < least)) least = n;
    if (path.empty()) return least;
    path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

// Those of the calling thread; false where the system does not say, as with more than a thousand.
inline bool allowed_processors(cpu_set_t& allowed) { return sched_getaffinity(0, sizeof allowed, &allowed) == 0; }
#endif

}  // namespace detail

// The processor that this thread runs on; -1 where the system does not say.
inline int processor_now() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// How often this thread had to leave its processor to another; always 0 where the system does not say.
inline long times_preempted() {
#if defined(__linux__) && defined(RUSAGE_THREAD)
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_nivcsw;
#else
  return 0;
#endif
}

// This thread goes on elsewhere, if it may; the set of processors that it may use is the same afterwards.
inline void leave_processor([[maybe_unused]] int processor) {
#if defined(__linux__)
  cpu_set_t all;
  if (!detail::allowed_processors(all)) return;
  cpu_set_t others = all;
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  if (CPU_COUNT(&others) == 0) return;
  sched_setaffinity(0, sizeof others, &others);
  sched_setaffinity(0, sizeof all, &all);
#endif
}

inline int machine_threads() {
  int n = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t allowed;
  if (detail::allowed_processors(allowed)) n = CPU_COUNT(&allowed);
  static int const granted = detail::processors_granted();
  if (granted > 0) n = std::min(n, granted);
#endif
  return std::max(1, n);
}

}  // namespace tx::backends::cpu
