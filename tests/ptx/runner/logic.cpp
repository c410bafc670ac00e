// Bits, moves and choices.
#include "instructions.hpp"

namespace ptx {

namespace {

struct both {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct either {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct differs {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct inverse {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct zero_count {
  static std::uint32_t of(auto a) { return static_cast<std::uint32_t>(std::countl_zero(a)); }
};
struct one_count {
  static std::uint32_t of(auto a) { return static_cast<std::uint32_t>(std::popcount(a)); }
};
struct reversed {
  template <class T>
  static T apply(T a) {
    T r = 0;
    for (std::size_t k = 0; k < 8 * sizeof(T); ++k) r = static_cast<T>(r << 1 | (a >> k & 1));
    return r;
  }
};

// Shifts by 32-bit numbers; by a register's width or more nothing is left, or the sign.
template <class T, bool Left>
void shift(warp& w, instruction const& i, lanes m) {
  T* const d = lanes_of<T>(w, i, 0);
  T const* const a = lanes_of<T>(w, i, 1);
  std::uint32_t const* const by = lanes_of<std::uint32_t>(w, i, 2);
  constexpr std::uint32_t bits = 8 * sizeof(T);
  each(m, [&](int l) {
    if constexpr (Left)
      d[l] = by[l] < bits ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(a[l]) << by[l]) : T{0};
    else
      d[l] = by[l] < bits ? static_cast<T>(a[l] >> by[l]) : static_cast<T>(a[l] < 0 ? -1 : 0);
  });
}

// 32 bits of the 64 that two registers hold together.
template <bool Left, bool Wraps>
void funnel(warp& w, instruction const& i, lanes m) {
  auto* const d = lanes_of<std::uint32_t>(w, i, 0);
  auto const *low = lanes_of<std::uint32_t>(w, i, 1), *high = lanes_of<std::uint32_t>(w, i, 2),
             *by = lanes_of<std::uint32_t>(w, i, 3);
  each(m, [&](int l) {
    std::uint64_t const x = std::uint64_t{high[l]} << 32 | low[l];
    std::uint32_t const n = Wraps ? by[l] & 31 : std::min(by[l], 32u);
    d[l] = static_cast<std::uint32_t>(Left ? (x << n) >> 32 : x >> n);
  });
}

// Any function of three bits: its table is the fourth operand.
void by_table(warp& w, instruction const& i, lanes m) {
  auto* const d = lanes_of<std::uint32_t>(w, i, 0);
  auto const *a = lanes_of<std::uint32_t>(w, i, 1), *b = lanes_of<std::uint32_t>(w, i, 2),
             *c = lanes_of<std::uint32_t>(w, i, 3), *table = lanes_of<std::uint32_t>(w, i, 4);
  each(m, [&](int l) {
    std::uint32_t r = 0;
    for (unsigned k = 0; k < 8; ++k)
      if ((table[l] >> k & 1) != 0)
        r |= ((k & 4) != 0 ? a[l] : ~a[l]) & ((k & 2) != 0 ? b[l] : ~b[l]) & ((k & 1) != 0 ? c[l] : ~c[l]);
    d[l] = r;
  });
}

// Four of eight bytes, each named by three bits; a fourth spreads the sign of that byte.
void permute(warp& w, instruction const& i, lanes m) {
  auto* const d = lanes_of<std::uint32_t>(w, i, 0);
  auto const *a = lanes_of<std::uint32_t>(w, i, 1), *b = lanes_of<std::uint32_t>(w, i, 2),
             *which = lanes_of<std::uint32_t>(w, i, 3);
  each(m, [&](int l) {
    std::uint64_t const x = std::uint64_t{b[l]} << 32 | a[l];
    std::uint32_t r = 0;
    for (unsigned k = 0; k < 4; ++k) {
      std::uint32_t const choice = which[l] >> (4 * k) & 15;
      std::uint32_t byte = static_cast<std::uint32_t>(x >> (8 * (choice & 7))) & 255;
      if ((choice & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      r |= byte << (8 * k);
    }
    d[l] = r;
  });
}

template <class T>
void bit_field(warp& w, instruction const& i, lanes m) {
  T* const d = lanes_of<T>(w, i, 0);
  T const* const a = lanes_of<T>(w, i, 1);
  auto const *from = lanes_of<std::uint32_t>(w, i, 2), *count = lanes_of<std::uint32_t>(w, i, 3);
  constexpr std::uint32_t bits = 8 * sizeof(T);
  each(m, [&](int l) {
    std::uint32_t const p = from[l] & 255, n = count[l] & 255;
    using U = std::make_unsigned_t<T>;
    U const sign =
        std::is_signed_v<T> && n > 0 ? static_cast<U>(static_cast<U>(a[l]) >> std::min(p + n - 1, bits - 1) & 1) : U{0};
    U r = 0;
    for (std::uint32_t k = 0; k < bits; ++k)
      r = static_cast<U>(r | (k < n && p + k < bits ? static_cast<U>(a[l]) >> (p + k) & 1 : sign) << k);
    d[l] = static_cast<T>(r);
  });
}

template <class T>
void insert_field(warp& w, instruction const& i, lanes m) {
  T* const d = lanes_of<T>(w, i, 0);
  T const *const a = lanes_of<T>(w, i, 1), *const b = lanes_of<T>(w, i, 2);
  auto const *from = lanes_of<std::uint32_t>(w, i, 3), *count = lanes_of<std::uint32_t>(w, i, 4);
  each(m, [&](int l) {
    std::uint32_t const p = from[l] & 255, n = count[l] & 255;
    T r = b[l];
    for (std::uint32_t k = 0; k < n && p + k < 8 * sizeof(T); ++k)
      r = static_cast<T>((r & ~(T{1} << (p + k))) | (a[l] >> k & 1) << (p + k));
    d[l] = r;
  });
}

template <class T, class Count>
void count_bits(warp& w, instruction const& i, lanes m) {
  auto* const d = lanes_of<std::uint32_t>(w, i, 0);
  T const* const a = lanes_of<T>(w, i, 1);
  each(m, [&](int l) { d[l] = Count::of(a[l]); });
}

template <class T>
void move(warp& w, instruction const& i, lanes m) {
  T* const d = lanes_of<T>(w, i, 0);
  T const* const a = lanes_of<T>(w, i, 1);
  each(m, [&](int l) { d[l] = a[l]; });
}
// {halves} to a whole, or a whole to its parts: the first one holds the lowest bits.
template <class Whole, class Part>
void join(warp& w, instruction const& i, lanes m) {
  constexpr int parts = sizeof(Whole) / sizeof(Part);
  each(m, [&](int l) {
    Whole x = 0;
    for (int k = 0; k < parts; ++k)
      x = static_cast<Whole>(x | static_cast<Whole>(w.narrow<Part>(i.slots[static_cast<std::size_t>(1 + k)], l))
                                     << (8 * sizeof(Part) * static_cast<std::size_t>(k)));
    lanes_of<Whole>(w, i, 0)[l] = x;
  });
}
template <class Whole, class Part>
void split(warp& w, instruction const& i, lanes m) {
  constexpr int parts = sizeof(Whole) / sizeof(Part);
  each(m, [&](int l) {
    Whole const x = lanes_of<Whole>(w, i, parts)[l];
    for (int k = 0; k < parts; ++k)
      w.widen<Part>(i.slots[static_cast<std::size_t>(k)], l,
                    static_cast<Part>(x >> (8 * sizeof(Part) * static_cast<std::size_t>(k))));
  });
}

template <class T>
void select(warp& w, instruction const& i, lanes m) {
  T* const d = lanes_of<T>(w, i, 0);
  T const *const a = lanes_of<T>(w, i, 1), *const b = lanes_of<T>(w, i, 2);
  lanes const p = w.predicate(i.slots[3]);
  each(m, [&](int l) { d[l] = (p >> l & 1) != 0 ? a[l] : b[l]; });
}

template <class Op>
void of_predicates(warp& w, instruction const& i, lanes m) {
  lanes& d = w.predicate(i.slots[0]);
  lanes const r = Op::apply(w.predicate(i.slots[1]), w.predicate(i.slots[2]));
  d = (d & ~m) | (r & m);
}
template <bool Not>
void move_predicate(warp& w, instruction const& i, lanes m) {
  lanes& d = w.predicate(i.slots[0]);
  lanes const r = w.predicate(i.slots[1]);
  d = (d & ~m) | ((Not ? ~r : r) & m);
}

// Types are looked at as unsigned bits of their width.
template <class F>
found bits(scalar t, F f) {
  switch (bytes_of(t)) {
    case 2: return f.template operator()<std::uint16_t>();
    case 4: return f.template operator()<std::uint32_t>();
    case 8: return f.template operator()<std::uint64_t>();
    default: return {};
  }
}

template <class Op>
found two_of_bits(scalar t) {
  if (t == scalar::pred) return meaning{of_predicates<Op>};
  return bits(t, []<class T>() -> found { return meaning{of_two<T, Op>}; });
}

}  // namespace

found logic_instruction(spelled const& s) {
  auto const name = s.name();
  scalar const t = s.type();
  if (name == "and") return two_of_bits<both>(t);
  if (name == "or") return two_of_bits<either>(t);
  if (name == "xor") return two_of_bits<differs>(t);
  if (name == "not") {
    if (t == scalar::pred) return meaning{move_predicate<true>};
    return bits(t, []<class T>() -> found { return meaning{of_one<T, inverse>}; });
  }
  if (name == "shl" || name == "shr")
    return with_type(t, [&]<class T>() -> found {
      if constexpr (std::is_integral_v<T> && sizeof(T) > 1)
        return meaning{name == "shl" ? shift<T, true> : shift<T, false>};
      else
        return {};
    });
  if (name == "shf") {
    if (s.has("l")) return meaning{s.has("wrap") ? funnel<true, true> : funnel<true, false>};
    return meaning{s.has("wrap") ? funnel<false, true> : funnel<false, false>};
  }
  if (name == "lop3" && !s.two_results) return meaning{by_table};
  if (name == "prmt" && s.parts.size() == 2) return meaning{permute};
  if (name == "bfe")
    return with_type(t, []<class T>() -> found {
      if constexpr (std::is_integral_v<T> && sizeof(T) >= 4)
        return meaning{bit_field<T>};
      else
        return {};
    });
  if (name == "bfi")
    return bytes_of(t) == 8 ? meaning{insert_field<std::uint64_t>} : meaning{insert_field<std::uint32_t>};
  if (name == "popc")
    return bytes_of(t) == 8 ? meaning{count_bits<std::uint64_t, one_count>}
                            : meaning{count_bits<std::uint32_t, one_count>};
  if (name == "clz")
    return bytes_of(t) == 8 ? meaning{count_bits<std::uint64_t, zero_count>}
                            : meaning{count_bits<std::uint32_t, zero_count>};
  if (name == "brev")
    return bytes_of(t) == 8 ? meaning{of_one<std::uint64_t, reversed>} : meaning{of_one<std::uint32_t, reversed>};
  if (name == "mov") {
    if (t == scalar::pred) return meaning{move_predicate<false>};
    return bits(t, []<class T>() -> found { return meaning{move<T>}; });
  }
  if (name == "join" || name == "split") {  // what the parser calls a `mov` of a vector
    bool const joins = name == "join";
    if (bytes_of(t) == 4)
      return meaning{joins ? join<std::uint32_t, std::uint16_t> : split<std::uint32_t, std::uint16_t>};
    if (bytes_of(t) == 8 && s.operands == 2)
      return meaning{joins ? join<std::uint64_t, std::uint32_t> : split<std::uint64_t, std::uint32_t>};
    if (bytes_of(t) == 8 && s.operands == 4)
      return meaning{joins ? join<std::uint64_t, std::uint16_t> : split<std::uint64_t, std::uint16_t>};
    return {};
  }
  if (name == "selp") return bits(t, []<class T>() -> found { return meaning{select<T>}; });
  return {};
}

}  // namespace ptx
