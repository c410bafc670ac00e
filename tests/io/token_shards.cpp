// What is written is what is read, in one shard or many, and nothing but one whole set is.
#include "small_shards.hpp"

#include "same_files.hpp"
#include "size_limit.hpp"
#include "system_calls.hpp"

#include <tx/io/token_shards.hpp>

#include <catch2/catch.hpp>

#include <set>

using Catch::Contains;
using tx::io::token_shards;

namespace {

void check_same(token_shards const& shards, id_documents const& all) {
  REQUIRE(shards.documents() == all.size());
  std::uint64_t text = 0, ids = 0, longest = 0;
  for (std::size_t d = 0; d < all.size(); ++d) {
    REQUIRE(shards.document(d) == all[d]);
    for (auto const& wanted : all[d]) {
      REQUIRE(shards.length_of(text) == wanted.size());
      std::vector<std::int32_t> got{-5};
      shards.append(text++, got);
      REQUIRE(std::vector(got.begin() + 1, got.end()) == wanted);
      REQUIRE(got[0] == -5);
      ids += wanted.size();
      longest = std::max<std::uint64_t>(longest, wanted.size());
    }
  }
  CHECK(shards.texts() == text);
  CHECK(shards.ids() == ids);
  CHECK(shards.longest() == longest);
}

}  // namespace

TEST_CASE("texts and documents come back, in shards of any size and ids of both widths", "[shards]") {
  for (std::int32_t const vocabulary : {1, 100, 65536, 65537, 2'000'000'000})
    for (std::uint64_t const bytes : {1u, 40u, 1u << 20}) {
      temp_folder folder;
      auto all = drawn_documents(50, vocabulary);
      all[7][0] = {vocabulary - 1};
      write_shards(folder.path, all, {.vocabulary = static_cast<std::uint64_t>(vocabulary), .tokenizer = 77, .shard_bytes = bytes});
      auto const shards = token_shards::open(folder.path, tx::io::shard_check::all);
      INFO(vocabulary << " ids, shards of " << bytes);
      check_same(shards, all);
      CHECK(shards.vocabulary() == static_cast<std::uint32_t>(vocabulary));
      CHECK(shards.tokenizer() == 77);
      CHECK(shards.all().size() == folder.entries());
      CHECK(shards.all().size() == (bytes == 1 ? 50u : bytes == 40 ? shards.all().size() : 1u));
      CHECK((bytes != 40 || shards.all().size() > 3));
      CHECK(shards.all().back().header().id_bytes == (vocabulary <= 65536 ? 2u : 4u));
    }
}

TEST_CASE("a set without texts, one text, and texts that no end of a document follows", "[shards]") {
  temp_folder none, one;
  write_shards(none.path, {}, {.vocabulary = 9});
  auto const empty = token_shards::open(none.path);
  CHECK(empty.texts() == 0);
  CHECK(empty.documents() == 0);
  std::vector<std::int32_t> ids;
  CHECK_THROWS_WITH(empty.append(0, ids), Contains("there is no text 0. FIX: a number below 0"));
  {
    tx::io::token_shard_writer out(one.path, {.vocabulary = 9});
    out.end_document();
    out.add(std::vector{8});
    out.finish();
    CHECK_THROWS_WITH(out.add(std::vector{8}), Contains("finished"));
    CHECK_THROWS_WITH(out.finish(), Contains("finished"));
  }
  check_same(token_shards::open(one.path), {{{8}}});
}

TEST_CASE("what is in a set follows from its texts, and has a fingerprint of its own", "[shards]") {
  temp_folder a, b, c, d;
  auto all = drawn_documents(30, 300);
  write_shards(a.path, all, {.vocabulary = 300, .shard_bytes = 50});
  write_shards(b.path, all, {.vocabulary = 300, .shard_bytes = 50});
  CHECK(tree_of(a.path) == tree_of(b.path));
  CHECK(token_shards::open(a.path).fingerprint() == token_shards::open(b.path).fingerprint());
  write_shards(c.path, all, {.vocabulary = 301, .shard_bytes = 50});
  all[0][0][0] ^= 1;  // in the first shard, while the fingerprint is in the last
  write_shards(d.path, all, {.vocabulary = 300, .shard_bytes = 50});
  std::set<std::uint64_t> const prints{token_shards::open(a.path).fingerprint(), token_shards::open(c.path).fingerprint(), token_shards::open(d.path).fingerprint()};
  CHECK(prints.size() == 3);
}

TEST_CASE("a set that found no room is finished when there is some", "[shards]") {
  temp_folder folder;
  tx::io::token_shard_writer out(folder.path, {.vocabulary = 9});
  out.add(std::vector{8, 1, 3});
  {
    size_limit const full(100);
    CHECK_THROWS_AS(out.finish(), tx::io_error);
  }
  CHECK_THROWS_WITH(token_shards::open(folder.path), Contains("FIX"));
  out.finish();
  check_same(token_shards::open(folder.path), {{{8, 1, 3}}});
  CHECK_THROWS_WITH(out.finish(), Contains("finished"));
}

TEST_CASE("what a writer refuses", "[shards]") {
  temp_folder folder;
  CHECK_THROWS_WITH(tx::io::token_shard_writer(folder.path, {}), Contains("a vocabulary of 0. FIX: of 1 to 2147483648"));
  CHECK_THROWS_AS(tx::io::token_shard_writer(folder.path, {.vocabulary = std::uint64_t{1} << 32}), tx::value_error);
  {
    tx::io::token_shard_writer out(folder.path, {.vocabulary = 10});
    CHECK_THROWS_WITH(out.add({}), Contains("a text without ids. FIX"));
    CHECK_THROWS_WITH(out.add(std::vector{3, 10}), Contains("the id 10, and the vocabulary has 10. FIX"));
    CHECK_THROWS_WITH(out.add(std::vector{-1}), Contains("the id -1"));
    CHECK_THROWS_WITH(tx::io::token_shard_writer(folder.path, {.vocabulary = 10}), Contains("another run is writing here. FIX"));
    out.add(std::vector{9});
    out.finish();
  }
  check_same(token_shards::open(folder.path), {{{9}}});
  CHECK_THROWS_WITH(tx::io::token_shard_writer(folder.path, {.vocabulary = 10}), Contains(folder.path.string() + " has shards already. FIX: another folder"));
  tx::io::write_file_atomic(folder / "file", "");
  CHECK_THROWS_AS(tx::io::token_shard_writer(folder / "file", {.vocabulary = 10}), tx::io_error);
}

TEST_CASE("files that are not all of one set, and nothing else", "[shards]") {
  auto const all = drawn_documents(30, 300);
  temp_folder folder, other;
  auto const fresh = [&] {
    for (auto const& entry : std::filesystem::directory_iterator(folder.path)) std::filesystem::remove_all(entry.path());
    write_shards(folder.path, all, {.vocabulary = 300, .shard_bytes = 50});
    return token_shards::open(folder.path).all().size();
  };
  auto const name = [&](std::size_t k) { return folder.path / tx::io::token_shard_name(k); };
  auto const refused = [&](std::string const& message) { CHECK_THROWS_WITH(token_shards::open(folder.path), Contains(message) && Contains("FIX: ")); };
  CHECK_THROWS_AS(token_shards::open(folder / "nowhere"), tx::io_error);
  refused("has no shards of token ids");
  std::size_t const count = fresh();
  REQUIRE(count > 4);
  std::filesystem::remove(name(count - 1));
  refused("the set ends with " + tx::io::token_shard_name(count - 2));
  fresh();
  std::filesystem::remove(name(2));
  refused("shard 3 where shard 2 belongs");
  fresh();
  std::filesystem::copy_file(name(0), name(count));
  refused("shard 0 where shard " + std::to_string(count));
  fresh();
  std::filesystem::rename(name(1), folder / "other");
  std::filesystem::rename(name(2), name(1));
  std::filesystem::rename(folder / "other", name(2));
  refused("shard 2 where shard 1 belongs");

  auto changed = all;
  changed[0][0][0] ^= 1;
  write_shards(other.path, changed, {.vocabulary = 300, .shard_bytes = 50});
  fresh();
  auto const replace = [&](std::size_t k) { std::filesystem::copy_file(other.path / tx::io::token_shard_name(k), name(k), std::filesystem::copy_options::overwrite_existing); };
  replace(0);
  refused("a shard of another set than the one before");
  fresh();
  replace(count - 1);
  refused("a shard of another set than the one before");

  temp_folder longer;
  write_shards(longer.path, drawn_documents(60, 300), {.vocabulary = 300, .shard_bytes = 50});
  fresh();
  std::filesystem::copy_file(longer.path / tx::io::token_shard_name(count), name(count));
  refused("there is a shard behind the last one");
}

TEST_CASE("a writer that the disk fails leaves no set", "[shards]") {
  auto const all = drawn_documents(30, 300);
  int calls = 0;
  {
    temp_folder folder;
    watched_calls const count([&](std::string const&, bool done) { return calls += done ? 0 : 1, 0; });
    write_shards(folder.path, all, {.vocabulary = 300, .shard_bytes = 200});
  }
  REQUIRE(calls > 6);
  for (int failing = 1; failing <= calls; ++failing) {
    temp_folder folder;
    {
      int call = 0;
      watched_calls const fail([&](std::string const&, bool done) { return !done && ++call == failing ? EIO : 0; });
      CHECK_THROWS_WITH(write_shards(folder.path, all, {.vocabulary = 300, .shard_bytes = 200}), Contains(folder.path.string()) && Contains("Input/output error"));
    }
    if (failing < calls) CHECK_THROWS_AS(token_shards::open(folder.path), tx::format_error);  // the last call is the one that follows the last name
    for (auto const& entry : std::filesystem::directory_iterator(folder.path)) CHECK(tx::io::is_token_shard_name(entry.path().filename().string()));
  }
}
