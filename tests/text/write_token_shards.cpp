// Files of sentences as shards: the ids of the tokenizer, the same for any number of threads.
#include "../io/same_files.hpp"
#include "../io/temp_folder.hpp"

#include <tx/io/token_shards.hpp>
#include <tx/text/write_token_shards.hpp>

#include <catch2/catch.hpp>

using Catch::Contains;
using namespace tx::text;

namespace {

using texts = std::vector<std::vector<std::int32_t>>;
std::string const folder_of_model = TX_TEST_DIR "/../parity/data/folder";

struct texts_test : temp_folder {
  std::string file(char const* name, std::string const& content) const {
    tx::io::write_file_atomic(path / name, content);
    return (path / name).string();
  }
  written_texts write(std::vector<std::string> const& files, char const* to, token_shards_of_texts o = {}) const {
    o.tokenizer = folder_of_model;
    return write_token_shards(path / to, files, o);
  }
};

std::string sentence(int k) {
  static char const* const words[] = {"the", "tokens", "texts", "pairing", "numbers", "few", "words", "learning"};
  std::string out;
  for (int w = 0; w <= k % 9; ++w) out += std::string(w == 0 ? "" : " ") + words[(k * 3 + w * 5) % 8];
  return out;
}

}  // namespace

TEST_CASE_METHOD(texts_test, "lines are texts, empty lines and ends of files end documents", "[shards]") {
  auto const a = file("a", "\xEF\xBB\xBFthe words\nfew texts\r\n\n\n  \nlearning\n"), b = file("b", "the tokens"), none = file("none", "\n\n");
  auto const told = write({a, none, b}, "out");
  CHECK(told.documents == 3);
  CHECK(told.texts == 4);
  auto const shards = tx::io::token_shards::open(path / "out", tx::io::shard_check::all);
  auto const words = tokenizer::load(folder_of_model);
  REQUIRE(shards.documents() == 3);
  CHECK(shards.document(0) == texts{words.ids_of("the words"), words.ids_of("few texts")});
  CHECK(shards.document(1) == texts{words.ids_of("learning")});
  CHECK(shards.document(2) == texts{words.ids_of("the tokens")});
  CHECK(shards.ids() == told.ids);
  CHECK(shards.vocabulary() == words.size());
  CHECK(shards.tokenizer() == tokenizer_fingerprint(folder_of_model));
}

TEST_CASE_METHOD(texts_test, "shards are the same for any number of threads, over many pieces of a file", "[shards]") {
  std::string text;
  for (int k = 0; text.size() < 5 * detail::piece_bytes; ++k) text += k % 11 == 0 ? "\n" : sentence(k) + '\n';
  text += "no end";
  auto const a = file("a", text), b = file("b", sentence(3) + '\n');
  auto const told = write({a, b}, "one", {.threads = 1, .shard_bytes = 100'000});
  for (std::size_t const threads : {2u, 7u}) {
    std::string const to = "threads" + std::to_string(threads);
    write({a, b}, to.c_str(), {.threads = threads, .shard_bytes = 100'000});
    CHECK(tree_of(path / "one") == tree_of(path / to));
  }
  auto const shards = tx::io::token_shards::open(path / "one");
  CHECK(shards.all().size() > 3);
  auto const words = tokenizer::load(folder_of_model);
  std::uint64_t at = 0;
  std::vector<std::int32_t> ids;
  for_each_line(text, [&](std::string_view line, std::size_t) {
    if (line.empty()) return;
    ids.clear();
    shards.append(at++, ids);
    REQUIRE(ids == words.ids_of(line));
  });
  CHECK(at + 1 == told.texts);
}

TEST_CASE_METHOD(texts_test, "long texts become several of at most so many ids", "[shards]") {
  auto const a = file("a", sentence(8) + "\n" + sentence(1) + "\n");
  write({a}, "whole");
  write({a}, "cut", {.longest = 4});
  auto const whole = tx::io::token_shards::open(path / "whole"), cut = tx::io::token_shards::open(path / "cut");
  CHECK(whole.longest() > 4);
  CHECK(cut.longest() == 4);
  REQUIRE(cut.documents() == 1);
  std::vector<std::int32_t> a_ids, b_ids;
  for (std::uint64_t k = 0; k < whole.texts(); ++k) whole.append(k, a_ids);
  for (std::uint64_t k = 0; k < cut.texts(); ++k) cut.append(k, b_ids);
  CHECK(a_ids == b_ids);
}

TEST_CASE_METHOD(texts_test, "texts that are none name their line", "[shards]") {
  std::string text = "\xEF\xBB\xBF\xEF\xBB\xBFthe words\n";
  std::size_t lines = 1;
  for (; text.size() < 2 * detail::piece_bytes; ++lines) text += sentence(static_cast<int>(lines)) + '\n';
  auto const bad = file("bad", text + "few \xff\n" + text);
  for (std::size_t const threads : {1u, 4u}) {
    std::string const to = "out" + std::to_string(threads);
    CHECK_THROWS_WITH(write({bad}, to.c_str(), {.threads = threads}), bad + ':' + std::to_string(lines + 1) + ": not UTF-8");
    CHECK_THROWS_AS(tx::io::token_shards::open(path / to), tx::format_error);  // no set was finished
  }
  CHECK_THROWS_AS(write({(path / "nothing").string()}, "none"), tx::io_error);
}

TEST_CASE_METHOD(texts_test, "a tokenizer is told by its files", "[shards]") {
  std::filesystem::copy(folder_of_model, path / "copy", std::filesystem::copy_options::recursive);
  CHECK(tokenizer_fingerprint(path / "copy") == tokenizer_fingerprint(folder_of_model));
  CHECK(tokenizer_fingerprint(path / "copy/tokenizer.json") == tokenizer_fingerprint(folder_of_model));
  file("copy/config.json", "{}");
  CHECK(tokenizer_fingerprint(path / "copy") == tokenizer_fingerprint(folder_of_model));
  file("copy/tokenizer.json", tx::io::read_text(path / "copy/tokenizer.json") + '\n');
  CHECK(tokenizer_fingerprint(path / "copy") != tokenizer_fingerprint(folder_of_model));
  std::filesystem::create_directory(path / "words");
  file("words/vocab.txt", "[PAD]\n");
  auto const words = tokenizer_fingerprint(path / "words");
  file("words/tokenizer_config.json", "{}");
  CHECK(tokenizer_fingerprint(path / "words") != words);
}
