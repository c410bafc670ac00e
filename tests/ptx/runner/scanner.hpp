// Reads PTX's text piece by piece.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptx {

class scanner {
 public:
  explicit scanner(std::string_view text) : text_(without_comments(text)) {}

  int line() const { return line_; }
  bool at_end();
  char peek();                                // the next character that is no blank
  bool take(char c);                          // if it is the next one
  std::string word();                         // letters, digits, and what names have beside
  std::string until(std::string_view stops);  // text before the first of these characters, which is taken
  std::string rest_of_line();
  void skip_block();  // from { to its }

 private:
  static std::string without_comments(std::string_view text);
  void blanks();
  char next();

  std::string text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

std::string trimmed(std::string_view text);
// Pieces between separators that are not within brackets or braces.
std::vector<std::string> split(std::string_view text, char separator);

// 12, -3, 0x7F, 0f3F800000 and 0d… (the bits of a float, of a double), 5U; nothing, if it is no number.
std::optional<std::uint64_t> number_of(std::string text);

}  // namespace ptx
