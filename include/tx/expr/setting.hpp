// setting<"temperature">(x, 1.0): a number of a model that may change between runs, 1.0 until run.settings["temperature"] = 0.7f. It is a
// tensor<f32> without extents; x, any tensor, tells which program it is part of. The same name is the same number, wherever it stands.
//
//   auto const probabilities = tx::softmax(scores / tx::setting<"temperature">(scores, 1.0));
//   auto const kept = tx::dropout(probabilities, tx::setting<"attention_dropout">(probabilities, 0.1));
//
// What tx itself reads between runs is declared in the same way by what reads it: "dropout" by tx::dropout and attention, "clip_norm" by
// clip_gradient, "learning_rate" by the update. A program has the settings that something in it declared, and no others.
// Errors, while compiling: two first values of one name, more than 24 names, a name that is not of letters, digits and _.
#pragma once

#include <tx/core/fixed_string.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/expr/tensor.hpp>

namespace tx {

namespace detail {
template <fixed_string Name>
inline constexpr auto setting_name = Name;

constexpr bool is_setting_name(std::string_view name) {
  for (char const c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
  return !name.empty();
}

constexpr int declare_setting(graph& g, declared_setting const& wanted) {
  for (int k = 0; k < g.settings.size(); ++k) {
    declared_setting& known = g.settings[k];
    if (std::string_view(known.name) != wanted.name) continue;
    if (known.first != wanted.first) throw invalid("setting: a name has two first values. FIX: the same number at each place, or another name");
    if (known.allows == nullptr) known = wanted;
    return k;
  }
  if (g.settings.size() == max_settings) throw invalid("setting: a program has more than tx::max_settings names. FIX: an argument for the rest");
  g.settings.push_back(wanted);
  return g.settings.size() - 1;
}

// The number itself, as the region that is recorded sees it.
constexpr var named_number(graph& g, declared_setting const& wanted) { return run_time_scalar(g, scalar::named, declare_setting(g, wanted)); }
}  // namespace detail

template <fixed_string Name, handle X>
constexpr tensor<f32> setting(X const& x, double first) {
  static_assert(detail::is_setting_name(Name.view()), "tx::setting: a name has letters, digits and _, and at least one of them. FIX: setting<\"temperature\">(x, 1.0)");
  if (x.g == nullptr) throw invalid("setting: a result of a run is a view of numbers, not a part of a graph. FIX: pass a tensor of what is being recorded");
  var const number = detail::named_number(*x.g, declared_setting{detail::setting_name<Name>.text, static_cast<float>(first)});
  return {number.g, number.id};
}

}  // namespace tx
