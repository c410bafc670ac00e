// A folder of its own for a test, removed afterwards.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

struct temp_folder {
  std::filesystem::path path;

  temp_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tx-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path = name;
  }
  temp_folder(temp_folder const&) = delete;
  temp_folder& operator=(temp_folder const&) = delete;
  ~temp_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  std::filesystem::path operator/(char const* name) const { return path / name; }
  std::size_t entries() const {
    std::size_t count = 0;
    for ([[maybe_unused]] auto const& entry : std::filesystem::directory_iterator(path)) ++count;
    return count;
  }
};
