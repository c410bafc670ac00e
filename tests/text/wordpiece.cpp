#include <tx/text/wordpiece.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "../io/temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::text::wordpiece;
using strings = std::vector<std::string>;
using ids = std::vector<std::int32_t>;

namespace {

std::string const special = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

strings pieces_of(wordpiece const& coder, std::string_view text) {
  strings pieces;
  for (std::int32_t const id : coder.encode(text)) pieces.push_back(coder.tokens()[static_cast<std::size_t>(id)]);
  return pieces;
}

strings random_texts(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  strings texts(count);
  for (auto& text : texts) {
    for (int w = 0; w < 20; ++w) {
      // Squared, so that some words come often and some hardly.
      auto rank = static_cast<unsigned>(random() % 60);
      rank = rank * rank;
      for (unsigned n = rank * 2654435761u, i = 0; i <= rank % 7; ++i, n /= 7) text += static_cast<char>('a' + n % 11);
      text += ' ';
    }
  }
  return texts;
}

}  // namespace

TEST_CASE("BERT's own example comes apart as it does there") {
  auto const coder = wordpiece::parse(special + "un\n##aff\n##able\nwant\n##ed\n##want\nrunn\n##ing\n,\n", "test");
  CHECK(pieces_of(coder, "unaffable") == strings{"un", "##aff", "##able"});
  CHECK(pieces_of(coder, "UNwanted, running") == strings{"un", "##want", "##ed", ",", "runn", "##ing"});
  CHECK(pieces_of(coder, "unwantedX running") == strings{"[UNK]", "runn", "##ing"});
  CHECK(coder.encode("").empty());
}

TEST_CASE("the longest piece wins, and only continuations continue") {
  auto const coder = wordpiece::parse(special + "a\nab\nabc\n##c\n##cd\n##b\nd\n##é\n##\n#\n", "test");
  CHECK(pieces_of(coder, "abcd") == strings{"[UNK]"});  // greedy: abc, then no ##d
  CHECK(pieces_of(coder, "abcc") == strings{"abc", "##c"});
  CHECK(pieces_of(coder, "acd") == strings{"a", "##cd"});
  CHECK(pieces_of(coder, "ad") == strings{"[UNK]"});
  CHECK(pieces_of(coder, "c") == strings{"[UNK]"});
  CHECK(pieces_of(coder, "##c") == strings{"#", "#", "[UNK]"});
}

TEST_CASE("a word of 100 characters is looked at, one of 101 is not") {
  auto const coder = wordpiece::parse(special + "a\n##a\n中\n", "test");
  CHECK(coder.encode(std::string(100, 'a')).size() == 100);
  CHECK(coder.encode(std::string(101, 'a')) == ids{1});
  CHECK(coder.encode(std::string(1'000'000, 'a') + " a") == ids{1, 5});
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "á";
  CHECK(coder.encode(accents).size() == 100);
}

TEST_CASE("ids are cut off, closed and padded") {
  auto const coder = wordpiece::parse(special + "a\nb\nc\n##d\n", "test");
  ids out(6, 99);
  CHECK(coder.encode("a bd", out, true) == 5);
  CHECK(out == ids{2, 5, 6, 8, 3, 0});
  CHECK(coder.encode("a b c a b c", out, true) == 6);
  CHECK(out == ids{2, 5, 6, 7, 5, 3});
  CHECK(coder.encode("a b c a b c a", out, false) == 6);
  CHECK(out == ids{5, 6, 7, 5, 6, 7});
  CHECK(coder.encode("", out, false) == 0);
  CHECK(out == ids(6, 0));
  ids two(2);
  CHECK(coder.encode("a b", two, true) == 2);
  CHECK(two == ids{2, 3});
  CHECK_THROWS_AS(coder.encode("a", std::span(two).first(1), true), tx::value_error);
  CHECK(coder.encode("a", {}, false) == 0);
}

TEST_CASE("special tokens may stand anywhere in the file, and in a text they are text") {
  auto const coder = wordpiece::parse("[SEP]\n[\ncls\n]\n[CLS]\n[MASK]\n[UNK]\n[PAD]", "test");
  CHECK(coder.pad_id() == 7);
  CHECK(coder.unk_id() == 6);
  CHECK(coder.cls_id() == 4);
  CHECK(coder.sep_id() == 0);
  CHECK(coder.mask_id() == 5);
  CHECK(pieces_of(coder, "[CLS]") == strings{"[", "cls", "]"});
  CHECK(coder.id("cls") == 2);
  CHECK(coder.id("##cls") == std::nullopt);
  CHECK(coder.id("cl") == std::nullopt);
  CHECK(coder.id("") == std::nullopt);
}

TEST_CASE("broken vocabularies are refused with their line") {
  CHECK_THROWS_WITH(wordpiece::parse("", "v"), Contains("v: the vocabulary lacks [PAD]"));
  CHECK_THROWS_WITH(wordpiece::parse("[PAD]\n[UNK]\n[CLS]\n[SEP]\n", "v"), Contains("lacks [MASK]"));
  CHECK_THROWS_WITH(wordpiece::parse(special + "a\n\nb\n", "v"), Contains("v:7: the token is empty"));
  CHECK_THROWS_WITH(wordpiece::parse(special + "a\nb\na\n", "v"), Contains("v:8: 'a' is given twice"));
  CHECK_THROWS_WITH(wordpiece::parse(special + "\xFF\n", "v"), Contains("v:6: not UTF-8"));
  // These would be other tokens once they are written and read again.
  CHECK_THROWS_WITH(wordpiece::parse(special + "a\r\r\n", "v"), Contains("v:6: the token ends in a carriage return"));
  CHECK_THROWS_WITH(wordpiece::parse("\xEF\xBB\xBF\xEF\xBB\xBFx\n" + special, "v"),
                    Contains("v:1: the token begins with a byte order mark"));
  CHECK_THROWS_AS(wordpiece::load("/no/such/file"), tx::io_error);
  CHECK(wordpiece::parse("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\n[MASK]\r\na\r\n", "v").id("a") == 5);
}

TEST_CASE("merges are learned in the order of their frequency") {
  // ab 6, ##bc 0 after it; then the ties in byte order.
  auto const coder = wordpiece::learn(strings{"ab ab ab abc abc abc", "xy xy", "pq pq", "once"}, 100);
  CHECK(coder.tokens() == strings{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##b", "##c", "##e", "##n", "##q",
                                  "##y", "a", "o", "p", "x", "ab", "abc", "pq", "xy"});
  CHECK(wordpiece::learn(strings{"ab ab ab abc abc abc", "xy xy", "pq pq", "once"}, 16).tokens().back() == "ab");
}

TEST_CASE("neighbours that overlap are merged from the left") {
  auto const coder = wordpiece::learn(strings{"aaaaa aaaaa aaaaa"}, 100);
  // a ##a ##a ##a ##a: the pair (##a, ##a) comes first, 9 times, then a with what it left.
  CHECK(coder.tokens() == strings{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##a", "a", "##aa", "##aaaa", "aaaaa"});
}

TEST_CASE("two ways to one text make one piece") {
  auto const texts = random_texts(5, 300);
  auto const coder = wordpiece::learn(texts, 400);
  auto sorted = coder.tokens();
  std::ranges::sort(sorted);
  CHECK(std::unique(sorted.begin(), sorted.end()) == sorted.end());
  for (auto const& text : texts) {
    for (std::int32_t const id : coder.encode(text)) REQUIRE(id != coder.unk_id());
  }
}

TEST_CASE("merges agree with counting every pair anew") {
  auto const texts = random_texts(7, 100);
  std::map<std::string, std::int64_t> counts;
  for (auto const& text : texts) {
    tx::text::for_each_word(text, [&](std::string_view word, std::size_t) {
      ++counts[std::string(word)];
      return true;
    });
  }
  std::vector<std::pair<strings, std::int64_t>> words;
  std::set<std::string> known;
  for (auto const& [word, count] : counts) {
    words.push_back({{}, count});
    for (std::size_t i = 0; i < word.size(); ++i) {
      words.back().first.push_back((i == 0 ? "" : "##") + word.substr(i, 1));
      known.insert(words.back().first.back());
    }
  }
  strings expected(known.begin(), known.end());
  while (expected.size() < 295) {
    std::map<std::pair<std::string, std::string>, std::int64_t> pairs;
    for (auto const& [pieces, count] : words) {
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) pairs[{pieces[i], pieces[i + 1]}] += count;
    }
    auto best = pairs.end();
    for (auto p = pairs.begin(); p != pairs.end(); ++p) {
      if (best == pairs.end() || p->second > best->second) best = p;
    }
    if (best == pairs.end() || best->second < 2) break;
    std::string const merged = best->first.first + best->first.second.substr(2);
    if (known.insert(merged).second) expected.push_back(merged);
    for (auto& [pieces, count] : words) {
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
        if (pieces[i] != best->first.first || pieces[i + 1] != best->first.second) continue;
        pieces[i] = merged;
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  auto const coder = wordpiece::learn(texts, 300);
  CHECK(strings(coder.tokens().begin() + 5, coder.tokens().end()) == expected);
}

TEST_CASE("learning is deterministic and independent of the order of texts") {
  temp_folder folder;
  auto texts = random_texts(11, 200);
  wordpiece::learn(texts, 300).save(folder / "a");
  wordpiece::learn(texts, 300).save(folder / "b");
  std::ranges::reverse(texts);
  wordpiece::learn(texts, 300).save(folder / "c");
  std::string const a = tx::io::read_text(folder / "a");
  CHECK(a == tx::io::read_text(folder / "b"));
  CHECK(a == tx::io::read_text(folder / "c"));
  CHECK(a.starts_with(special));
  CHECK(wordpiece::load(folder / "a").tokens() == wordpiece::learn(texts, 300).tokens());
}

TEST_CASE("characters beyond the size are left unknown, rarest first") {
  auto const coder = wordpiece::learn(strings{"a a a b b c"}, 7);
  CHECK(strings(coder.tokens().begin() + 5, coder.tokens().end()) == strings{"a", "b"});
  CHECK(pieces_of(coder, "a c") == strings{"a", "[UNK]"});
  CHECK(wordpiece::learn({}, 100).size() == 5);
  CHECK_THROWS_AS(wordpiece::learn(strings{"a"}, 5), tx::value_error);
}

TEST_CASE("a vocabulary that cannot be saved is an io_error") {
  auto const coder = wordpiece::learn(strings{"a"}, 10);
  CHECK_THROWS_WITH(coder.save("/dev/full"), Contains("No space left"));
  CHECK_THROWS_AS(coder.save("/no/such/folder/v"), tx::io_error);
}

TEST_CASE("threads may share a vocabulary") {
  auto const texts = random_texts(3, 100);
  auto const coder = wordpiece::learn(texts, 200);
  std::vector<ids> expected;
  for (auto const& text : texts) expected.push_back(coder.encode(text));
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (auto& w : wrong) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < texts.size(); ++i) w += coder.encode(texts[i]) != expected[i];
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("learning and encoding are fast", "[.slow]") {
  using clock = std::chrono::steady_clock;
  auto const seconds = [](clock::time_point since) {
    return std::chrono::duration<double>(clock::now() - since).count();
  };
  std::mt19937 random(1);
  strings texts(200'000);  // 20 MB, about 250,000 different words
  for (auto& text : texts) {
    while (text.size() < 100) {
      auto n = static_cast<unsigned>(random() % 1000 < 900 ? random() % 5000 * 48271u : random() % 300'000 * 16807u);
      for (unsigned i = n % 9; i < 11; ++i, n = n / 5 + n % 5 * 97u) text += static_cast<char>('a' + n % 26);
      text += ' ';
    }
  }
  auto start = clock::now();
  auto const coder = wordpiece::learn(texts, 8000);
  CHECK(seconds(start) < 20);
  CHECK(coder.size() == 8000);
  std::size_t count = 0;
  start = clock::now();
  for (auto const& text : texts) count += coder.encode(text).size();
  CHECK(static_cast<double>(count) / seconds(start) > 1e6);
}
