// Whole files in and out, on POSIX systems. Everything that fails throws io_error with the path and the system's
// reason.
#pragma once

#include <tx/config.hpp>
#include <tx/core/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tx::io {

[[noreturn]] inline void throw_io_error(std::string_view what, std::filesystem::path const& path, int code) {
  throw io_error("cannot " + std::string(what) + " " + path.string() + ": " + std::system_category().message(code));
}

// An open file descriptor, closed when it goes out of scope.
class file_handle {
 public:
  // `flags` as for open(2); new files get mode 0666 less the umask.
  file_handle(std::filesystem::path path, int flags, std::string_view purpose)
      : path_(std::move(path)), fd_(try_open(path_, flags)) {
    if (fd_ < 0) throw_io_error(purpose, path_, errno);
  }
  // Adopts a descriptor that is already open.
  file_handle(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  file_handle(file_handle&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  file_handle& operator=(file_handle&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~file_handle() {
    if (fd_ >= 0) ::close(fd_);
  }

  static int try_open(std::filesystem::path const& path, int flags) {
    int fd;
    do fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
  }

  int get() const { return fd_; }
  std::filesystem::path const& path() const { return path_; }

  // Reads up to bytes.size(); 0 only at the end of the file.
  std::size_t read_some(std::span<std::byte> bytes) {
    for (;;) {
      ssize_t const got = ::read(fd_, bytes.data(), std::min(bytes.size(), chunk));
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) throw_io_error("read", path_, errno);
    }
  }
  void write_all(std::span<std::byte const> bytes) {
    while (!bytes.empty()) {
      ssize_t const put = ::write(fd_, bytes.data(), std::min(bytes.size(), chunk));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) throw_io_error("write", path_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
  }
  // Waits until the data is on the disk. Pipes, terminals and some file systems have no such notion; that is no error.
  void sync() {
    if (::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
      throw_io_error("sync", path_, errno);
  }
  // A full disk or a broken network mount may only show here, so a writer has to call it.
  void close() {
    int const fd = std::exchange(fd_, -1);
    if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) throw_io_error("write", path_, errno);
  }

 private:
  static constexpr std::size_t chunk = std::size_t{1} << 30;  // Linux moves at most 2 GiB a call

  std::filesystem::path path_;
  int fd_;
};

namespace detail {

template <class Container>
Container read_whole(std::filesystem::path const& path) {
  file_handle file(path, O_RDONLY, "read");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw_io_error("read", path, errno);
  Container content;
  // One byte more than the size, so that the usual file takes one read and one that finds the end.
  content.resize(S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) + 1 : 4096);
  std::size_t used = 0;
  for (;;) {
    std::size_t const got = file.read_some(std::as_writable_bytes(std::span(content)).subspan(used));
    if (got == 0) break;
    used += got;
    if (used == content.size()) content.resize(used + used / 2 + 4096);
  }
  content.resize(used);
  return content;
}

}  // namespace detail

inline std::vector<std::byte> read_file(std::filesystem::path const& path) {
  return detail::read_whole<std::vector<std::byte>>(path);
}

inline std::string read_text(std::filesystem::path const& path) { return detail::read_whole<std::string>(path); }

// A file that appears under its name complete, or not at all: it is written beside the target, and commit() syncs it,
// renames it over the target and syncs the folder. Without a commit the destructor removes it. A replaced file's
// permissions are kept, a symbolic link's target is replaced rather than the link, and what is no regular file (a pipe,
// /dev/stdout) is written in place.
class atomic_file {
 public:
  explicit atomic_file(std::filesystem::path const& path)
      : target_(resolve(path)), file_(create(target_, temporary_)) {}
  atomic_file(atomic_file const&) = delete;
  atomic_file& operator=(atomic_file const&) = delete;
  ~atomic_file() { discard(); }

  void write(std::span<std::byte const> bytes) { file_.write_all(bytes); }
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  void commit() {
    file_.sync();
    file_.close();
    if (temporary_.empty()) return;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_io_error("write", target_, errno);
    temporary_.clear();
    auto const parent = target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
    file_handle folder(parent, O_RDONLY | O_DIRECTORY, "sync");
    folder.sync();
  }

 private:
  static std::filesystem::path resolve(std::filesystem::path const& path) {
    std::error_code ignored;
    if (!std::filesystem::is_symlink(path, ignored)) return path;
    auto target = std::filesystem::canonical(path, ignored);
    return ignored ? path : target;
  }

  static file_handle create(std::filesystem::path const& target, std::filesystem::path& temporary) {
    struct stat info {};
    bool const exists = ::stat(target.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) throw_io_error("write", target, EISDIR);
    if (exists && !S_ISREG(info.st_mode)) return file_handle(target, O_WRONLY, "write");
    if (!target.has_filename()) throw_io_error("write", target, EISDIR);
    // O_EXCL keeps two writers apart, whether threads, processes or what a killed one left.
    for (int attempt = 0; attempt < 1000; ++attempt) {
      auto candidate = target;
      candidate.replace_filename(".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt));
      int const fd = file_handle::try_open(candidate, O_WRONLY | O_CREAT | O_EXCL);
      if (fd < 0 && errno == EEXIST) continue;
      if (fd < 0) throw_io_error("write", target, errno);
      file_handle file(candidate, fd);
      if (exists && ::fchmod(fd, info.st_mode & 07777) != 0) {
        int const code = errno;
        ::unlink(candidate.c_str());
        throw_io_error("write", target, code);
      }
      temporary = std::move(candidate);
      return file;
    }
    throw_io_error("write", target, EEXIST);
  }

  void discard() noexcept {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty once committed, or when written in place
  file_handle file_;
};

inline void write_file_atomic(std::filesystem::path const& path, std::span<std::byte const> bytes) {
  atomic_file file(path);
  file.write(bytes);
  file.commit();
}

inline void write_file_atomic(std::filesystem::path const& path, std::string_view text) {
  write_file_atomic(path, std::as_bytes(std::span(text)));
}

// Creates a folder and those above it; one that exists is fine.
inline void ensure_directory(std::filesystem::path const& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) return;
  bool const is_other = std::filesystem::exists(path, status);  // which each standard library has another error for
  throw_io_error("create the folder", path, is_other ? ENOTDIR : code ? code.value() : status ? status.value() : ENOTDIR);
}

namespace detail {
// Whether a file has this text; false where there is none.
TX_COLD inline bool has_text(std::filesystem::path const& file, std::string const& text) {
  std::error_code absent;
  return std::filesystem::file_size(file, absent) == text.size() && !absent && read_text(file) == text;
}
// Nothing is done where there is none.
TX_COLD inline void remove_file(std::filesystem::path const& file) {
  std::error_code code;
  std::filesystem::remove(file, code);
  if (code) throw_io_error("remove", file, code.value());
}
}  // namespace detail

}  // namespace tx::io
