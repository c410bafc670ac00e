// Standard input, output and error of a program.
#pragma once

#include <tx/io/files.hpp>

#include <cstdio>

namespace tx::io {

// For the beginning of main(). A program may be started with standard descriptors closed (`2>&-` in a shell); the next
// file it opens would get that number, and what it then tells standard error would be written into that file. Here each
// that is closed becomes /dev/null: standard error takes what is written and forgets it; reading standard input and
// writing to standard output stay errors, as the program's product would be lost.
inline void open_standard_streams() {
  constexpr int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};  // the first two are the other way round on purpose
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is what open(2) gives.
    if (::open("/dev/null", modes[fd]) != fd) throw_io_error("open", "/dev/null", errno);
  }
}

// Writes a text to standard output, at once. Throws io_error with the system's reason.
inline void print(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  int const code = errno;
  std::clearerr(stdout);
  throw_io_error("write to", "standard output", code);
}

}  // namespace tx::io
