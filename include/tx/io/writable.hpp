// Whether a long run will be able to write what it is to write, found out before it begins.
#pragma once

#include <tx/io/files.hpp>

#include <cstdlib>

namespace tx::io {

// Throws io_error with the path and the system's reason unless write_file_atomic could write the file now. What is there
// is left as it is.
inline void check_writable(std::filesystem::path const& path) {
  struct stat info {};
  bool const exists = ::stat(path.c_str(), &info) == 0;
  if (!exists || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) {
    atomic_file const never_committed(path);
  } else if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {  // opening a pipe would wait for its reader
    throw_io_error("write", path, errno);
  }
}

// Throws io_error unless a file can be made in the folder or, where that is still to be made, in the nearest above it.
inline void check_writable_folder(std::filesystem::path const& folder) {
  std::error_code none;
  std::filesystem::path at = folder;
  while (!at.empty() && !std::filesystem::exists(at, none)) at = at.parent_path();
  if (at.empty()) at = ".";
  if (!std::filesystem::is_directory(at, none)) throw_io_error("write into", folder, ENOTDIR);
  std::string name = (at / ".tmp-XXXXXX").string();
  int const fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) throw_io_error("write into", folder, errno);
  ::close(fd);
  ::unlink(name.c_str());
}

}  // namespace tx::io
