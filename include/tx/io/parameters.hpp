// Parameters by name to and from safetensors. A parameter is anything with `name`, `dims` (rank, dim[]) or `shape` (a list), and
// `data`, a span of its elements, or of its bytes beside their `type`, as an executor's tensors() gives them.
#pragma once

#include <tx/io/safetensors.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tx::io {

struct load_options {
  bool finite = false;  // a NaN or an infinity in a tensor is a value_error
};

namespace detail {

// Where a tensor's bytes lie, or are to lie.
struct tensor_place {
  std::string name;
  tx::dtype type;
  std::vector<std::int64_t> shape;
  std::span<std::byte> bytes;
  std::int64_t (*first_not_finite)(std::byte const* from, std::int64_t count);  // -1: there is none
};

template <class Parameter>
std::vector<std::int64_t> shape_of(Parameter const& p) {
  if constexpr (requires { p.shape; }) return p.shape;
  std::vector<std::int64_t> out;
  if constexpr (requires { p.dims; })
    for (int i = 0; i < p.dims.rank; ++i) out.push_back(p.dims.dim[i]);
  return out;
}

inline std::string shape_text(std::vector<std::int64_t> const& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return s + "]";
}

template <class T>
std::int64_t first_not_finite([[maybe_unused]] std::byte const* from, [[maybe_unused]] std::int64_t count) {
  if constexpr (!std::is_integral_v<T>)
    for (std::int64_t i = 0; i < count; ++i) {
      T value;  // a file aligns nothing
      std::memcpy(&value, from + i * static_cast<std::int64_t>(sizeof value), sizeof value);
      if (!std::isfinite(number_of(value))) return i;
    }
  return -1;
}

constexpr auto finite_check_of(dtype type) {
  switch (type) {
    case dtype::f64: return first_not_finite<f64>;
    case dtype::f32: return first_not_finite<f32>;
    case dtype::bf16: return first_not_finite<bf16>;
    case dtype::f16: return first_not_finite<f16>;
    default: return first_not_finite<i8>;
  }
}

// Appends the places of parameters; their names in files begin with `prefix`.
template <class Parameters>
void append_places(std::vector<tensor_place>& to, Parameters const& parameters, std::string const& prefix = "") {
  for (auto const& p : parameters) {
    auto const type = [&] {
      if constexpr (requires { p.type; }) return p.type;
      else return dtype_v<typename decltype(p.data)::value_type>;
    }();
    auto const bytes = std::as_bytes(std::span(p.data));
    to.push_back({prefix + p.name, type, shape_of(p), {const_cast<std::byte*>(bytes.data()), bytes.size()}, finite_check_of(type)});
  }
}

inline std::vector<tensor_info> infos_of(std::vector<tensor_place> const& places) {
  std::vector<tensor_info> out;
  for (auto const& p : places) out.push_back({p.name, p.type, p.shape, p.bytes});
  return out;
}

// What a file may have in place of a tensor it lacks: the unused name that has most characters in common with it,
// counted from both ends; empty where all are used.
inline std::string nearest_unused(safetensors const& file, std::string const& wanted,
                                  std::vector<tensor_place> const& places) {
  std::string nearest;
  std::ptrdiff_t most = -1;
  for (tensor_info const& t : file.tensors()) {
    if (std::ranges::any_of(places, [&](tensor_place const& p) { return p.name == t.name; })) continue;
    auto const front = std::ranges::mismatch(wanted, t.name).in1 - wanted.begin();
    auto const back =
        std::mismatch(wanted.rbegin(), wanted.rend(), t.name.rbegin(), t.name.rend()).first - wanted.rbegin();
    if (front + back <= most) continue;
    most = front + back;
    nearest = t.name;
  }
  return nearest;
}

// Finds every place's tensor in a file, in order. Throws format_error for missing and unknown tensors, shape_error with both
// shapes for another shape or type, value_error for what the options refuse.
inline std::vector<tensor_info const*> match(safetensors const& file, std::string const& name, std::vector<tensor_place> const& places,
                                             load_options options) {
  std::vector<tensor_info const*> found;
  for (auto const& p : places) {
    tensor_info const* const t = file.find(p.name);
    if (t == nullptr) {
      std::string const other = nearest_unused(file, p.name, places);
      throw format_error(name + " lacks the tensor " + p.name +
                         (other.empty() ? "" : "; of other names it has " + shown(other)) +
                         ". FIX: the model that it was saved from; members' names are the tensors' names");
    }
    if (t->shape != p.shape || t->type != p.type)
      throw shape_error(name + ": tensor " + p.name + " is " + name_of(t->type) + shape_text(t->shape) + "; the model was compiled for " +
                        name_of(p.type) + shape_text(p.shape));
    found.push_back(t);
    if (!options.finite) continue;
    auto const count = static_cast<std::int64_t>(t->bytes.size()) / size_of(p.type);
    if (std::int64_t const at = p.first_not_finite(t->bytes.data(), count); at >= 0)
      throw value_error(name + ": tensor " + p.name + " holds a NaN or an infinity at element " + std::to_string(at) +
                        ". FIX: load what was saved before the run diverged");
  }
  for (tensor_info const& t : file.tensors()) {
    bool known = false;
    for (tensor_info const* f : found) known = known || f == &t;
    if (!known) {
      throw format_error(name + " has the tensor " + t.name +
                         ", which the model lacks. FIX: the model that it was saved from");
    }
  }
  return found;
}

inline void fill(std::vector<tensor_place> const& places, std::vector<tensor_info const*> const& found) {
  for (std::size_t k = 0; k < places.size(); ++k)
    if (!found[k]->bytes.empty()) std::memcpy(places[k].bytes.data(), found[k]->bytes.data(), found[k]->bytes.size());
}

}  // namespace detail

template <class Parameters>
void save_parameters(std::filesystem::path const& path, Parameters const& parameters, std::map<std::string, std::string> const& metadata = {}) {
  std::vector<detail::tensor_place> places;
  detail::append_places(places, parameters);
  write_safetensors(path, detail::infos_of(places), metadata);
}

// Fills all parameters from a file. Nothing is written before every name, type and shape is found right.
// Throws format_error for missing and unknown tensors, shape_error with both shapes for another shape or type, value_error for
// what the options refuse.
template <class Parameters>
void load_parameters(std::filesystem::path const& path, Parameters const& parameters, load_options options = {}) {
  static_assert(!std::is_const_v<typename std::remove_cvref_t<decltype(std::begin(parameters)->data)>::element_type>,
                "tx::io::load_parameters: the parameters are constant. FIX: spans of elements that may be written");
  safetensors const file = safetensors::read(path);
  std::vector<detail::tensor_place> places;
  detail::append_places(places, parameters);
  detail::fill(places, detail::match(file, path.string(), places, options));
}

}  // namespace tx::io
