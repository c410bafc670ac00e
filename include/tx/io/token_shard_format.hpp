// How a shard of token ids lies in its file, all numbers of the little end first:
//
//   104 bytes   token_shard_header
//   ids         of all texts, one after the other, of 2 or 4 bytes each
//   zeros       up to a multiple of 4 bytes
//   texts       where each ends, in ids, 4 bytes each
//   documents   where each ends, in texts, 4 bytes each
//
// Every byte is under one of three checksums: that of the header, that of the ids, and that of the index, which is all behind the ids. A set of shards is a
// chain: each header has the checksum of the one before, so that the last one's names the whole set, and a shard that is lost, is of another set, or is cut
// off with those behind it, is found out.
#pragma once

#include <tx/io/crc64.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tx::io {

struct token_shard_header {
  static constexpr std::array<char, 8> right_magic{'t', 'x', ' ', 'i', 'd', 's', '\r', '\n'};  // a transfer that changes ends of lines breaks it
  static constexpr std::uint32_t right_order = 0x0a0b0c0d, right_version = 1;

  std::array<char, 8> magic = right_magic;
  std::uint32_t byte_order = right_order;
  std::uint32_t version = right_version;
  std::uint32_t id_bytes = 2;     // 2 or 4
  std::uint32_t vocabulary = 0;   // ids are below it
  std::uint32_t number = 0;       // in its set, from 0
  std::uint32_t last = 0;         // 1 for the last one of its set
  std::uint64_t tokenizer = 0;    // whatever tells the tokenizer of these ids from others
  std::uint64_t before = 0;       // `sum` of the shard before; 0 for the first
  std::uint64_t ids = 0, texts = 0, documents = 0;
  std::uint32_t longest = 0;      // ids of the longest text
  std::uint32_t nothing = 0;
  std::uint64_t ids_sum = 0, index_sum = 0;
  std::uint64_t sum = 0;          // of all bytes before this one

  std::uint64_t index_begin() const { return sizeof(token_shard_header) + (ids * id_bytes + 3) / 4 * 4; }
  std::uint64_t file_bytes() const { return index_begin() + 4 * (texts + documents); }
};
static_assert(std::endian::native == std::endian::little, "headers and ids are handed out as they lie in the file");
static_assert(sizeof(token_shard_header) == 104 && std::has_unique_object_representations_v<token_shard_header>, "no bytes between members");

// As the index has 4 bytes for each place.
inline constexpr std::uint64_t most_in_token_shard = std::numeric_limits<std::uint32_t>::max();

inline constexpr std::uint64_t vocabulary_of_two_bytes = 65536;
inline constexpr std::uint64_t most_vocabulary = std::uint64_t{1} << 31;  // ids are handed out as std::int32_t

inline std::uint64_t header_sum(token_shard_header const& h) {
  return crc64_of(std::as_bytes(std::span(&h, 1)).first(sizeof h - sizeof h.sum));
}

inline std::string token_shard_name(std::uint64_t number) {
  std::string const digits = std::to_string(number);
  return "shard-" + std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits + ".ids";
}
inline bool is_token_shard_name(std::string_view name) { return name.starts_with("shard-") && name.ends_with(".ids"); }

}  // namespace tx::io
