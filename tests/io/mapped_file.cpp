#include "temp_folder.hpp"

#include <tx/io/mapped_file.hpp>

#include <catch2/catch.hpp>

using Catch::Contains;
using tx::io::mapped_file;

TEST_CASE("a mapped file has the bytes of the file, wherever it moves") {
  temp_folder folder;
  tx::io::write_file_atomic(folder / "a", "some text");
  tx::io::write_file_atomic(folder / "none", "");
  mapped_file a(folder / "a");
  auto const* const at = a.bytes().data();
  mapped_file b(std::move(a));
  CHECK(b.bytes().data() == at);
  mapped_file none(folder / "none");
  CHECK(none.text().empty());
  none = std::move(b);
  CHECK(none.text() == "some text");
  tx::io::write_file_atomic(folder / "a", "another");  // a rename; what is mapped stays
  CHECK(none.text() == "some text");
  CHECK(mapped_file(folder / "a").text() == "another");
}

TEST_CASE("what cannot be mapped is an error with its path") {
  temp_folder folder;
  CHECK_THROWS_WITH(mapped_file(folder / "nothing"), Contains("nothing: No such file"));
  CHECK_THROWS_WITH(mapped_file(folder.path), Contains(folder.path.string() + ": Is a directory"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(mapped_file(folder / "pipe"), Contains("pipe: it is no regular file. FIX"));
}
