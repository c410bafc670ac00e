// The tensors of a model by name, as files and users see them: those of a repeated block one for each iteration.
#pragma once

#include <tx/expr/named_module.hpp>
#include <tx/expr/parameter_layout.hpp>

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

// An element of a std::array has no name but its number.
template <class M, std::size_t I, class Member>
TX_COLD std::string member_path(std::string const& outer) {
  std::string_view member = member_name<M, I>();
  std::string const path = outer.empty() ? outer : outer + ".";
  if constexpr (renaming_module<Member>) {
    if (Member::module_name.empty()) return outer;
    member = Member::module_name;
  }
  return path + (member.empty() ? std::to_string(I) : std::string(member));
}

template <class Model>
struct parameter_namer {
  std::vector<parameter_view> views;
  std::vector<int> iteration;  // of the enclosing repeats
  int entry = 0;

  template <class M>
  TX_COLD void visit(std::string const& name) {
    if constexpr (parameter<M>) {
      layout_entry const& e = layout<Model>::entries[entry++];
      std::int64_t index = 0;
      for (std::size_t k = 0; k < iteration.size(); ++k) index = index * e.info.dims.dim[k] + iteration[k];
      views.push_back({name, M::info, e.offset + index * M::info.count(), state_like<M>, layout<Model>::trains(e)});
    } else if constexpr (repeated_module<M>) {
      int const first = entry;
      for (int i = 0; i < M::repeat_count; ++i) {
        entry = first;
        iteration.push_back(i);
        visit<decltype(M::block)>(name + "." + std::to_string(i));
        iteration.pop_back();
      }
    } else if constexpr (freezing_module<M> || renaming_module<M>) {
      visit<decltype(M::body)>(name);
    } else if constexpr (std::is_class_v<M>) {
      using tuple = decltype(members(std::declval<M&>()));
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (visit<std::remove_reference_t<std::tuple_element_t<I, tuple>>>(member_path<M, I, std::remove_reference_t<std::tuple_element_t<I, tuple>>>(name)), ...);
      }(std::make_index_sequence<static_cast<std::size_t>(count_members<M>())>{});
    }
  }
};

}  // namespace detail

// All tensors of a model, by name, in declaration order with repeated blocks expanded.
template <class Model>
TX_COLD std::vector<parameter_view> parameters_of() {
  detail::parameter_namer<Model> namer{};
  namer.template visit<Model>("");
  return std::move(namer.views);
}

}  // namespace tx
