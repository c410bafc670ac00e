#include <tx/io/utf8.hpp>

#include <catch2/catch.hpp>

using tx::io::decode_utf8;
using tx::io::is_utf8;

TEST_CASE("every code point survives encoding") {
  std::string text;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    text.clear();
    tx::io::append_utf8(text, c);
    auto const back = decode_utf8(text, 0);
    if (!back.valid || back.value != c || back.length != text.size()) FAIL("code point " << std::uint32_t{c});
  }
}

TEST_CASE("what is no UTF-8 is told apart") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80"));
  for (std::string_view bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE4\xB8",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xFE"}) {
    CHECK_FALSE(is_utf8(bad));
    CHECK(decode_utf8(bad, 0).value == 0xFFFD);
    CHECK(decode_utf8(bad, 0).length >= 1);
  }
}

TEST_CASE("a broken sequence ends where the next character may begin") {
  CHECK(decode_utf8("\xE4\xB8(", 0).length == 2);
  CHECK(decode_utf8("\xF0\x9F\x98(", 0).length == 3);
  CHECK(decode_utf8("\xED\xA0\x80", 0).length == 1);
  CHECK(decode_utf8("\xC3\xC3\xA9", 0).length == 1);
}

TEST_CASE("names in messages are short and printable") {
  CHECK(tx::io::shown("weight") == "'weight'");
  CHECK(tx::io::shown("a\n\x1b[0m") == "'a??[0m'");
  CHECK(tx::io::shown("a\xC2\x9B" "1m") == "'a?1m'");
  CHECK(tx::io::shown("a\xFF") == "'a\xEF\xBF\xBD'");
  CHECK(tx::io::shown(std::string(1000, 'x')).size() < 70);
}

TEST_CASE("broken bytes are replaced") {
  CHECK(tx::io::valid_utf8("a\xC3\xA9") == "a\xC3\xA9");
  CHECK(tx::io::valid_utf8("a\xFFz\xE4\xB8") == "a\xEF\xBF\xBDz\xEF\xBF\xBD");
}

TEST_CASE("JSON strings are escaped") {
  CHECK(tx::io::json_string("a\"b\\c") == R"("a\"b\\c")");
  CHECK(tx::io::json_string(std::string_view("\0\n\x1f", 3)) == R"("\u0000\u000a\u001f")");
  CHECK(tx::io::json_string("\xC3\xA9") == "\"\xC3\xA9\"");
  CHECK(tx::io::json_string("\xFF") == "\"\xEF\xBF\xBD\"");
}
