// A folder that one run writes to at a time.
#pragma once

#include <tx/io/files.hpp>

#include <sys/file.h>

#include <optional>

namespace tx::io {

// Holds a folder as long as it lives, by a lock on the file FOLDER/.lock; a second one, of any process, throws io_error.
// The system lets go of the lock when its holder's process ends, however that happens, and a program that the process
// starts does not inherit it. The lock belongs to the folder, not to its name: a folder that is renamed stays held. The
// file is removed at the end; one that a killed process has left holds nobody up.
//
// It is flock(2), which programs that do not ask for it are not bound by. Over NFS Linux makes it a lock on the server,
// so it holds between machines; a mount with local locks (`nolock`, `local_lock=flock`) keeps apart only the runs of one
// machine, and a file system without locks is an error.
class run_lock {
 public:
  static constexpr char const* file_name = ".lock";

  // The folder has to exist.
  explicit run_lock(std::filesystem::path const& folder) {
    // Between two of these calls a run may end, which removes the file, or rename the folder: then all is looked at anew.
    while (!take(folder)) {}
  }
  run_lock(run_lock&&) noexcept = default;
  run_lock& operator=(run_lock&&) = delete;
  ~run_lock() {
    if (file_ && file_->get() >= 0 && names(folder_->get(), file_name, file_->get())) ::unlinkat(folder_->get(), file_name, 0);
  }

 private:
  // Whether `name`, from the folder `at` on, is the open file.
  static bool names(int at, char const* name, int fd) {
    struct stat named {};
    struct stat open {};
    return ::fstatat(at, name, &named, 0) == 0 && ::fstat(fd, &open) == 0 && named.st_dev == open.st_dev &&
           named.st_ino == open.st_ino;
  }

  bool take(std::filesystem::path const& folder) {
    file_.reset();
    folder_.emplace(folder, O_RDONLY | O_DIRECTORY, "write into");
    int fd;
    do fd = ::openat(folder_->get(), file_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) throw_io_error("write into", folder, errno);
    file_handle file(folder / file_name, fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        throw io_error(folder.string() + ": another run is writing here. FIX: wait until it ends, or name another folder");
      throw_io_error("lock", folder / file_name, errno);
    }
    if (!names(folder_->get(), file_name, fd) || !names(AT_FDCWD, folder.c_str(), folder_->get())) return false;
    file_.emplace(std::move(file));
    return true;
  }

  std::optional<file_handle> folder_, file_;
};

// The locks of all folders below one that have been held by a run, for who is about to rename or remove it: as long as
// they live, no run that has one writes there. Throws io_error if a run does now.
inline std::vector<run_lock> locks_below(std::filesystem::path const& folder) {
  std::vector<run_lock> locks;
  std::error_code code;
  auto const options = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator at(folder, options, code), end; !code && at != end; at.increment(code))
    if (at.depth() > 0 && at->path().filename() == run_lock::file_name) locks.emplace_back(at->path().parent_path());
  if (code) throw_io_error("read", folder, code.value());
  return locks;
}

}  // namespace tx::io
