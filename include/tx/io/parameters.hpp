// Parameters by name to and from safetensors. A parameter is anything with `name`, `dims` (rank, dim[]) or `shape` (a list), and
// `data`, a span, as an executor's tensors() gives them.
#pragma once

#include <tx/io/safetensors.hpp>

#include <cstring>

namespace tx::io {

namespace detail {

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

}  // namespace detail

template <class Parameters>
void save_parameters(std::filesystem::path const& path, Parameters const& parameters, std::map<std::string, std::string> const& metadata = {}) {
  std::vector<tensor_info> tensors;
  for (auto const& p : parameters) {
    using T = typename decltype(p.data)::value_type;
    tensors.push_back({p.name, dtype_v<T>, detail::shape_of(p), std::as_bytes(std::span(p.data))});
  }
  write_safetensors(path, tensors, metadata);
}

// Fills all parameters from a file. Nothing is written before every name, type and shape is found right.
// Throws format_error for missing and unknown tensors, shape_error with both shapes for another shape or type.
template <class Parameters>
void load_parameters(std::filesystem::path const& path, Parameters const& parameters) {
  safetensors const file = safetensors::read(path);
  std::string const name = path.string();
  std::vector<tensor_info const*> found;
  for (auto const& p : parameters) {
    using T = typename decltype(p.data)::value_type;
    tensor_info const* const t = file.find(p.name);
    if (t == nullptr) throw format_error(name + " lacks the tensor " + p.name);
    auto const wanted = detail::shape_of(p);
    if (t->shape != wanted || t->type != dtype_v<T>)
      throw shape_error(name + ": tensor " + p.name + " is " + name_of(t->type) + detail::shape_text(t->shape) + "; the model was compiled for " +
                        name_of(dtype_v<T>) + detail::shape_text(wanted));
    found.push_back(t);
  }
  for (tensor_info const& t : file.tensors()) {
    bool known = false;
    for (tensor_info const* f : found) known = known || f == &t;
    if (!known) throw format_error(name + " has the tensor " + t.name + ", which the model lacks");
  }
  std::size_t k = 0;
  for (auto const& p : parameters) {
    std::memcpy(p.data.data(), found[k]->bytes.data(), found[k]->bytes.size());
    ++k;
  }
}

}  // namespace tx::io
