// Pairs and masks, by counting: what the recipe says of their shares, lengths and places.
#include "../../examples/bert/pretraining_data.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace {

// Document d has ids from 10 + 100 d on, a few for each sentence, so that every token tells where it is from.
std::vector<bert::document> documents(int count) {
  std::vector<bert::document> all;
  for (int d = 0; d < count; ++d) {
    bert::document one;
    std::int32_t next = 10 + 100 * d;
    for (int s = 0; s < 6 + d % 5; ++s) {
      std::vector<std::int32_t> sentence;
      for (int k = 0; k < 2 + (d + s) % 6; ++k) sentence.push_back(next++);
      one.push_back(sentence);
    }
    all.push_back(one);
  }
  return all;
}
constexpr std::int32_t cls = 1, sep = 2;

}  // namespace

TEST_CASE("pairs of texts follow each other, or are of two documents", "[pretraining]") {
  auto const all = documents(300);
  bert::pair_options const o{.longest = 24};
  auto const pairs = bert::drawn_pairs(all, o, cls, sep, 7);
  REQUIRE(pairs.size() > 300);
  std::size_t others = 0, shorter = 0;
  for (auto const& p : pairs) {
    REQUIRE(p.ids.size() == p.types.size());
    REQUIRE(p.ids.size() <= 24);
    REQUIRE((p.ids.front() == cls && p.ids.back() == sep));
    auto const middle = std::find(p.ids.begin() + 1, p.ids.end(), sep);
    REQUIRE(middle + 1 != p.ids.end());
    std::vector<std::int32_t> const a(p.ids.begin() + 1, middle), b(middle + 1, p.ids.end() - 1);
    REQUIRE((!a.empty() && !b.empty()));
    for (std::size_t i = 0; i < p.types.size(); ++i) REQUIRE(p.types[i] == (i > a.size() + 1));
    auto const of = [](std::int32_t id) { return (id - 10) / 100; };
    for (auto const* text : {&a, &b})
      for (std::size_t i = 1; i < text->size(); ++i) REQUIRE((*text)[i] == (*text)[i - 1] + 1);  // as they stand in their document
    REQUIRE(p.other == (of(a[0]) != of(b[0])));
    if (!p.other) REQUIRE(b[0] > a.back());
    others += p.other;
    shorter += p.ids.size() < 16;
  }
  CHECK(others > pairs.size() * 2 / 5);
  CHECK(others < pairs.size() * 7 / 10);
  CHECK(shorter > 0);

  CHECK(bert::drawn_pairs(all, o, cls, sep, 7).front().ids == pairs.front().ids);
  CHECK(bert::drawn_pairs(all, o, cls, sep, 8).front().ids != pairs.front().ids);
}

TEST_CASE("all sentences of a document come in a pass", "[pretraining]") {
  auto const all = documents(40);
  std::set<std::int32_t> seen;
  for (auto const& p : bert::drawn_pairs(all, {.longest = 400, .short_share = 0}, cls, sep, 3)) seen.insert(p.ids.begin(), p.ids.end());
  std::size_t count = 0;
  for (auto const& d : all)
    for (auto const& s : d) count += s.size();
  CHECK(seen.size() == count + 2);
}

TEST_CASE("a text of any length is cut", "[pretraining]") {
  std::vector<std::int32_t> all(2'000'000);  // in moments, not in hours
  std::iota(all.begin(), all.end(), 100);
  auto const pairs = bert::drawn_pairs(std::vector<bert::document>{{all}, {{10, 11, 12}, {13, 14}}}, {.longest = 24}, cls, sep, 3);
  bool cut = false;
  for (auto const& p : pairs) {
    CHECK(p.ids.size() <= 24);
    for (std::size_t i = 1; i < p.ids.size(); ++i)
      if (p.ids[i] >= 100 && p.ids[i - 1] >= 100) CHECK(p.ids[i] == p.ids[i - 1] + 1);
    // Half of what is cut off was before what is left, or about so.
    if (auto const at = std::ranges::find_if(p.ids, [](std::int32_t id) { return id >= 100; }); at != p.ids.end()) cut = cut || (*at > 990'000 && *at < 1'010'000);
  }
  CHECK(cut);
}

TEST_CASE("masked tokens: how many, where, and what stands there", "[pretraining]") {
  bool kept[200] = {}, continues[200] = {};
  kept[cls] = kept[sep] = true;
  for (int k = 100; k < 200; ++k) continues[k] = true;
  bert::mask_options o{.mask = 3, .vocabulary = 200, .kept = kept, .continues = continues};
  std::vector<std::int32_t> ids{cls};
  for (int k = 0; k < 60; ++k) ids.push_back(10 + k + (k % 3 == 2 ? 90 : 0));
  ids.push_back(sep);
  std::map<char, int> counts;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    auto const m = bert::masked(ids, o, seed);
    REQUIRE(m.places.size() == 9);  // 0.15 of 62
    REQUIRE(m.words.size() == 9);
    REQUIRE(std::is_sorted(m.places.begin(), m.places.end()));
    auto back = m.ids;
    for (std::size_t k = 0; k < m.places.size(); ++k) {
      auto const at = static_cast<std::size_t>(m.places[k]);
      REQUIRE(ids[at] == m.words[k]);
      REQUIRE((ids[at] != cls && ids[at] != sep));
      ++counts[m.ids[at] == 3 ? 'm' : m.ids[at] == ids[at] ? 's' : 'd'];
      back[at] = ids[at];
    }
    REQUIRE(back == ids);  // nothing else has changed
  }
  CHECK(counts['m'] / 27000.0 == Approx(0.8).margin(0.01));
  CHECK(counts['s'] / 27000.0 == Approx(0.1).margin(0.01));
  CHECK(counts['d'] / 27000.0 == Approx(0.1).margin(0.01));

  o.most = 4;
  CHECK(bert::masked(ids, o, 1).places.size() == 4);
  CHECK(bert::masked(std::vector<std::int32_t>{cls, 10, sep}, o, 1).places == std::vector<std::int32_t>{1});
  o.whole_words = true;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto const m = bert::masked(ids, o, seed);
    std::set<std::int32_t> const places(m.places.begin(), m.places.end());
    for (std::int32_t const at : places) {
      if (continues[ids[static_cast<std::size_t>(at)]]) REQUIRE(places.count(at - 1) == 1);
      if (at + 1 < static_cast<std::int32_t>(ids.size()) && continues[ids[static_cast<std::size_t>(at) + 1]]) REQUIRE(places.count(at + 1) == 1);
    }
  }
}
