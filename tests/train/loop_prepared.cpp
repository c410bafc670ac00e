// Batches prepared by threads: those of the source, in its order, whatever the threads; packed texts of shards, resumed, shared by ranks.
#include "../io/small_shards.hpp"
#include "round_trip.hpp"

#include <tx/text/packed_batch.hpp>
#include <tx/train/loop/packed_texts.hpp>
#include <tx/train/loop/options.hpp>
#include <tx/train/loop/prepared.hpp>

#include <catch2/catch.hpp>

#include <map>

using namespace tx::train;
using Catch::Contains;

namespace {

// Room for 4 texts of up to 7 tokens, 16 in all.
using small_batch = tx::text::packed_batch<4, 7, 16>;
using source = packed_texts<small_batch>;
static_assert(source_in_parts<source> && has_place<prepared<source>>);

struct shards_test {
  temp_folder folder;
  tx::io::token_shards shards;

  shards_test() : shards(written(folder.path, 60)) {}
  static tx::io::token_shards written(std::filesystem::path const& to, int documents, std::int32_t vocabulary = 1'000'000) {
    write_shards(to, drawn_documents(documents, vocabulary), {.vocabulary = static_cast<std::uint64_t>(vocabulary), .shard_bytes = 300});
    return tx::io::token_shards::open(to);
  }
};

// The texts of a batch; ids are different everywhere, so the first tells which it is.
std::vector<std::vector<tx::i32>> texts_of(small_batch const& b) {
  std::vector<std::vector<tx::i32>> out;
  for (int t = 0; t < b.texts(); ++t) {
    auto const at = static_cast<std::size_t>(t);
    out.emplace_back(b.ids.begin() + b.offsets[at], b.ids.begin() + b.offsets[at + 1]);
  }
  return out;
}
using batches = std::vector<std::vector<std::vector<tx::i32>>>;
template <class From>
batches taken(From& from, int count) {
  batches out;
  for (int k = 0; k < count; ++k) out.push_back(texts_of(from.next()));
  return out;
}

}  // namespace

TEST_CASE_METHOD(shards_test, "every text is in one batch of each epoch, and batches are well filled", "[prepared]") {
  std::uint64_t const window = 40;
  prepared<source> all(source(shards, {.seed = 5, .window = window}));
  std::map<std::vector<tx::i32>, int> seen;
  std::uint64_t texts = 0, count = 0, tokens = 0;
  while (texts < window * shards.texts()) {  // windows end where epochs do
    for (auto const& t : texts_of(all.next())) {
      ++seen[t];
      ++texts;
      tokens += t.size();
    }
    ++count;
  }
  CHECK(seen.size() == shards.texts());
  for (auto const& [text, times] : seen) CHECK(times == window);
  CHECK(static_cast<double>(texts) / static_cast<double>(4 * count) + static_cast<double>(tokens) / static_cast<double>(16 * count) > 1.7);
}

TEST_CASE_METHOD(shards_test, "batches do not depend on threads, and differ by seed", "[prepared]") {
  prepared<source> at_once(source(shards, {.seed = 5, .window = 64}), {.threads = 0});
  batches const wanted = taken(at_once, 100);
  for (std::size_t const threads : {1u, 2u, 5u}) {
    prepared<source> all(source(shards, {.seed = 5, .window = 64}), {.threads = threads, .ahead = 3});
    CHECK(taken(all, 100) == wanted);
  }
  prepared<source> other(source(shards, {.seed = 6, .window = 64}));
  CHECK(taken(other, 100) != wanted);
}

TEST_CASE_METHOD(shards_test, "a place is that of the batches that were taken, not of those that wait", "[prepared]") {
  prepared<source> whole(source(shards, {.seed = 5, .window = 30}), {.threads = 0});
  batches const wanted = taken(whole, 80);
  prepared<source> all(source(shards, {.seed = 5, .window = 30}), {.threads = 2, .ahead = 6});
  for (std::size_t k = 0; k < 60; ++k) {
    auto const place = place_of(all);
    prepared<source> again(source(shards, {.seed = 5, .window = 30}), {.threads = k % 3});
    if (k % 2 == 0) again.next();  // what was prepared before is forgotten
    again.restore(place.in());
    REQUIRE(taken(again, 5) == batches(wanted.begin() + static_cast<std::ptrdiff_t>(k), wanted.begin() + static_cast<std::ptrdiff_t>(k) + 5));
    REQUIRE(texts_of(all.next()) == wanted[k]);
  }
}

TEST_CASE_METHOD(shards_test, "ranks have every n-th batch of the same ones", "[prepared]") {
  prepared<source> whole(source(shards, {.seed = 5, .window = 30}), {.threads = 0});
  batches const wanted = taken(whole, 80);
  for (std::uint64_t ranks = 1; ranks <= 4; ++ranks)
    for (std::uint64_t r = 0; r < ranks; ++r) {
      prepared<source> share(source(shards, {.seed = 5, .window = 30, .share = {r, ranks}}));
      for (std::size_t k = 0; k < 10; ++k) REQUIRE(texts_of(share.next()) == wanted[k * ranks + r]);
      prepared<source> alone(source(shards, {.seed = 5, .window = 30}));
      alone.restore(place_of(share).in());  // goes on with another number of ranks
      REQUIRE(texts_of(alone.next()) == wanted[10 * ranks]);
    }
}

TEST_CASE_METHOD(shards_test, "places and options that do not fit", "[prepared]") {
  prepared<source> all(source(shards, {.seed = 5, .window = 30}));
  auto const first = texts_of(all.next());
  auto const place = place_of(all);
  temp_folder elsewhere;
  auto const others = written(elsewhere.path, 61);
  prepared<source> other_shards(source(others, {.seed = 5, .window = 30})), other_seed(source(shards, {.seed = 6, .window = 30})), other_window(source(shards, {.seed = 5, .window = 31}));
  CHECK_THROWS_WITH(other_shards.restore(place.in()), Contains("that of another run (shards). FIX: resume with the same shards, seed and window"));
  CHECK_THROWS_WITH(other_seed.restore(place.in()), Contains("(seed_of_order)"));
  CHECK_THROWS_WITH(other_window.restore(place.in()), Contains("(window_texts)"));
  auto far = place.values;
  far["batch"] = std::int64_t{31};
  prepared<source> again(source(shards, {.seed = 5, .window = 30}));
  CHECK_THROWS_WITH(again.restore(saved(far, *place.arrays)), Contains("behind the last batch of its window. FIX"));
  CHECK(texts_of(again.next()) == first);  // as if nothing had been asked

  CHECK_THROWS_WITH(source(shards, {.window = 0}), Contains("a window without texts. FIX"));
  CHECK_THROWS_WITH(source(shards, {.share = {1, 1}}), Contains("packed_texts: rank 1 of 1. FIX"));
  using shorter = tx::text::packed_batch<4, 6, 16>;
  CHECK_THROWS_WITH(packed_texts<shorter>(shards, {}), Contains("a text has 7 tokens; there is room for 6. FIX"));
  temp_folder none;
  write_shards(none.path, {}, {.vocabulary = 5});
  auto const empty = tx::io::token_shards::open(none.path);
  CHECK_THROWS_WITH(source(empty, {}), Contains("no items. FIX"));
}

TEST_CASE("damage that a thread meets reaches the step that would have learned from it", "[prepared]") {
  temp_folder folder;
  write_shards(folder.path, drawn_documents(60, 1000), {.vocabulary = 1000});
  auto const path = folder.path / tx::io::token_shard_name(0);
  auto bytes = tx::io::read_file(path);
  auto const at = sizeof(tx::io::token_shard_header) + 2 * 100;  // an id of two bytes
  bytes[at] = bytes[at + 1] = std::byte{0xff};
  tx::io::write_file_atomic(path, bytes);
  auto const shards = tx::io::token_shards::open(folder.path);
  std::vector<std::vector<std::vector<tx::i32>>> before;
  for (std::size_t const threads : {0u, 2u}) {
    prepared<source> all(source(shards, {.seed = 1, .window = 200}), {.threads = threads});
    batches good;
    std::string message;
    while (message.empty()) try {
        good.push_back(texts_of(all.next()));
      } catch (tx::format_error const& e) {
        message = e.what();
      }
    CHECK_THAT(message, Contains(path.string() + ": text ") && Contains("has the id 65535, and the vocabulary 1000. FIX"));
    CHECK_THROWS_AS(all.next(), tx::format_error);
    CHECK((threads == 0 || good == before));
    before = good;
    auto const place = place_of(all);  // that of the last good batch: a run that mends the file goes on behind it
    CHECK(tx::io::value_of<std::int64_t>(place.values, "batch") == static_cast<std::int64_t>(good.size()));
  }
}
