// Arithmetic of integers.
#include "instructions.hpp"

#include <limits>

namespace ptx {

namespace {

// Where sums and products wrap around.
template <class T>
using wraps = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

struct plus {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<wraps<T>>(a) + static_cast<wraps<T>>(b));
  }
};
struct minus {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<wraps<T>>(a) - static_cast<wraps<T>>(b));
  }
};
struct times {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<wraps<T>>(a) * static_cast<wraps<T>>(b));
  }
};
struct times_high {
  template <class T>
  static T apply(T a, T b) {
    __extension__ using signed_wide = __int128;
    __extension__ using unsigned_wide = unsigned __int128;
    using wide = std::conditional_t<std::is_signed_v<T>, signed_wide, unsigned_wide>;
    return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b) >> (8 * sizeof(T)));
  }
};
// What a device gives for a division by zero is not said; all bits are set.
struct quotient {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return minus::apply(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct remainder {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct least {
  template <class T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
struct most {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct negative {
  template <class T>
  static T apply(T a) {
    return minus::apply(T{0}, a);
  }
};
struct size {
  template <class T>
  static T apply(T a) {
    return a < 0 ? minus::apply(T{0}, a) : a;
  }
};
template <class Product>
struct and_plus {
  template <class T>
  static T apply(T a, T b, T c) {
    return plus::apply(Product::apply(a, b), c);
  }
};

// Both factors as T, the product, and what is added, of twice its width.
template <class T, bool Adds>
void wide_product(warp& w, instruction const& i, lanes m) {
  using wide = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 4, std::int64_t, std::int32_t>,
                                  std::conditional_t<sizeof(T) == 4, std::uint64_t, std::uint32_t>>;
  T const* const a = lanes_of<T>(w, i, 1);
  T const* const b = lanes_of<T>(w, i, 2);
  wide* const d = lanes_of<wide>(w, i, 0);
  each(m, [&](int l) {
    wide x = static_cast<wide>(static_cast<wide>(a[l]) * static_cast<wide>(b[l]));
    if constexpr (Adds) x = plus::apply(x, lanes_of<wide>(w, i, 3)[l]);
    d[l] = x;
  });
}

template <class Op>
found two_integers(scalar t) {
  return with_type(t, []<class T>() -> found {
    if constexpr (std::is_integral_v<T>)
      return meaning{of_two<T, Op>};
    else
      return {};
  });
}

template <class Product>
found product(spelled const& s, bool adds) {
  return with_type(s.type(), [&]<class T>() -> found {
    if constexpr (!std::is_integral_v<T>)
      return {};
    else
      return meaning{adds ? of_three<T, and_plus<Product>> : of_two<T, Product>};
  });
}

}  // namespace

found integer_instruction(spelled const& s) {
  auto const name = s.name();
  if (!s.only({"lo", "hi", "wide"})) return {};
  if (name == "add") return two_integers<plus>(s.type());
  if (name == "sub") return two_integers<minus>(s.type());
  if (name == "div") return two_integers<quotient>(s.type());
  if (name == "rem") return two_integers<remainder>(s.type());
  if (name == "min") return two_integers<least>(s.type());
  if (name == "max") return two_integers<most>(s.type());
  if (name == "mul" || name == "mad") {
    bool const adds = name == "mad";
    if (s.has("lo")) return product<times>(s, adds);
    if (s.has("hi")) return product<times_high>(s, adds);
    if (!s.has("wide")) return {};
    return with_type(s.type(), [&]<class T>() -> found {
      if constexpr (std::is_integral_v<T> && (sizeof(T) == 2 || sizeof(T) == 4))
        return meaning{adds ? wide_product<T, true> : wide_product<T, false>};
      else
        return {};
    });
  }
  if (name == "neg" || name == "abs")
    return with_type(s.type(), [&]<class T>() -> found {
      if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
        return meaning{name == "neg" ? of_one<T, negative> : of_one<T, size>};
      else
        return {};
    });
  return {};
}

}  // namespace ptx
