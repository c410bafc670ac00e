// What lies in a folder, to be compared with another.
#pragma once

#include <tx/io/files.hpp>

#include <map>
#include <string>

// All files below it: contents by path from there on.
inline std::map<std::string, std::string> tree_of(std::filesystem::path const& folder) {
  std::map<std::string, std::string> all;
  for (auto const& entry : std::filesystem::recursive_directory_iterator(folder))
    all[std::filesystem::relative(entry.path(), folder).string()] = entry.is_directory() ? "a folder" : tx::io::read_text(entry.path());
  return all;
}
