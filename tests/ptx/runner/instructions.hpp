// What each instruction of PTX does, by families. A family gives for the parts of a name, `fma` `rn` `f32`, how it
// runs, or nothing if it is none of its own.
#pragma once

#include "block.hpp"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace ptx {

struct spelled {
  std::vector<std::string_view> parts;
  int operands = 0;          // as they are written: a vector or an address is one
  bool two_results = false;  // %r1|%p2

  std::string_view name() const { return parts[0]; }
  bool has(std::string_view part) const {
    for (std::size_t k = 1; k < parts.size(); ++k)
      if (parts[k] == part) return true;
    return false;
  }
  // Whether there is nothing but types and these: what a family ignored would be computed wrong.
  bool only(std::initializer_list<std::string_view> known) const {
    for (std::size_t k = 1; k < parts.size(); ++k) {
      bool is_known = scalar_of(parts[k]) != scalar::none;
      for (auto const part : known) is_known = is_known || parts[k] == part;
      if (!is_known) return false;
    }
    return true;
  }
  scalar type(int from_end = 0) const {  // the last type, or one before
    for (std::size_t k = parts.size(); k-- > 1;)
      if (scalar const t = scalar_of(parts[k]); t != scalar::none && from_end-- == 0) return t;
    return scalar::none;
  }
  int elements() const { return has("v4") ? 4 : has("v2") ? 2 : 1; }
};

struct meaning {
  action run = nullptr;
  flow kind = flow::plain;
  int number = 0;
  bool waits = false;        // a barrier or a wait: it may be left out to see who notices
  bool all_meet = false;     // all lanes of the warp, which no mask names
  bool is_constant = false;  // a load of memory that nobody writes meanwhile
};
using found = std::optional<meaning>;

found integer_instruction(spelled const& s);
found float_instruction(spelled const& s);
found logic_instruction(spelled const& s);
found comparison(spelled const& s);
found conversion(spelled const& s);
found memory_instruction(spelled const& s);
found atomic_instruction(spelled const& s);
found copy_instruction(spelled const& s);
found warp_instruction(spelled const& s);
found matrix_instruction(spelled const& s);

// Operand k of every lane, the first one being the result.
template <class T>
T* lanes_of(warp& w, instruction const& i, int k) {
  return w.at<T>(i.slots[static_cast<std::size_t>(k)]);
}

// The address that operand k of a lane holds, in a register of 32 or 64 bits, and so many bytes on.
inline std::uint64_t address_of(warp const& w, instruction const& i, int k, int lane, std::int64_t on) {
  slot const s = i.slots[static_cast<std::size_t>(k)];
  if (s.width == 4) return w.narrow<std::uint32_t>(s, lane) + static_cast<std::uint32_t>(on);
  return w.narrow<std::uint64_t>(s, lane) + static_cast<std::uint64_t>(on);
}

// f(lane), in the order that the launch has: for what lanes do to memory.
template <class F>
void in_order(warp& w, lanes m, F&& f) {
  if (w.of.how().in == order::forwards) {
    each(m, f);
  } else {
    for (int l = warp_size; l-- > 0;)
      if ((m >> l & 1) != 0) f(l);
  }
}

template <class T, class Op>
void of_one(warp& w, instruction const& i, lanes m) {
  T* const d = lanes_of<T>(w, i, 0);
  T const* const a = lanes_of<T>(w, i, 1);
  each(m, [&](int l) { d[l] = Op::apply(a[l]); });
}
template <class T, class Op>
void of_two(warp& w, instruction const& i, lanes m) {
  T* const d = lanes_of<T>(w, i, 0);
  T const* const a = lanes_of<T>(w, i, 1);
  T const* const b = lanes_of<T>(w, i, 2);
  each(m, [&](int l) { d[l] = Op::apply(a[l], b[l]); });
}
template <class T, class Op>
void of_three(warp& w, instruction const& i, lanes m) {
  T* const d = lanes_of<T>(w, i, 0);
  T const* const a = lanes_of<T>(w, i, 1);
  T const* const b = lanes_of<T>(w, i, 2);
  T const* const c = lanes_of<T>(w, i, 3);
  each(m, [&](int l) { d[l] = Op::apply(a[l], b[l], c[l]); });
}

}  // namespace ptx
