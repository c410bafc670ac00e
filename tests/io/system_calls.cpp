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
auto watched(std::string const& text, Call call) -> decltype(call()) {
  if (int const error = (*watching)(text, false); error != 0) {
    errno = error;
    return -1;
  }
  auto const result = call();
  if (result >= 0) (*watching)(text, true);
  return result;
}

std::string path_of(int fd) {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), unknown).string();
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
  return is_watched(watched_calls::kind::writing) ? watched("sync " + path_of(fd), call) : call();
}

// Under another name here: headers that check calls when they are compiled have a definition of their own.
extern "C" ssize_t read_of_tests(int fd, void* to, std::size_t count) __asm__("read");
extern "C" ssize_t read_of_tests(int fd, void* to, std::size_t count) {
  auto const call = [&] { return static_cast<ssize_t>(::syscall(SYS_read, fd, to, count)); };
  return is_watched(watched_calls::kind::reading) ? watched("read " + path_of(fd), call) : call();
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
