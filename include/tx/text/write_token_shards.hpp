// Texts in files as shards of token ids, which training reads without a tokenizer (io/token_shards.hpp).
#pragma once

#include <tx/io/crc64.hpp>
#include <tx/io/model_folder.hpp>
#include <tx/io/token_shard_writer.hpp>
#include <tx/text/document_ids.hpp>

namespace tx::text {

// Tells a tokenizer from others by the files that it is read from. The path is that of tokenizer::load. The same tokenizer in other files has another number, so
// that what is refused for it may be more than has to be, and never less.
inline std::uint64_t tokenizer_fingerprint(std::filesystem::path const& path) {
  io::crc64 sum;
  auto const add = [&](std::filesystem::path const& file) {
    std::string const name = file.filename().string();
    auto const of = io::sum_file(file);
    sum.add(name + '\n' + std::to_string(of.bytes) + ' ' + io::hex_digits(of.crc64) + '\n');
  };
  if (!std::filesystem::is_directory(path)) {
    add(path);
  } else if (std::filesystem::exists(path / "tokenizer.json")) {
    add(path / "tokenizer.json");
  } else {
    for (char const* const name : io::tokenizer_files)
      if (std::filesystem::exists(path / name)) add(path / name);
  }
  return sum.value();
}

struct token_shards_of_texts {
  std::filesystem::path tokenizer{};                     // its folder or file
  std::size_t longest = 0;                               // ids of a text, at most: a longer one becomes several; 0: as they are
  std::size_t threads = 0;                               // 0: as many as the machine runs at once; the shards are the same
  std::uint64_t shard_bytes = io::token_shard_options{}.shard_bytes;
};

struct written_texts {
  std::uint64_t documents = 0, texts = 0, ids = 0;
};

// Documents as for_each_document has them. Throws what that, tokenizer::load and token_shard_writer throw.
inline written_texts write_token_shards(std::filesystem::path const& folder, std::span<std::string const> files, token_shards_of_texts const& o) {
  auto const words = tokenizer::load(o.tokenizer);
  io::token_shard_writer out(folder, {.vocabulary = words.size(), .tokenizer = tokenizer_fingerprint(o.tokenizer), .shard_bytes = o.shard_bytes});
  written_texts told;
  for_each_document(
      files, words, o.threads,
      [&](std::span<std::int32_t const> ids) {
        told.ids += ids.size();
        while (!ids.empty()) {
          auto const text = ids.first(o.longest == 0 ? ids.size() : std::min(o.longest, ids.size()));
          out.add(text);
          ++told.texts;
          ids = ids.subspan(text.size());
        }
      },
      [&] {
        out.end_document();
        ++told.documents;
      });
  out.finish();
  return told;
}

}  // namespace tx::text
