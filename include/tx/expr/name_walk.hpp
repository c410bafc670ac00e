// Going through the tensors of a model by the names that files have for them, while compiling or when the program runs.
#pragma once

#include <tx/config.hpp>
#include <tx/core/vec.hpp>
#include <tx/expr/model_walk.hpp>
#include <tx/expr/named_module.hpp>

namespace tx::detail {

// A name that is put together on the way: "layer", "layer.11", "layer.11.weight", "layer.11".
class name_path {
 public:
  constexpr std::string_view view() const { return {text_.data(), static_cast<std::size_t>(text_.size())}; }
  constexpr int size() const { return text_.size(); }
  // Out of line: where these are put into a walk that is unrolled, GCC warns of sizes that it takes for possible.
  TX_COLD constexpr void append(std::string_view part) {
    if (!text_.empty()) text_.push_back('.');
    for (char const c : part) text_.push_back(c);
  }
  TX_COLD constexpr void append(int number) {
    char digits[12] = {};
    int first = 12;
    do digits[--first] = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    append(std::string_view(digits + first, static_cast<std::size_t>(12 - first)));
  }
  TX_COLD constexpr void cut(int size) {
    while (text_.size() > size) text_.pop_back();
  }

 private:
  vec<char> text_{};
};

// Calls visit.template operator()<P>(name, iterations, entry) for each tensor, in declaration order with repeated blocks expanded: its type,
// in which iteration of each repeat around it, the outermost first, and the how many-th parameter of the model it is, as for_each_parameter
// counts them: one for all blocks of a repeat. Where it has a member `layer`, calls visit.layer(name, number) for each layer that another
// module may be attached to, counted in the same way.
template <class Visit>
class name_walk {
 public:
  constexpr explicit name_walk(Visit& visit) : visit_(visit) {}

  template <class M, class Beside = nothing_attached>
  constexpr void walk() {
    if constexpr (parameter<M>) {
      visit_.template operator()<M>(name_.view(), iterations_, entry_);
      ++entry_;
    } else if constexpr (repeated_module<M>) {
      int const first = entry_, first_layer = layer_, outer = name_.size();
      for (int i = 0; i < M::repeat_count; ++i) {
        entry_ = first;
        layer_ = first_layer;
        iterations_.push_back(i);
        name_.append(i);
        walk<decltype(M::block), Beside>();
        name_.cut(outer);
        iterations_.pop_back();
      }
    } else if constexpr (freezing_module<M> || renaming_module<M> || choosing_module<M>) {
      walk<decltype(M::body), Beside>();
    } else if constexpr (attaching_module<M>) {
      int const around = layer_;
      layer_ = 0;
      walk<decltype(M::body), typename M::attaching>();
      layer_ = around;
    } else if constexpr (std::is_class_v<M>) {
      using tuple = decltype(members(std::declval<M&>()));
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (walk_member<M, I, std::remove_reference_t<std::tuple_element_t<I, tuple>>, Beside>(), ...);
      }(std::make_index_sequence<static_cast<std::size_t>(count_members<M>())>{});
      if constexpr (attachable_module<M>) walk_beside<M, Beside>();
    }
  }

 private:
  // An element of a std::array has no name but its number.
  template <class M, std::size_t I, class Member, class Beside>
  constexpr void walk_member() {
    if constexpr (!std::is_same_v<Member, attachment>) {
      int const outer = name_.size();
      constexpr std::string_view own = member_name<M, I>();
      if constexpr (renaming_module<Member>) {
        if (!Member::module_name.empty()) name_.append(Member::module_name);
      } else if constexpr (own.empty()) {
        name_.append(static_cast<int>(I));
      } else {
        name_.append(own);
      }
      walk<Member, Beside>();
      name_.cut(outer);
    }
  }
  template <class Layer, class Beside>
  constexpr void walk_beside() {
    if constexpr (requires { visit_.layer(std::string_view{}, 0); }) visit_.layer(name_.view(), layer_);
    if constexpr (!std::is_same_v<Beside, nothing_attached>)
      if (Beside::attaches(layer_)) walk<typename Beside::template beside<Layer>>();
    ++layer_;
  }

  Visit& visit_;
  name_path name_{};
  vec<int> iterations_{};
  int entry_ = 0, layer_ = 0;
};

template <class Model, class Visit>
constexpr void for_each_name(Visit& visit) {
  name_walk<Visit>(visit).template walk<Model>();
}

}  // namespace tx::detail
