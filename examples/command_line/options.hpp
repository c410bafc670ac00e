// Command lines: `--name value`, `--name=value` and flags, all named beforehand.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace command_line {

struct option {
  std::string_view name;   // without the dashes
  std::string_view value;  // what its value is called in the help; empty: a flag
  std::string help;
  bool several = false;  // may be given several times
};

class options {
 public:
  // Throws value_error for words that are no known option, naming the nearest one, for missing values, and for an option
  // given twice.
  options(std::span<std::string const> arguments, std::span<option const> known);

  bool has(std::string_view name) const { return values_.contains(name); }
  // The value; throws if the option is missing.
  std::string const& text(std::string_view name) const;
  std::vector<std::string> const& all(std::string_view name) const;
  // Numbers within bounds; throws for anything else.
  std::int64_t integer(std::string_view name, std::int64_t otherwise, std::int64_t least,
                       std::int64_t most = INT64_MAX) const;
  double number(std::string_view name, double otherwise, double least, double most) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// The known word nearest to `word`, as ", did you mean X?", or nothing where none is near.
std::string suggestion(std::string_view word, std::span<std::string_view const> known);

std::string help_text(std::string_view usage, std::span<option const> known);

}  // namespace command_line
