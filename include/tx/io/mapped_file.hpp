// A file whose bytes are read where they lie: the system brings pages into memory when they are looked at and takes them back when it needs the room.
#pragma once

#include <tx/io/files.hpp>

#include <sys/mman.h>

namespace tx::io {

// Files are not to change while they are mapped: who looks at a page that a shortened file has lost is ended by SIGBUS. One that is replaced by a rename
// stays as it was.
class mapped_file {
 public:
  // Throws io_error for what cannot be opened or mapped, and for what is no regular file.
  explicit mapped_file(std::filesystem::path const& path) {
    file_handle const file(path, O_RDONLY | O_NONBLOCK, "read");  // a pipe without a writer would be waited for
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) throw_io_error("read", path, errno);
    if (S_ISDIR(info.st_mode)) throw_io_error("read", path, EISDIR);
    if (!S_ISREG(info.st_mode)) throw io_error("cannot map " + path.string() + ": it is no regular file. FIX: write what it has into one");
    size_ = static_cast<std::size_t>(info.st_size);
    if (size_ == 0) return;  // nothing that could be mapped
    void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) throw_io_error("map", path, errno);
    bytes_ = static_cast<std::byte const*>(at);
  }
  mapped_file(mapped_file&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  mapped_file& operator=(mapped_file&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~mapped_file() {
    if (bytes_ != nullptr) ::munmap(const_cast<std::byte*>(bytes_), size_);
  }

  // Where they lie stays the same when this moves.
  std::span<std::byte const> bytes() const { return {bytes_, size_}; }
  std::string_view text() const { return {reinterpret_cast<char const*>(bytes_), size_}; }

 private:
  std::byte const* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tx::io
