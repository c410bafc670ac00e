// A small shard with each byte changed and cut off at each length, and headers that lie with a right checksum: refused, and nothing read out of bounds.
#include "small_shards.hpp"

#include <tx/io/token_shards.hpp>

#include <catch2/catch.hpp>

using Catch::Contains;
using tx::io::shard_check, tx::io::token_shard, tx::io::token_shard_header;

namespace {

std::vector<std::byte> shard_bytes(std::int32_t vocabulary) {
  temp_folder folder;
  write_shards(folder.path, drawn_documents(7, vocabulary), {.vocabulary = static_cast<std::uint64_t>(vocabulary)});
  return tx::io::read_file(folder.path / tx::io::token_shard_name(0));
}

token_shard_header header_of(std::vector<std::byte> const& bytes) {
  token_shard_header h;
  std::memcpy(&h, bytes.data(), sizeof h);
  return h;
}

// With another header, whose checksum is right.
std::vector<std::byte> with(std::vector<std::byte> bytes, token_shard_header h) {
  h.sum = tx::io::header_sum(h);
  std::memcpy(bytes.data(), &h, sizeof h);
  return bytes;
}
// With another place in the index, whose checksums are right.
std::vector<std::byte> with_place(std::vector<std::byte> bytes, std::uint64_t number, std::uint32_t place) {
  auto h = header_of(bytes);
  std::memcpy(bytes.data() + h.index_begin() + 4 * number, &place, 4);
  h.index_sum = tx::io::crc64_of(std::span<std::byte const>(bytes).subspan(static_cast<std::size_t>(sizeof h + h.ids * h.id_bytes)));
  return with(bytes, h);
}

// Everything that there is to ask of a shard; each id is below the vocabulary.
void read_all(token_shard const& shard) {
  std::vector<std::int32_t> ids;
  std::uint64_t count = 0;
  for (std::uint64_t k = 0; k < shard.texts(); ++k) {
    ids.clear();
    shard.append(k, ids);
    REQUIRE(ids.size() == shard.ids_of(k).size());
    for (std::int32_t const id : ids) REQUIRE((id >= 0 && static_cast<std::uint32_t>(id) < shard.header().vocabulary));
    count += ids.size();
  }
  REQUIRE(count == shard.ids());
  for (std::uint64_t d = 0; d < shard.documents(); ++d) REQUIRE(shard.texts_of(d).end <= shard.texts());
}

}  // namespace

TEST_CASE("each bit of a shard matters", "[shards]") {
  for (std::int32_t const vocabulary : {40, 65537}) {
    auto const right = shard_bytes(vocabulary);
    auto const h = header_of(right);
    read_all(token_shard::parse(right, "right", shard_check::all));
    for (std::size_t at = 0; at < right.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        auto bytes = right;
        bytes[at] ^= std::byte{1} << bit;
        INFO("byte " << at << ", bit " << bit);
        CHECK_THROWS_AS(token_shard::parse(bytes, "changed", shard_check::all), tx::format_error);
        if (at >= sizeof h && at < sizeof h + h.ids * h.id_bytes) {  // ids, which opening does not look at
          auto const shard = token_shard::parse(bytes, "changed");
          CHECK_THROWS_WITH(shard.check_ids(), Contains("changed: the ids are not what their checksum says. FIX: "));
          try {
            read_all(shard);
          } catch (tx::format_error const& e) {
            CHECK_THAT(e.what(), Contains("and the vocabulary " + std::to_string(vocabulary)));
          }
        } else {
          CHECK_THROWS_WITH(token_shard::parse(bytes, "changed"), Contains("changed: ") && Contains("FIX: "));
        }
      }
  }
}

TEST_CASE("a shard that is cut off anywhere, or has more behind it", "[shards]") {
  auto const right = shard_bytes(40);
  temp_folder folder;
  auto const name = folder.path / tx::io::token_shard_name(0);
  for (std::size_t size = 0; size < right.size(); ++size) {
    INFO(size << " bytes");
    std::vector<std::byte> const cut(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_THROWS_AS(token_shard::parse(cut), tx::format_error);
    tx::io::write_file_atomic(name, cut);
    CHECK_THROWS_WITH(tx::io::token_shards::open(folder.path), Contains(name.string() + ": " + (size < sizeof(token_shard_header) ? "shorter than a header" : "a file of " + std::to_string(size) + " bytes, where " + std::to_string(right.size()))));
  }
  auto more = right;
  more.push_back({});
  CHECK_THROWS_AS(token_shard::parse(more), tx::format_error);
}

TEST_CASE("headers and indices that lie with right checksums", "[shards]") {
  auto const right = shard_bytes(40);
  auto const h = header_of(right);
  auto const refused = [&](std::vector<std::byte> const& bytes, std::string const& message) { CHECK_THROWS_WITH(token_shard::parse(bytes, "lies"), Contains("lies: ") && Contains(message)); };
  auto const header = [&](auto change, std::string const& message) {
    auto other = h;
    change(other);
    refused(with(right, other), message);
  };
  header([](auto& o) { o.magic[3] = 'x'; }, "no shard of token ids");
  header([](auto& o) { o.byte_order = 0x0d0c0b0a; }, "not of the little end first");
  header([](auto& o) { o.version = 2; }, "version 2 of the format; this program reads version 1");
  header([](auto& o) { o.id_bytes = 3; }, "ids of 3 bytes");
  header([](auto& o) { o.id_bytes = 0; }, "ids of 0 bytes");
  header([](auto& o) { o.id_bytes = 4; }, "bytes, where ");
  header([](auto& o) { o.vocabulary = 0xffffffff; }, "a vocabulary of 4294967295");
  header([](auto& o) { o.last = 2; }, "that this version does not write");
  header([](auto& o) { o.nothing = 1; }, "that this version does not write");
  header([](auto& o) { o.ids += std::uint64_t{1} << 63; }, "more ids, texts or documents");
  header([](auto& o) { o.texts += std::uint64_t{1} << 62; }, "more ids, texts or documents");
  header([](auto& o) { o.ids -= 2, o.texts += 1; }, "the index is not what its checksum says");
  header([](auto& o) { o.texts -= 1, o.documents += 1; }, "the last text ends at ");
  header([](auto& o) { o.longest += 1; }, "the longest text has 7 ids, where the header says 8");
  refused(with_place(right, 0, 0), "text 0 ends before it begins, or is empty");
  refused(with_place(right, 1, 1), "text 1 ends before it begins, or is empty");
  refused(with_place(right, 0, 0xffffffff), "text 1 ends before");
  refused(with_place(right, h.texts - 1, 0xffffffff), "the last text ends at 4294967295 of ");
  refused(with_place(right, h.texts, 0), "document 0 ends before it begins, or is empty");
  refused(with_place(right, h.texts + h.documents - 1, static_cast<std::uint32_t>(h.texts + 1)), "the last document ends at ");
  auto small = h;
  small.vocabulary = 3;
  CHECK_THROWS_WITH(token_shard::parse(with(right, small), "lies", shard_check::all), Contains("and the vocabulary has 3"));
  CHECK_THROWS_WITH(read_all(token_shard::parse(with(right, small), "lies")), Contains("and the vocabulary 3"));
}

TEST_CASE("an index that changes behind the back of its reader", "[shards]") {
  auto bytes = shard_bytes(40);
  auto const shard = token_shard::parse(bytes);
  auto const h = header_of(bytes);
  std::uint32_t const beyond = 0x7fffffff;
  std::memcpy(bytes.data() + h.index_begin(), &beyond, 4);
  CHECK_THROWS_WITH(shard.ids_of(0), Contains("the index has changed since it was checked"));
  CHECK_THROWS_WITH(shard.ids_of(1), Contains("the index has changed since it was checked"));
  CHECK_THROWS_WITH(shard.ids_of(h.texts), Contains("there is no text " + std::to_string(h.texts) + ". FIX: a number below"));
  CHECK_THROWS_WITH(shard.texts_of(h.documents), Contains("there is no document"));
}
