// Which tensor of a file belongs to which parameter, and that each is what the model was compiled for.
#pragma once

#include <tx/core/elements.hpp>
#include <tx/core/error.hpp>
#include <tx/io/load_options.hpp>
#include <tx/io/tensor_places.hpp>
#include <tx/io/utf8.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace tx::io::detail {

using tensor_list = std::vector<tensor_info const*>;

// What a file may have in place of a tensor it lacks: the unused name that has most characters in common with it,
// counted from both ends; empty where all are used.
inline std::string nearest_unused(tensor_list const& tensors, std::string const& wanted, std::vector<tensor_place> const& places) {
  std::string nearest;
  std::ptrdiff_t most = -1;
  for (tensor_info const* t : tensors) {
    if (std::ranges::any_of(places, [&](tensor_place const& p) { return p.name == t->name; })) continue;
    auto const front = std::ranges::mismatch(wanted, t->name).in1 - wanted.begin();
    auto const back = std::mismatch(wanted.rbegin(), wanted.rend(), t->name.rbegin(), t->name.rend()).first - wanted.rbegin();
    if (front + back <= most) continue;
    most = front + back;
    nearest = t->name;
  }
  return nearest;
}

// What files of Hugging Face's older versions hold beside parameters: the numbers of places, and masks of causal attention. By shape and type too: a
// bias may have such a name.
inline bool is_leftover(tensor_info const& t) {
  auto const ends = [&](char const* name) { return t.name.ends_with(name); };
  return (ends("position_ids") && is_integer(t.type)) || (ends(".attn.bias") && t.shape.size() == 4) || (ends(".attn.masked_bias") && t.shape.empty()) ||
         (ends(".num_batches_tracked") && t.shape.empty());
}

inline std::int64_t count_of(tensor_info const& t) { return static_cast<std::int64_t>(t.bytes.size()) / size_of(t.type); }

inline void check_numbers(tensor_info const& t, tensor_place const& p, std::string const& source, load_options const& options) {
  std::int64_t const count = count_of(t);
  if (options.finite)
    if (std::int64_t const at = first_not_finite(t.type, t.bytes.data(), count, true); at < count)
      throw value_error(source + ": tensor " + t.name + " holds a NaN or an infinity at element " + std::to_string(at) +
                        ". FIX: load what was saved before the run diverged");
  if (t.type == p.type) return;
  for (std::int64_t i = 0; i < count; ++i) {
    double const x = element_at(t.type, t.bytes.data(), i);
    if (is_finite(x) && !is_finite(rounded_to(p.type, x)))
      throw value_error(source + ": tensor " + t.name + " holds " + std::to_string(x) + ", which is infinite in " + std::string(name_of(p.type)) + " at element " +
                        std::to_string(i));
  }
}

// Finds every place's tensor in a file, in order; null for one that may be missing and is. passed_over: what the file has beside `tensors`, which is named
// where one is missing.
inline tensor_list match_tensors(tensor_list const& tensors, std::string const& source, std::vector<tensor_place> const& places, load_options const& options,
                                 tensor_list const& passed_over = {}) {
  std::map<std::string_view, tensor_info const*> by_name;
  for (tensor_info const* t : tensors) by_name.emplace(t->name, t);
  tensor_list found;
  std::set<tensor_info const*> used;
  for (auto const& p : places) {
    tensor_info const* t = nullptr;
    for (std::string const& name : names_in_file(options, p.name))
      if (auto const at = by_name.find(name); t == nullptr && at != by_name.end()) t = at->second;
    found.push_back(t);
    if (t == nullptr && matches_one(options.missing, p.name)) continue;
    if (t == nullptr) {
      tensor_list all = tensors;
      all.insert(all.end(), passed_over.begin(), passed_over.end());
      std::string const other = nearest_unused(all, options.prefix + p.name, places);
      throw format_error(source + " lacks the tensor " + p.name + (other.empty() ? "" : "; of other names it has " + shown(other)) +
                         ". FIX: the model that it was saved from; members' names are the tensors' names. load_options says what is called otherwise or may be missing");
    }
    if (!used.insert(t).second)
      throw format_error(source + ": tensor " + t->name + " would be " + p.name + " and another parameter too. FIX: a file with both, or load_options{.rename = {}}");
    bool const may_convert = is_float(t->type) && is_float(p.type) && (t->type == p.type || (t->type != dtype::e4m3 && p.type != dtype::e4m3));  // E4M3 has scales elsewhere in a file
    bool const converts = options.convert && may_convert;
    if (t->shape != p.shape || (t->type != p.type && !converts))
      throw shape_error(source + ": tensor " + t->name + " is " + name_of(t->type) + shape_text(t->shape) + "; the model was compiled for " +
                        name_of(p.type) + shape_text(p.shape) +
                        (t->shape == p.shape && may_convert ? ". FIX: load_options{.convert = true} rounds" : ""));
    check_numbers(*t, p, source, options);
  }
  for (tensor_info const* t : tensors)
    if (!used.contains(t) && !is_leftover(*t) && !matches_one(options.ignore, t->name))
      throw format_error(source + " has the tensor " + t->name + ", which the model lacks. FIX: the model that it was saved from, or load_options{.ignore = {...}}");
  return found;
}

inline void fill(std::vector<tensor_place> const& places, tensor_list const& found) {
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (found[k] == nullptr || found[k]->bytes.empty()) continue;
    tensor_info const& from = *found[k];
    tensor_place const& to = places[k];
    if (from.type == to.type)
      std::memcpy(to.bytes.data(), from.bytes.data(), from.bytes.size());
    else
      for (std::int64_t i = 0; i < count_of(from); ++i) put_element(to.type, to.bytes.data(), i, element_at(from.type, from.bytes.data(), i));
  }
}

}  // namespace tx::io::detail
