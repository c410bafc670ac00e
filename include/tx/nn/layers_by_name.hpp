// Which layers of a model patterns of names choose, of those that another module may stand beside (expr/attached.hpp), by number.
#pragma once

#include <tx/expr/by_name.hpp>

namespace tx::nn::detail {

template <fixed_string Pattern, class Module, bool Matches>
struct pattern_finds_a_layer {
  static_assert(Matches, "tx::nn::lora: no linear layer of the model has a name that this pattern matches. FIX: the name of a layer, as of its weight in run.tensors() without \".weight\"; * stands for any characters");
  static constexpr bool value = true;
};
template <fixed_string Pattern, class Module, bool Matches>
struct pattern_finds_all_blocks {
  static_assert(Matches, "tx::nn::lora: this pattern matches a layer in some blocks of a repeat, and not in all, which are recorded as one. FIX: \"layer.*.\" in place of \"layer.0.\"");
  static constexpr bool value = true;
};

// Of each layer that may have an adapter in how many blocks its name matches, and how many there are.
struct layers_found {
  std::string_view pattern;
  vec<int> matched{}, blocks{};

  template <class P>
  constexpr void operator()(std::string_view, vec<int> const&, int) const {}
  constexpr void layer(std::string_view name, int number) {
    while (blocks.size() <= number) matched.push_back(0), blocks.push_back(0);
    ++blocks[number];
    if (tx::detail::matches(pattern, name)) ++matched[number];
  }
  constexpr bool any() const {
    for (int const m : matched)
      if (m > 0) return true;
    return false;
  }
  constexpr bool whole() const {
    for (int k = 0; k < matched.size(); ++k)
      if (matched[k] > 0 && matched[k] < blocks[k]) return false;
    return true;
  }
};
template <class Model>
constexpr layers_found find_layers(std::string_view pattern) {
  layers_found found{pattern};
  tx::detail::for_each_name<Model>(found);
  return found;
}

// In functions, as clang 14 keeps what a template argument allocates.
template <class Model>
constexpr bool finds_a_layer(std::string_view pattern) {
  layers_found const found = find_layers<Model>(pattern);
  return found.any();
}
template <class Model>
constexpr bool finds_all_blocks(std::string_view pattern) {
  layers_found const found = find_layers<Model>(pattern);
  return found.whole();
}
template <class Model>
constexpr int count_layers() {
  layers_found const found = find_layers<Model>("");
  return found.blocks.size();
}

template <class Model, fixed_string... Patterns>
constexpr auto layers_where(names<Patterns...>) {
  static_assert(sizeof...(Patterns) > 0, "tx::nn::lora: there is no pattern of names of layers. FIX: tx::names<\"*.query\", \"*.value\">");
  static_assert((pattern_finds_a_layer<Patterns, Model, finds_a_layer<Model>(Patterns.view())>::value && ...));
  static_assert((pattern_finds_all_blocks<Patterns, Model, finds_all_blocks<Model>(Patterns.view())>::value && ...));
  fixed<bool, count_layers<Model>()> out{};
  auto const note = [&](std::string_view pattern) {
    layers_found const found = find_layers<Model>(pattern);
    for (int k = 0; k < found.matched.size(); ++k) out[k] = out[k] || found.matched[k] > 0;
  };
  (note(Patterns.view()), ...);
  return out;
}

}  // namespace tx::nn::detail
