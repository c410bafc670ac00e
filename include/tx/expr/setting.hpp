// setting<"temperature">(x, 1.0): a number of a model that may change between runs, 1.0 until run.settings["temperature"] = 0.7f. It is a
// tensor<f32> without extents; x, any tensor, tells which program it is part of. The same name is the same number, wherever it stands.
//
//   auto const shares = tx::softmax(scores / tx::setting<"temperature">(scores, 1.0));
//   auto const kept = tx::dropout(shares, tx::setting<"attention_dropout">(shares, 0.1));
//
// Errors, while compiling: two first values of one name, more than 24 names.
#pragma once

#include <tx/core/fixed_string.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/expr/tensor.hpp>

namespace tx {

namespace detail {
template <fixed_string Name>
inline constexpr auto setting_name = Name;

constexpr int declare_setting(graph& g, char const* name, float first) {
  for (int k = 0; k < g.settings.size(); ++k) {
    if (std::string_view(g.settings[k].name) != name) continue;
    if (g.settings[k].first != first) throw invalid("setting: a name has two first values. FIX: the same number at each place, or another name");
    return k;
  }
  if (g.settings.size() == max_settings) throw invalid("setting: a program has more than tx::max_settings names. FIX: an argument for the rest");
  g.settings.push_back({name, first});
  return g.settings.size() - 1;
}
}  // namespace detail

template <fixed_string Name, handle X>
constexpr tensor<f32> setting(X const& x, double first) {
  static_assert(Name.view().size() > 0, "tx::setting: the name is empty. FIX: setting<\"temperature\">(x, 1.0)");
  if (x.g == nullptr) throw invalid("setting: a result of a run is a view of numbers, not a part of a graph. FIX: pass a tensor of what is being recorded");
  int const k = detail::declare_setting(*x.g, detail::setting_name<Name>.text, static_cast<float>(first));
  var const number = run_time_scalar(*x.g, scalar::named, k);
  return {number.g, number.id};
}

}  // namespace tx
