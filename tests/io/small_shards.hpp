// Texts of which every id tells where it is from, and shards of them.
#pragma once

#include "temp_folder.hpp"

#include <tx/io/token_shard_writer.hpp>

#include <string>
#include <vector>

using id_documents = std::vector<std::vector<std::vector<std::int32_t>>>;

// Document d has d % 3 + 1 texts of 1 to 7 ids.
inline id_documents drawn_documents(int count, std::int32_t vocabulary) {
  id_documents all;
  std::int32_t next = 0;
  for (int d = 0; d < count; ++d) {
    all.emplace_back();
    for (int t = 0; t <= d % 3; ++t) {
      all.back().emplace_back();
      for (int k = 0; k < 1 + (d * 5 + t * 3) % 7; ++k) all.back().back().push_back(next++ % vocabulary);
    }
  }
  return all;
}

inline void write_shards(std::filesystem::path const& folder, id_documents const& all, tx::io::token_shard_options const& o) {
  tx::io::token_shard_writer out(folder, o);
  for (auto const& d : all) {
    for (auto const& t : d) out.add(t);
    out.end_document();
  }
  out.finish();
}
