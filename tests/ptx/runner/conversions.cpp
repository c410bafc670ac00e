// cvt: one type to another. Compiled with -frounding-math, as whole numbers become others by the mode that an
// instruction names.
#include "instructions.hpp"

#include <cfenv>
#include <cmath>
#include <limits>
#include <utility>

namespace ptx {

namespace {

enum mode : int { nearest = 0, zero = 1, down = 2, up = 3, saturates = 4, to_whole = 8 };

template <class T>
constexpr bool is_float =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, half> || std::is_same_v<T, brain_half>;

// To a whole number, which is one of floating point still.
double whole(double x, int how) {
  switch (how & 3) {
    case zero: return std::trunc(x);
    case down: return std::floor(x);
    case up: return std::ceil(x);
    default: return std::nearbyint(x);
  }
}

template <class To>
To to_float(double x, int how) {
  if constexpr (std::is_same_v<To, double>) {
    return x;
  } else {
    To r;
    if constexpr (std::is_same_v<To, half>)
      r = half(x);
    else if constexpr (std::is_same_v<To, brain_half>)
      r = brain_half(x);
    else
      r = static_cast<To>(x);
    double const value = r;
    bool const too_large = std::fabs(value) > std::fabs(x), too_high = value > x, too_low = value < x;
    if (((how & 3) == zero && too_large) || ((how & 3) == down && too_high) ||
        ((how & 3) == up && too_low)) {  // its neighbour
      bool const away = (how & 3) == up ? !(x < 0) : (how & 3) == down ? x < 0 : false;
      auto const step = away ? 1 : -1;
      if constexpr (std::is_same_v<To, float>)
        r = std::bit_cast<float>(
            static_cast<std::uint32_t>(static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(r)) + step));
      else
        r.bits = static_cast<std::uint16_t>(r.bits + step);
    }
    return r;
  }
}

template <class To, class From>
To converted(From x, int how) {
  if constexpr (is_float<From> && is_float<To>) {
    double v = static_cast<double>(x);
    if ((how & saturates) != 0) v = v != v ? 0 : v < 0 ? 0 : v > 1 ? 1 : v;
    if ((how & to_whole) != 0) v = whole(v, how);
    return to_float<To>(v, how);
  } else if constexpr (is_float<From>) {
    double const v = static_cast<double>(x);
    if (v != v)
      return std::is_same_v<From, double> || sizeof(To) == 8 ? static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1))
                                                             : To{0};
    double const r = whole(v, how);
    if (r <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (r >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(r);
  } else if constexpr (is_float<To>) {
    if constexpr (std::is_same_v<To, double> || std::is_same_v<To, float>)
      return static_cast<To>(x);  // as the processor is told to round
    else
      return to_float<To>(static_cast<double>(x), how);
  } else {
    if ((how & saturates) != 0) {
      if (std::cmp_less(x, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
      if (std::cmp_greater(x, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
      return static_cast<To>(x);
    }
    return static_cast<To>(x);
  }
}

// Registers may be wider than the types.
template <class To, class From>
void convert(warp& w, instruction const& i, lanes m) {
  if constexpr (std::is_integral_v<From> && is_float<To>)
    std::fesetround((i.number & 3) == zero   ? FE_TOWARDZERO
                    : (i.number & 3) == down ? FE_DOWNWARD
                    : (i.number & 3) == up   ? FE_UPWARD
                                             : FE_TONEAREST);
  if (static_cast<std::size_t>(i.slots[0].width) == sizeof(To) &&
      static_cast<std::size_t>(i.slots[1].width) == sizeof(From)) {
    To* const d = lanes_of<To>(w, i, 0);
    From const* const a = lanes_of<From>(w, i, 1);
    int const how = i.number;
    each(m, [&](int l) { d[l] = converted<To, From>(a[l], how); });
  } else {
    each(m, [&](int l) { w.widen<To>(i.slots[0], l, converted<To, From>(w.narrow<From>(i.slots[1], l), i.number)); });
  }
  if constexpr (std::is_integral_v<From> && is_float<To>) std::fesetround(FE_TONEAREST);
}

// Two f32 to two halves of a register; the first operand is the higher one.
template <class H>
void two_halves(warp& w, instruction const& i, lanes m) {
  auto* const d = lanes_of<pair_of<H>>(w, i, 0);
  auto const *const high = lanes_of<float>(w, i, 1), *const low = lanes_of<float>(w, i, 2);
  each(m, [&](int l) {
    d[l] = {to_float<H>(static_cast<double>(low[l]), i.number), to_float<H>(static_cast<double>(high[l]), i.number)};
  });
}

// f32 with the mantissa of tf32: 10 bits, ties away from zero.
void to_tf32(warp& w, instruction const& i, lanes m) {
  auto* const d = lanes_of<std::uint32_t>(w, i, 0);
  auto const* const a = lanes_of<std::uint32_t>(w, i, 1);
  each(m, [&](int l) { d[l] = (a[l] & 0x7f800000u) == 0x7f800000u ? a[l] : (a[l] + 0x1000u) & ~0x1fffu; });
}

int mode_of(spelled const& s) {
  int how = s.has("rz") || s.has("rzi")   ? zero
            : s.has("rm") || s.has("rmi") ? down
            : s.has("rp") || s.has("rpi") ? up
                                          : nearest;
  if (s.has("sat")) how |= saturates;
  if (s.has("rni") || s.has("rzi") || s.has("rmi") || s.has("rpi")) how |= to_whole;
  return how;
}

// cvta: an address of a space to a generic one, or back. Global memory's are the same.
template <bool Back, bool Shared>
void address(warp& w, instruction const& i, lanes m) {
  auto* const d = lanes_of<std::uint64_t>(w, i, 0);
  auto const* const a = lanes_of<std::uint64_t>(w, i, 1);
  each(m, [&](int l) {
    std::uint64_t const base = Shared ? w.of.shared_base() : reinterpret_cast<std::uint64_t>(w.local(l));
    d[l] = Back ? a[l] - base : a[l] + base;
  });
}
void same_address(warp& w, instruction const& i, lanes m) {
  auto* const d = lanes_of<std::uint64_t>(w, i, 0);
  auto const* const a = lanes_of<std::uint64_t>(w, i, 1);
  each(m, [&](int l) { d[l] = a[l]; });
}

}  // namespace

found conversion(spelled const& s) {
  if (s.name() == "cvta") {
    bool const back = s.has("to");
    if (s.has("shared")) return meaning{back ? address<true, true> : address<false, true>};
    if (s.has("local")) return meaning{back ? address<true, false> : address<false, false>};
    if (s.has("global") || s.has("const") || s.has("param")) return meaning{same_address};
    return {};
  }
  if (s.name() != "cvt" || !s.only({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna", "sat"})) return {};
  if (s.has("tf32")) return s.has("rna") ? found(meaning{to_tf32}) : found();
  scalar const from = s.type(0), to = s.type(1);
  int const how = mode_of(s);
  if (to == scalar::f16x2) return meaning{two_halves<half>, flow::plain, how};
  if (to == scalar::bf16x2) return meaning{two_halves<brain_half>, flow::plain, how};
  return with_type(to, [&]<class To>() -> found {
    return with_type(from, [&]<class From>() -> found {
      constexpr bool pairs = sizeof(To) == 4 && !std::is_integral_v<To> && !std::is_same_v<To, float>;
      constexpr bool from_pairs = sizeof(From) == 4 && !std::is_integral_v<From> && !std::is_same_v<From, float>;
      if constexpr (pairs || from_pairs)
        return {};
      else
        return meaning{convert<To, From>, flow::plain, how};
    });
  });
}

}  // namespace ptx
