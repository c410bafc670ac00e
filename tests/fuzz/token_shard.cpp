// Whatever the bytes: a format_error, or a shard whose texts and documents cover it, in order, with ids below the vocabulary. The bytes also get the checksums
// that they lack, or else nothing behind those would ever be reached.
#include "fuzz.hpp"

#include <tx/io/token_shard.hpp>

using fuzz::require, tx::io::shard_check, tx::io::token_shard, tx::io::token_shard_header;

namespace {

void read(std::vector<std::byte> const& bytes) {
  auto const shard = fuzz::unless_refused([&] { return token_shard::parse(bytes, "fuzz"); });
  bool const whole = fuzz::unless_refused([&] { return token_shard::parse(bytes, "fuzz", shard_check::all); }).has_value();
  require(shard || !whole);
  if (!shard) return;
  std::vector<std::int32_t> ids;
  std::uint64_t next = 0;
  for (std::uint64_t k = 0; k < shard->texts(); ++k) {
    auto const [begin, end] = shard->ids_of(k);
    require(begin == next && begin < end);
    next = end;
    ids.clear();
    bool const good = fuzz::unless_refused([&] { return shard->append(k, ids), true; }).has_value();
    require(good || !whole);
    require(ids.size() == (good ? end - begin : 0));
    for (std::int32_t const id : ids) require(id >= 0 && static_cast<std::uint32_t>(id) < shard->header().vocabulary);
  }
  require(next == shard->ids());
  next = 0;
  for (std::uint64_t d = 0; d < shard->documents(); ++d) {
    auto const [begin, end] = shard->texts_of(d);
    require(begin == next && begin < end);
    next = end;
  }
  require(next == shard->texts());
}

// All checksums where there are as many ids as the header says, else that of the header.
std::vector<std::byte> with_sums(std::vector<std::byte> bytes) {
  token_shard_header h;
  if (bytes.size() < sizeof h) return bytes;
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.ids <= bytes.size() && h.id_bytes <= 4 && h.ids * h.id_bytes <= bytes.size() - sizeof h) {
    auto const behind = std::span<std::byte const>(bytes).subspan(sizeof h);
    auto const id_bytes = static_cast<std::size_t>(h.ids * h.id_bytes);
    h.ids_sum = tx::io::crc64_of(behind.first(id_bytes));
    h.index_sum = tx::io::crc64_of(behind.subspan(id_bytes));
  }
  h.sum = tx::io::header_sum(h);
  std::memcpy(bytes.data(), &h, sizeof h);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const* const begin = reinterpret_cast<std::byte const*>(data);
  std::vector<std::byte> const bytes(begin, begin + size);
  read(bytes);
  read(with_sums(bytes));
  return 0;
}
