// A vocabulary as JSON has it: an object of ids by token.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/json.hpp>

#include <string>
#include <vector>

namespace tx::text::detail {

// Tokens in the order of their ids. Throws format_error that names `source` where those are not 0 to one below their number, each once.
inline std::vector<std::string> tokens_by_id(nlohmann::json const& vocabulary, std::string const& source) {
  auto const fail = [&](std::string const& what) { throw format_error(source + ": " + what); };
  if (!vocabulary.is_object() || vocabulary.empty()) fail("the vocabulary is no object of ids by token");
  std::vector<std::string> tokens(vocabulary.size());
  std::vector<char> given(vocabulary.size(), 0);
  for (auto const& [name, id] : vocabulary.items()) {
    if (!id.is_number_integer() || id < 0 || id >= vocabulary.size())
      fail("the id of " + io::shown(name) + " is " + io::shown_value(id) + ", not one of 0 to " + std::to_string(vocabulary.size() - 1));
    auto const i = id.get<std::size_t>();
    if (given[i]) fail("the id " + std::to_string(i) + " is given twice, the second time to " + io::shown(name));
    given[i] = 1;
    tokens[i] = name;
  }
  return tokens;
}

}  // namespace tx::text::detail
