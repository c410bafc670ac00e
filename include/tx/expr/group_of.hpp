// group_of<Model, "bert.embeddings.*">: the number of the parameter group in which the parameters of such a name are, in run.settings.groups.
//
//   run.settings.groups[tx::group_of<model, "classifier.weight">].decay = 0.1f;
//
// Errors, while compiling: as in by_name.hpp, and parameters of several groups.
#pragma once

#include <tx/expr/by_name.hpp>
#include <tx/expr/parameter_layout.hpp>

namespace tx {

namespace detail {
template <class Model, fixed_string Pattern>
consteval std::size_t find_group() {
  int group = -1;
  for (int k = 0; k < layout<Model>::entries.size(); ++k) {
    if (!chosen_parameters<Model, Pattern>[k]) continue;
    if (group >= 0 && group != layout<Model>::entries[k].group)
      throw invalid("group_of: the pattern matches parameters of several groups. FIX: a longer pattern, such as one that ends in .weight, for each group");
    group = layout<Model>::entries[k].group;
  }
  return static_cast<std::size_t>(group);
}
}  // namespace detail

template <class Model, fixed_string Pattern>
inline constexpr std::size_t group_of = detail::find_group<Model, Pattern>();

}  // namespace tx
