// named_module<"roberta", Module>: as a member of a model, a module whose tensors files call "roberta....", whatever the member is called. So one
// class can be a part of several kinds of models, whose files have other names. With the name "" its own members are named as if they were the
// model's.
//
//   template <class Encoder, fixed_string Name> struct tagger { tx::named_module<Name, Encoder> encoder; linear<768, 9> classifier; };
#pragma once

#include <tx/core/fixed_string.hpp>

#include <type_traits>

namespace tx {

template <fixed_string Name, class Module>
struct named_module {
  static constexpr std::string_view module_name = Name.view();
  Module body;

  constexpr auto operator()(auto const&... x) const { return body(x...); }
};

template <class M>
concept renaming_module = requires { M::module_name; };

}  // namespace tx
