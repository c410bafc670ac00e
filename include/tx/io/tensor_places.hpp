// Where the tensors of parameters lie in memory, under the names that files have for them.
#pragma once

#include <tx/io/safetensors_format.hpp>

#include <string>
#include <vector>

namespace tx::io::detail {

struct tensor_place {
  std::string name;
  tx::dtype type;
  std::vector<std::int64_t> shape;
  std::span<std::byte> bytes;
};

template <class Parameter>
std::vector<std::int64_t> shape_of(Parameter const& p) {
  if constexpr (requires { p.shape; }) return p.shape;
  std::vector<std::int64_t> out;
  if constexpr (requires { p.dims; })
    for (int i = 0; i < p.dims.rank; ++i) out.push_back(p.dims.dim[i]);
  return out;
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
    to.push_back({prefix + p.name, type, shape_of(p), {const_cast<std::byte*>(bytes.data()), bytes.size()}});
  }
}

inline std::vector<tensor_info> infos_of(std::vector<tensor_place> const& places) {
  std::vector<tensor_info> out;
  for (auto const& p : places) out.push_back({p.name, p.type, p.shape, p.bytes});
  return out;
}

inline std::string shape_text(std::vector<std::int64_t> const& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return s + "]";
}

}  // namespace tx::io::detail
