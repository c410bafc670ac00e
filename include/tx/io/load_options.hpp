// How the names and types of a file's tensors become those of a model: what the file may have in front of a name, what it may call by another
// name, what it may have too many and too few.
//
//   load_options{.prefix = "bert.", .ignore = {"classifier.*"}}     the encoder of a classifier's file into a nn::bert
//   load_options{.into = "bert.", .missing = {"classifier.*"}}      an encoder's file into a nn::bert_classifier, whose last layer stays as it is
//   load_options{.convert = true}                                   a file of f16, bf16 or f64 into a model of f32
#pragma once

#include <tx/core/pattern.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tx::io {

// See core/pattern.hpp.
using name_patterns = std::vector<std::string>;

// How a file's name may end, and the model's instead.
using name_endings = std::vector<std::pair<std::string, std::string>>;
inline name_endings const older_names{{".gamma", ".weight"}, {".beta", ".bias"}};

struct load_options {
  bool finite = false;    // a NaN or an infinity in a tensor is a value_error
  bool convert = false;   // numbers of another floating type are rounded to the model's; without it another type is a shape_error
  std::string prefix{};   // what the file has in front of the names that are read
  std::string into{};     // what the model has in front of them
  name_endings rename = older_names;
  name_patterns ignore{};            // names in the file that the model may lack, beside leftovers (match_tensors.hpp)
  name_patterns missing{};           // names in the model that the file may lack: their elements stay as they are
};

namespace detail {

using tx::detail::matches;
inline bool matches_one(name_patterns const& patterns, std::string_view name) {
  for (std::string const& p : patterns)
    if (matches(p, name)) return true;
  return false;
}

// What a file may call the parameter `name`, the likeliest first; none if the model's name does not begin with `into`.
inline std::vector<std::string> names_in_file(load_options const& o, std::string const& name) {
  std::vector<std::string> out;
  if (!name.starts_with(o.into)) return out;
  std::string const own = o.prefix + name.substr(o.into.size());
  out.push_back(own);
  for (auto const& [file, model] : o.rename)
    if (own.ends_with(model)) out.push_back(own.substr(0, own.size() - model.size()) + file);
  return out;
}

}  // namespace detail
}  // namespace tx::io
