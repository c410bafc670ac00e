// frozen_where<Module, patterns...>, trained_where<Module, patterns...>, rate_where<Module, factor, patterns...>:
// parameters of a module that are chosen by name, whatever its members' types say of them:
//
//   frozen_where<net, "embeddings.*", "encoder.layer.*.attention.*">   these are not trained: no gradient, no state
//   trained_where<net, "classifier.*", "*.bias">                       nothing else is trained
//   rate_where<net, std::ratio<1, 10>, "embeddings.*">                 these take a tenth of their group's rate: a group of their own in
//                                                                      run.settings.groups, number group_of<model, "embeddings.*">
//
// Patterns are names as run.tensors() has them, below the module, in which * stands for any characters. Each is a model, or a member of one,
// that is called as the module is, and its tensors have the same names; what the module can do beside is at `body`, or at unwrapped(m) where
// several such stand around it.
// Errors, while compiling: a pattern that matches no name, or some blocks of a repeat, whose parameters are one tensor, and not all.
#pragma once

#include <tx/core/fixed.hpp>
#include <tx/core/fixed_string.hpp>
#include <tx/core/pattern.hpp>
#include <tx/expr/name_walk.hpp>

#include <ratio>

namespace tx {

// A list of patterns, where a template takes several lists.
template <fixed_string... Patterns>
struct names {};

namespace detail {

// The pattern that is wrong stands in the name of what does not compile.
template <fixed_string Pattern, class Module, bool Matches>
struct pattern_finds_a_parameter {
  static_assert(Matches, "tx: no parameter of the module has a name that this pattern matches. FIX: a name as run.tensors() has it, in which * stands for any characters");
  static constexpr bool value = true;
};
template <fixed_string Pattern, class Module, bool Matches>
struct pattern_finds_whole_repeats {
  static_assert(Matches, "tx: this pattern matches a parameter in some blocks of a repeat, and not in all; those of all blocks are one tensor. FIX: \"layer.*.\" in place of \"layer.0.\", two repeats, or the step option tx::layer_decay for rates");
  static constexpr bool value = true;
};

template <class Module>
constexpr int count_parameters() {
  int count = 0;
  Module module{};
  auto const add = [&](auto&, surroundings const&) { ++count; };
  for_each_parameter(module, add);
  return count;
}

// Which parameters of a module a pattern matches: of each how many of its blocks, and how many there are.
struct names_found {
  vec<int> matched{}, blocks{};
  bool any = false, whole = true;
};
template <class Module>
constexpr names_found find_names(std::string_view pattern) {
  int const count = count_parameters<Module>();
  names_found out{vec<int>(count), vec<int>(count)};
  auto const look = [&]<class P>(std::string_view name, vec<int> const&, int entry) {
    ++out.blocks[entry];
    if (matches(pattern, name)) ++out.matched[entry];
  };
  for_each_name<Module>(look);
  for (int k = 0; k < count; ++k) {
    out.any = out.any || out.matched[k] > 0;
    out.whole = out.whole && (out.matched[k] == 0 || out.matched[k] == out.blocks[k]);
  }
  return out;
}

// In functions, as clang 14 keeps what a template argument allocates.
template <class Module>
constexpr bool finds_any(std::string_view pattern) {
  names_found const found = find_names<Module>(pattern);
  return found.any;
}
template <class Module>
constexpr bool finds_whole(std::string_view pattern) {
  names_found const found = find_names<Module>(pattern);
  return found.whole;
}

// Is it a parameter whose name one of the patterns matches? By number.
template <class Module, fixed_string... Patterns>
constexpr auto parameters_where() {
  static_assert(sizeof...(Patterns) > 0, "tx: there is no pattern of names. FIX: frozen_where<module, \"encoder.*\">, with one pattern or more");
  static_assert((pattern_finds_a_parameter<Patterns, Module, finds_any<Module>(Patterns.view())>::value && ...));
  static_assert((pattern_finds_whole_repeats<Patterns, Module, finds_whole<Module>(Patterns.view())>::value && ...));
  fixed<bool, count_parameters<Module>()> out{};
  auto const note = [&](std::string_view pattern) {
    names_found const found = find_names<Module>(pattern);
    for (int k = 0; k < found.matched.size(); ++k) out[k] = out[k] || found.matched[k] > 0;
  };
  (note(Patterns.view()), ...);
  return out;
}
template <class Module, fixed_string... Patterns>
inline constexpr auto chosen_parameters = parameters_where<Module, Patterns...>();

}  // namespace detail

template <class Module, fixed_string... Patterns>
struct frozen_where {
  static constexpr bool chooses = true;
  Module body;

  static constexpr void choose(detail::surroundings& of, int k) { of.frozen = of.frozen || detail::chosen_parameters<Module, Patterns...>[k]; }
  constexpr auto operator()(auto const&... x) const { return body(x...); }
};

template <class Module, fixed_string... Patterns>
struct trained_where {
  static constexpr bool chooses = true;
  Module body;

  static constexpr void choose(detail::surroundings& of, int k) { of.frozen = of.frozen || !detail::chosen_parameters<Module, Patterns...>[k]; }
  constexpr auto operator()(auto const&... x) const { return body(x...); }
};

// Factor: a std::ratio of the rate that the parameter's group has.
template <class Module, class Factor, fixed_string... Patterns>
struct rate_where {
  static_assert(Factor::num >= 0, "tx::rate_where: a factor of a rate is at least 0. FIX: std::ratio<1, 10> for a tenth; frozen_where for parameters that are not trained");
  static constexpr bool chooses = true;
  Module body;

  static constexpr void choose(detail::surroundings& of, int k) {
    if (detail::chosen_parameters<Module, Patterns...>[k]) of.rate *= static_cast<double>(Factor::num) / static_cast<double>(Factor::den);
  }
  constexpr auto operator()(auto const&... x) const { return body(x...); }
};

// The module inside of all these, for what it can do beside being called.
template <class M>
constexpr auto const& unwrapped(M const& module) {
  if constexpr (choosing_module<M> || freezing_module<M> || attaching_module<M>) return unwrapped(module.body);
  else return module;
}

}  // namespace tx
