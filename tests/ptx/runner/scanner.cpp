#include "scanner.hpp"

#include <cctype>
#include <cstdlib>

namespace ptx {

std::string scanner::without_comments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.substr(i, 2) == "/*") {
      for (i += 2; i < text.size() && text.substr(i, 2) != "*/"; ++i)
        if (text[i] == '\n') out += '\n';
      ++i;
      continue;
    }
    if (i < text.size() && text[i] != '\0') out += text[i];
  }
  return out;
}

char scanner::next() {
  char const c = text_[at_++];
  if (c == '\n') ++line_;
  return c;
}

void scanner::blanks() {
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) next();
}

bool scanner::at_end() {
  blanks();
  return at_ == text_.size();
}

char scanner::peek() { return at_end() ? '\0' : text_[at_]; }

bool scanner::take(char c) {
  if (peek() != c) return false;
  next();
  return true;
}

std::string scanner::word() {
  blanks();
  std::string out;
  while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                std::string_view("_$%.:").find(text_[at_]) != std::string_view::npos)) {
    if (text_[at_] == ':' && text_.substr(at_, 2) != "::") break;  // of a label
    if (text_[at_] == ':') out += next();
    out += next();
  }
  return out;
}

std::string scanner::until(std::string_view stops) {
  std::string out;
  while (at_ < text_.size()) {
    char const c = next();
    if (stops.find(c) != std::string_view::npos) break;
    out += c;
  }
  return trimmed(out);
}

std::string scanner::rest_of_line() {
  std::string out;
  while (at_ < text_.size() && text_[at_] != '\n') out += next();
  return trimmed(out);
}

void scanner::skip_block() {
  int depth = 0;
  while (at_ < text_.size()) {
    char const c = next();
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return;
  }
}

std::string trimmed(std::string_view text) {
  std::string out;
  for (char const c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  std::string now;
  int depth = 0;
  for (char const c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == separator && depth == 0) {
      out.push_back(trimmed(now));
      now.clear();
    } else {
      now += c;
    }
  }
  if (!trimmed(now).empty()) out.push_back(trimmed(now));
  return out;
}

std::optional<std::uint64_t> number_of(std::string text) {
  if (text.empty()) return {};
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D'))
    return std::strtoull(text.c_str() + 2, nullptr, 16);
  if (text.back() == 'U') text.pop_back();
  char* end = nullptr;
  bool const negative = text[0] == '-';
  std::uint64_t const x = std::strtoull(text.c_str() + (negative ? 1 : 0), &end, 0);
  if (*end != '\0' || end == text.c_str()) return {};
  return negative ? 0 - x : x;
}

}  // namespace ptx
