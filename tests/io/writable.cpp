#include <tx/io/writable.hpp>

#include <catch2/catch.hpp>

#include "temp_folder.hpp"

using Catch::Contains;

TEST_CASE("a file that can be written is left as it is") {
  temp_folder folder;
  tx::io::check_writable(folder / "new");
  CHECK(folder.entries() == 0);
  tx::io::write_file_atomic(folder / "old", "text");
  tx::io::check_writable(folder / "old");
  CHECK(tx::io::read_text(folder / "old") == "text");
  CHECK(folder.entries() == 1);
  // A pipe without a reader: neither does it wait, nor is there an end for who opens it.
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  tx::io::check_writable(folder / "pipe");
  tx::io::check_writable("/dev/null");
}

TEST_CASE("a file that cannot be written is an io_error with its path") {
  temp_folder folder;
  CHECK_THROWS_AS(tx::io::check_writable(folder.path), tx::io_error);
  CHECK_THROWS_WITH(tx::io::check_writable(folder.path), Contains(folder.path.string() + ": Is a directory"));
  CHECK_THROWS_WITH(tx::io::check_writable(folder / "none/a"), Contains("none/a: No such file"));
  tx::io::write_file_atomic(folder / "file", "");
  CHECK_THROWS_WITH(tx::io::check_writable(folder / "file/a"), Contains("file/a: Not a directory"));
  CHECK_THROWS_WITH(tx::io::check_writable("/proc/tx"), Contains("/proc/tx: "));
}

TEST_CASE("a folder to be made needs one above it that takes files") {
  temp_folder folder;
  tx::io::check_writable_folder(folder.path);
  tx::io::check_writable_folder(folder / "a/b/c");
  tx::io::check_writable_folder(folder.path / "");
  CHECK(folder.entries() == 0);
  tx::io::write_file_atomic(folder / "file", "");
  CHECK_THROWS_WITH(tx::io::check_writable_folder(folder / "file"), Contains("file: Not a directory"));
  CHECK_THROWS_WITH(tx::io::check_writable_folder(folder / "file/a/b"), Contains("file/a/b: Not a directory"));
  CHECK_THROWS_WITH(tx::io::check_writable_folder("/proc/tx"), Contains("cannot write into /proc/tx: "));
  auto const before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  tx::io::check_writable_folder("relative");
  tx::io::check_writable_folder("");
  std::filesystem::current_path(before);
  CHECK(folder.entries() == 1);
}
