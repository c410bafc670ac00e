// What a run hands back: numbers, and tensors where they lie, with the extents that the run has.
#pragma once

#include <tx/expr/handed_back.hpp>
#include <tx/expr/trace.hpp>
#include <tx/run/extents.hpp>

#include <cstddef>
#include <type_traits>

namespace tx::exec {

// at(k): where result number k of the program lies.
template <class Result, class At>
Result results_of(run_extents const& extents, At const& at) {
  Result r{};
  int k = 0;
  for_each_result(r, [&](auto& x) {
    using type = std::remove_cvref_t<decltype(x)>;
    std::byte const* const from = at(k++);
    if constexpr (typed_handle<type>) {
      x.data = reinterpret_cast<typename type::element_type const*>(from);
      if constexpr (constexpr shape dims = type::dims; dims.bounds != 0) {
        x.elements = static_cast<std::size_t>(extents.count(dims));
        for (int a = 0; a < dims.rank; ++a) x.now.of_axis[a] = static_cast<int>(extents.in_run(dims.dim[a], dims.factors_at(a)));
      }
    } else {
      x = *reinterpret_cast<type const*>(from);
    }
  });
  return r;
}

}  // namespace tx::exec
