// Atomic operations: read, change, write, for one lane after the other.
#include "instructions.hpp"

#include <cmath>

namespace ptx {

namespace {

enum class change { add, least, most, exchange, compare, and_it, or_it, xor_it, increment };

std::optional<change> change_of(spelled const& s) {
  if (s.has("add")) return change::add;
  if (s.has("min")) return change::least;
  if (s.has("max")) return change::most;
  if (s.has("exch")) return change::exchange;
  if (s.has("cas")) return change::compare;
  if (s.has("and")) return change::and_it;
  if (s.has("or")) return change::or_it;
  if (s.has("xor")) return change::xor_it;
  if (s.has("inc")) return change::increment;
  return {};
}

template <class T>
T changed(change how, T old, T x, T y) {
  switch (how) {
    case change::add:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(x));
      else
        return old + x;
    case change::least: return x < old ? x : old;
    case change::most: return old < x ? x : old;
    case change::exchange: return x;
    case change::compare: return old == x ? y : old;
    case change::increment: return old >= x ? T{0} : static_cast<T>(old + 1);
    default:
      if constexpr (std::is_integral_v<T>)
        return how == change::and_it  ? static_cast<T>(old & x)
               : how == change::or_it ? static_cast<T>(old | x)
                                      : static_cast<T>(old ^ x);
      else
        return old;
  }
}

// `number`: the change, whether memory is shared, and whether there is a result.
template <class T>
void atomic(warp& w, instruction const& i, lanes m) {
  auto const how = static_cast<change>(i.number & 15);
  bool const shared = (i.number & 16) != 0, generic = (i.number & 32) != 0, result = (i.number & 64) != 0;
  std::size_t const first = result ? 1 : 0;
  in_order(w, m, [&](int l) {
    std::uint64_t const at = address_of(w, i, static_cast<int>(first), l, i.offset);
    constexpr int bytes = sizeof(T);
    std::byte* const p = shared    ? w.of.shared(w, l, at, bytes, use::atomic)
                         : generic ? w.of.generic(w, l, at, bytes, use::atomic)
                                   : w.of.global(w, l, at, bytes, use::atomic);
    T old;
    std::memcpy(&old, p, sizeof old);
    T const x = w.narrow<T>(i.slots[first + 1], l);
    T const y = how == change::compare ? w.narrow<T>(i.slots[first + 2], l) : T{};
    T const now = changed(how, old, x, y);
    std::memcpy(p, &now, sizeof now);
    if (result) w.widen<T>(i.slots[0], l, old);
    if (!shared) w.of.changed(w, l, p);
  });
}

}  // namespace

found atomic_instruction(spelled const& s) {
  bool const result = s.name() == "atom";
  if (!result && s.name() != "red") return {};
  auto const how = change_of(s);
  if (!how || s.elements() != 1) return {};
  int const number = static_cast<int>(*how) |
                     (s.has("shared") || s.has("shared::cta") ? 16
                      : s.has("global")                       ? 0
                                                              : 32) |
                     (result ? 64 : 0);
  return with_type(s.type(), [&]<class T>() -> found {
    if constexpr ((std::is_integral_v<T> && sizeof(T) >= 4) || std::is_floating_point_v<T>)
      return meaning{atomic<T>, flow::plain, number};
    else
      return {};
  });
}

}  // namespace ptx
