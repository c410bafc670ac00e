// These definitions come before the C library's, also for what the C++ library calls.
#include "system_calls.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace {

watched_calls::watcher* watching = nullptr;
watched_calls::kind watched_kind{};

bool is_watched(watched_calls::kind k) { return watching != nullptr && watched_kind == k; }

template <class Call>
int watched(std::string const& text, Call call) {
  if (int const error = (*watching)(text, false); error != 0) {
    errno = error;
    return -1;
  }
  int const result = call();
  if (result == 0) (*watching)(text, true);
  return result;
}

}  // namespace

watched_calls::watched_calls(watcher w, kind k) {
  watched_kind = k;
  watching = new watcher(std::move(w));
}
watched_calls::~watched_calls() {
  delete watching;
  watching = nullptr;
}

extern "C" int fsync(int fd) {
  auto const call = [&] { return static_cast<int>(::syscall(SYS_fsync, fd)); };
  if (!is_watched(watched_calls::kind::writing)) return call();
  std::error_code unknown;
  auto const path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), unknown);
  return watched("sync " + path.string(), call);
}

extern "C" int rename(char const* from, char const* to) noexcept {
  auto const call = [&] { return ::renameat(AT_FDCWD, from, AT_FDCWD, to); };
  return is_watched(watched_calls::kind::writing) ? watched(std::string("rename ") + from + ' ' + to, call) : call();
}

extern "C" int unlinkat(int folder, char const* name, int flags) noexcept {
  auto const call = [&] { return static_cast<int>(::syscall(SYS_unlinkat, folder, name, flags)); };
  return is_watched(watched_calls::kind::removing) ? watched(std::string("remove ") + name, call) : call();
}

extern "C" int rmdir(char const* name) noexcept { return ::unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
