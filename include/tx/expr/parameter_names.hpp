// The tensors of a model by name, as files and users see them: those of a repeated block one for each iteration.
#pragma once

#include <tx/expr/name_walk.hpp>
#include <tx/expr/state_layout.hpp>

#include <string>
#include <vector>

namespace tx {

// One tensor of a model as files and users see it: a repeated block has one per iteration.
struct parameter_view {
  std::string name;
  value_info info;
  std::int64_t offset;  // from the start of the flat block, in elements of its own type
  bool is_state = false;  // see state.hpp
  bool trained = true;

  std::int64_t first_byte() const { return offset * size_of(info.type); }
  std::int64_t bytes() const { return info.count() * size_of(info.type); }
};

namespace detail {
// Calls f.operator()<type>(name, layout entry, which block of its repeats) for each tensor.
template <class Model, class F>
TX_COLD void for_each_tensor(F const& f) {
  auto const add = [&]<class P>(std::string_view name, vec<int> const& iterations, int entry) {
    layout_entry const& e = layout<Model>::entries[entry];
    std::int64_t index = 0;
    for (int k = 0; k < iterations.size(); ++k) index = index * e.info.dims.dim[k] + iterations[k];
    f.template operator()<P>(name, entry, index);
  };
  for_each_name<Model>(add);
}
}  // namespace detail

// All tensors of a model, by name, in declaration order with repeated blocks expanded.
template <class Model>
TX_COLD std::vector<parameter_view> parameters_of() {
  std::vector<parameter_view> views;
  detail::for_each_tensor<Model>([&]<class P>(std::string_view name, int entry, std::int64_t index) {
    layout_entry const& e = layout<Model>::entries[entry];
    views.push_back({std::string(name), P::info, e.offset + index * P::info.count(), state_like<P>, layout<Model>::trains(e)});
  });
  return views;
}

// What an optimizer keeps in a state of that kind, by the parameters' names; parameters of which it keeps nothing there are left out. What a step keeps of itself is "step".
template <class Model>
TX_COLD std::vector<parameter_view> states_of(per kind) {
  std::vector<parameter_view> views;
  if (kind == per::step) views.push_back({"step", {layout<Model>::type, extents(static_cast<int>(numbers_of_step))}, 0});
  detail::for_each_tensor<Model>([&]<class P>(std::string_view name, int entry, std::int64_t index) {
    if (!layout<Model>::trains(layout<Model>::entries[entry]) || !detail::has_state(kind, P::info.dims.rank)) return;
    value_info const info = detail::state_info(kind, P::info, P::info.dims.rank);
    views.push_back({std::string(name), info, detail::place_in_state<Model>(kind, entry) + index * info.count()});
  });
  return views;
}

namespace detail {
// What a rank keeps of each tensor, by name; of parameters also of those that are not trained. Where ranks divide blocks of a repeat, the names are those of the first rank's.
template <class Model>
TX_COLD std::vector<parameter_view> kept_tensors(portioning const& how, bool parameters) {
  std::vector<parameter_view> views;
  auto const pieces = state_pieces<Model>(how);
  for_each_tensor<Model>([&]<class P>(std::string_view name, int entry, std::int64_t index) {
    state_piece const* const p = piece_of_entry<Model>(pieces, entry);
    if (p == nullptr && !parameters) return;
    value_info own = P::info;
    for (int k = 0; p != nullptr && k < p->divisions; ++k) {
      piece_division const& d = p->by[k];
      if (d.axis < 0 && index * own.count() >= d.kept_rows * d.row) return;  // of another rank's blocks
    }
    for (int k = 0; p != nullptr && k < p->divisions; ++k)
      if (p->by[k].axis >= 0) own.dims.set(p->by[k].axis, static_cast<int>(p->by[k].kept_rows));
    views.push_back({std::string(name), own, kept_first_byte<Model>(pieces, entry) / size_of(own.type) + index * own.count(), state_like<P>, p != nullptr});
  });
  return views;
}
}  // namespace detail

// What lies in the memory of state s of these, and in that of the parameters: where ranks divide it, what one of them keeps.
template <class Model>
TX_COLD std::vector<parameter_view> kept_states_of(state_kinds const& kinds, int s) {
  return kinds.divides(s) ? detail::kept_tensors<Model>(kinds.portions(), false) : states_of<Model>(kinds.of(s));
}
template <class Model>
TX_COLD std::vector<parameter_view> kept_parameters_of(state_kinds const& kinds) {
  return kinds.divides_parameters() ? detail::kept_tensors<Model>(kinds.portions_of_parameters(), true) : parameters_of<Model>();
}

}  // namespace tx
