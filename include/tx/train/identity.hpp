// What an optimizer's states mean, as text: a checkpoint holds it, so that no other optimizer takes the states for its
// own.
#pragma once

#include <tx/config.hpp>

#include <charconv>
#include <initializer_list>
#include <string>

namespace tx {

namespace detail {

struct identity_option {
  char const* name;
  double value;
};

// "adam(beta1 0.9, beta2 0.999)": each number has the digits that tell it from its neighbours.
TX_COLD inline std::string identity_text(std::string name, std::initializer_list<identity_option> options) {
  char const* before = "(";
  for (identity_option const& o : options) {
    char digits[32];
    name.append(before).append(o.name).append(" ").append(digits,
                                                          std::to_chars(digits, digits + sizeof digits, o.value).ptr);
    before = ", ";
  }
  return options.size() > 0 ? name + ')' : name;
}

}  // namespace detail

}  // namespace tx
