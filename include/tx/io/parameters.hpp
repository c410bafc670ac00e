// Parameters by name to and from safetensors. A parameter is anything with `name`, `dims` (rank, dim[]) or `shape` (a list), and
// `data`, a span of its elements, or of its bytes beside their `type`, as an executor's tensors() gives them.
#pragma once

#include <tx/io/load_options.hpp>
#include <tx/io/match_tensors.hpp>
#include <tx/io/safetensors_writer.hpp>
#include <tx/io/tensor_files.hpp>

namespace tx::io {

template <class Parameters>
void save_parameters(std::filesystem::path const& path, Parameters const& parameters, std::map<std::string, std::string> const& metadata = {}) {
  std::vector<detail::tensor_place> places;
  detail::append_places(places, parameters);
  write_safetensors(path, detail::infos_of(places), metadata);
}

// Fills parameters from a file or a model's folder. Nothing is written before every name, type and shape is found right.
// Throws format_error for missing and unknown tensors, shape_error with both shapes for another shape or type, value_error for
// numbers that the options or the model's type refuse.
template <class Parameters>
void load_parameters(std::filesystem::path const& path, Parameters const& parameters, load_options const& options = {}) {
  static_assert(!std::is_const_v<typename std::remove_cvref_t<decltype(std::begin(parameters)->data)>::element_type>,
                "tx::io::load_parameters: the parameters are constant. FIX: spans of elements that may be written");
  tensor_files const files = tensor_files::open(path);
  std::vector<detail::tensor_place> places;
  detail::append_places(places, parameters);
  detail::fill(places, detail::match_tensors(files.tensors(), files.source(), places, options));
}

}  // namespace tx::io
