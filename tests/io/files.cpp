#include <tx/io/files.hpp>

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <thread>

#include "size_limit.hpp"
#include "temp_folder.hpp"

using Catch::Matchers::Contains;

TEST_CASE("a file comes back as it was written") {
  temp_folder folder;
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{1'000'003}}) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 % 251);
    tx::io::write_file_atomic(folder / "a", text);
    CHECK(tx::io::read_text(folder / "a") == text);
    auto const bytes = tx::io::read_file(folder / "a");
    CHECK(std::ranges::equal(bytes, std::as_bytes(std::span(text))));
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file without a known size is read to its end") {
  CHECK_THAT(tx::io::read_text("/proc/self/status"), Contains("Pid:"));
}

TEST_CASE("reading names the path and the reason") {
  temp_folder folder;
  CHECK_THROWS_AS(tx::io::read_file(folder / "none"), tx::io_error);
  CHECK_THROWS_WITH(tx::io::read_file(folder / "none"), Contains("none") && Contains("No such file"));
  CHECK_THROWS_WITH(tx::io::read_file(folder.path), Contains(folder.path.string()) && Contains("directory"));
  tx::io::write_file_atomic(folder / "file", "x");
  CHECK_THROWS_WITH(tx::io::read_file(folder / "file/below"), Contains("Not a directory"));
  std::filesystem::create_symlink("loop", folder / "loop");
  CHECK_THROWS_WITH(tx::io::read_file(folder / "loop"), Contains("loop: Too many levels of symbolic links"));
  CHECK_THROWS_WITH(tx::io::read_file(folder / std::string(300, 'x').c_str()), Contains("File name too long"));
  // It opens and then cannot be read, as on a broken disk: nothing is mapped at address 0.
  CHECK_THROWS_AS(tx::io::read_file("/proc/self/mem"), tx::io_error);
  CHECK_THROWS_WITH(tx::io::read_text("/proc/self/mem"), Contains("cannot read /proc/self/mem: Input/output error"));
  if (::geteuid() != 0) {  // root reads everything
    ::chmod((folder / "file").c_str(), 0);
    CHECK_THROWS_WITH(tx::io::read_file(folder / "file"), Contains("Permission denied"));
  }
}

TEST_CASE("what fails to be written leaves the old file and nothing else") {
  temp_folder folder;
  tx::io::write_file_atomic(folder / "a", "old");
  {
    size_limit limit(1000);
    CHECK_THROWS_WITH(tx::io::write_file_atomic(folder / "a", std::string(5000, 'x')), Contains("File too large"));
  }
  CHECK(tx::io::read_text(folder / "a") == "old");
  CHECK(folder.entries() == 1);
  { tx::io::atomic_file(folder / "a").write("never committed"); }
  CHECK(tx::io::read_text(folder / "a") == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a full disk is an io_error") {
  CHECK_THROWS_AS(tx::io::write_file_atomic("/dev/full", "x"), tx::io_error);
  CHECK_THROWS_WITH(tx::io::write_file_atomic("/dev/full", "x"), Contains("/dev/full") && Contains("No space left"));
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("writing where nothing can be written names the path") {
  temp_folder folder;
  CHECK_THROWS_WITH(tx::io::write_file_atomic(folder / "no/a", "x"), Contains("no/a") && Contains("No such file"));
  CHECK_THROWS_WITH(tx::io::write_file_atomic(folder.path, "x"), Contains("directory"));
  CHECK_THROWS_AS(tx::io::write_file_atomic(folder.path / "", "x"), tx::io_error);
  CHECK_THROWS_AS(tx::io::write_file_atomic("", "x"), tx::io_error);
  CHECK(folder.entries() == 0);
}

TEST_CASE("replacing keeps permissions and symbolic links") {
  temp_folder folder;
  tx::io::write_file_atomic(folder / "a", "old");
  ::chmod((folder / "a").c_str(), 0600);
  std::filesystem::create_symlink("a", folder / "link");
  tx::io::write_file_atomic(folder / "link", "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(tx::io::read_text(folder / "a") == "new");
  CHECK(std::filesystem::status(folder / "a").permissions() == std::filesystem::perms(0600));
}

TEST_CASE("threads that write one file leave one of their contents") {
  temp_folder folder;
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([&folder, c] {
      for (int i = 0; i < 20; ++i) tx::io::write_file_atomic(folder / "f", std::string(10000, c));
    });
  }
  for (auto& t : threads) t.join();
  std::string const text = tx::io::read_text(folder / "f");
  CHECK(text == std::string(10000, text[0]));
  CHECK(folder.entries() == 1);
}

TEST_CASE("folders are made with those above them") {
  temp_folder folder;
  tx::io::ensure_directory(folder / "a/b/c");
  tx::io::ensure_directory(folder / "a/b/c");
  tx::io::ensure_directory(folder / "d/");
  CHECK(std::filesystem::is_directory(folder / "a/b/c"));
  CHECK(std::filesystem::is_directory(folder / "d"));
  tx::io::write_file_atomic(folder / "file", "x");
  CHECK_THROWS_AS(tx::io::ensure_directory(folder / "file"), tx::io_error);
  CHECK_THROWS_AS(tx::io::ensure_directory(folder / "file/below"), tx::io_error);
}
