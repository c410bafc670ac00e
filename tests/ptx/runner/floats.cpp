// Arithmetic of floating-point numbers. Compiled with -frounding-math, as some instructions round otherwise than to the
// nearest.
#include "instructions.hpp"

#include <bit>
#include <cfenv>
#include <cmath>

namespace ptx {

namespace {

struct plus {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct minus {
  template <class T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct times {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct quotient {
  template <class T>
  static T apply(T a, T b) {
    return a / b;
  }
};
struct fused {  // a product and a sum, rounded once
  static float apply(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double apply(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
// The same of numbers whose product is exact: what is lost of the sum leaves it odd, so that halves made of it are
// rounded as if nothing was.
struct fused_to_odd {
  static float apply(float a, float b, float c) { return fused::apply(a, b, c); }
  static double apply(double a, double b, double c) {
    double const p = a * b, s = p + c;
    double const of_c = s - p, lost = (p - (s - of_c)) + (c - of_c);
    auto const bits = std::bit_cast<std::uint64_t>(s);
    if (!(lost != 0) || std::isinf(s) || (bits & 1) != 0) return s;
    return std::bit_cast<double>((lost > 0) == (s > 0) ? bits + 1 : bits - 1);
  }
};
// Of a number and NaN the number; -0 is less than 0.
struct least {
  template <class T>
  static T apply(T a, T b) {
    return a != a ? b : b != b ? a : a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct most {
  template <class T>
  static T apply(T a, T b) {
    return a != a ? b : b != b ? a : a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};
template <class Op>
struct or_nan {
  template <class T>
  static T apply(T a, T b) {
    return a != a ? a : b != b ? b : Op::apply(a, b);
  }
};
struct negative {
  template <class T>
  static T apply(T a) {
    return -a;
  }
};
struct size {
  template <class T>
  static T apply(T a) {
    return std::fabs(a);
  }
};
struct root {
  template <class T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};
struct reciprocal {
  template <class T>
  static T apply(T a) {
    return T(1) / a;
  }
};
struct reciprocal_root {
  template <class T>
  static T apply(T a) {
    return T(1) / std::sqrt(a);
  }
};
struct power_of_two {
  template <class T>
  static T apply(T a) {
    return std::exp2(a);
  }
};
struct logarithm_of_two {
  template <class T>
  static T apply(T a) {
    return std::log2(a);
  }
};
struct tangent_hyperbolic {
  template <class T>
  static T apply(T a) {
    return std::tanh(a);
  }
};
struct sine {
  template <class T>
  static T apply(T a) {
    return std::sin(a);
  }
};
struct cosine {
  template <class T>
  static T apply(T a) {
    return std::cos(a);
  }
};
// A size with the sign of another: PTX names the sign first.
struct signed_as {
  template <class T>
  static T apply(T a, T b) {
    return std::copysign(b, a);
  }
};

// Subnormals count as zeros, going in and coming out.
template <class Op>
struct flushed {
  static float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
  template <class... T>
  static auto apply(T... x) {
    if constexpr ((std::is_same_v<T, float> && ...))
      return flush(Op::apply(flush(x)...));
    else
      return Op::apply(x...);
  }
};

// Halves are computed with as doubles, which is exact but for the last rounding; of pairs each by itself.
template <class Op>
struct lifted {
  template <class T, class... Rest>
  static T apply(T a, Rest... rest) {
    if constexpr (std::is_same_v<T, half>)
      return half(Op::apply(static_cast<double>(a), static_cast<double>(rest)...));
    else if constexpr (std::is_same_v<T, brain_half>)
      return brain_half(Op::apply(static_cast<double>(a), static_cast<double>(rest)...));
    else if constexpr (std::is_floating_point_v<T>)
      return Op::apply(a, rest...);
    else
      return T{apply(a.low, rest.low...), apply(a.high, rest.high...)};
  }
};

template <action Run, int Mode>
void rounding(warp& w, instruction const& i, lanes m) {
  std::fesetround(Mode);
  Run(w, i, m);
  std::fesetround(FE_TONEAREST);
}
template <action Run>
meaning rounded(spelled const& s) {
  if (s.has("rz")) return {rounding<Run, FE_TOWARDZERO>};
  if (s.has("rm")) return {rounding<Run, FE_DOWNWARD>};
  if (s.has("rp")) return {rounding<Run, FE_UPWARD>};
  return {Run};
}

template <class T, class Op, int Operands>
meaning of_operands(spelled const& s) {
  if constexpr (Operands == 1)
    return rounded<of_one<T, Op>>(s);
  else if constexpr (Operands == 2)
    return rounded<of_two<T, Op>>(s);
  else
    return rounded<of_three<T, Op>>(s);
}
template <class Op, int Operands>
found floats(spelled const& s) {
  return with_type(s.type(), [&]<class T>() -> found {
    if constexpr (std::is_integral_v<T>)
      return {};
    else if (s.has("ftz") && std::is_same_v<T, float>)
      return of_operands<T, lifted<flushed<Op>>, Operands>(s);
    else
      return of_operands<T, lifted<Op>, Operands>(s);
  });
}

}  // namespace

found float_instruction(spelled const& s) {
  auto const name = s.name();
  if (!s.only({"rn", "rz", "rm", "rp", "ftz", "approx", "full", "NaN"})) return {};
  bool const nan = s.has("NaN");
  if (name == "add") return floats<plus, 2>(s);
  if (name == "sub") return floats<minus, 2>(s);
  if (name == "mul") return floats<times, 2>(s);
  if (name == "div") return floats<quotient, 2>(s);
  if (name == "fma" || name == "mad")
    return bytes_of(s.type()) == 2 || s.type() == scalar::f16x2 || s.type() == scalar::bf16x2
               ? floats<fused_to_odd, 3>(s)
               : floats<fused, 3>(s);
  if (name == "min") return nan ? floats<or_nan<least>, 2>(s) : floats<least, 2>(s);
  if (name == "max") return nan ? floats<or_nan<most>, 2>(s) : floats<most, 2>(s);
  if (name == "neg") return floats<negative, 1>(s);
  if (name == "abs") return floats<size, 1>(s);
  if (name == "copysign") return floats<signed_as, 2>(s);
  if (name == "sqrt") return floats<root, 1>(s);
  if (name == "rcp") return floats<reciprocal, 1>(s);
  if (name == "rsqrt") return floats<reciprocal_root, 1>(s);
  if (name == "ex2") return floats<power_of_two, 1>(s);
  if (name == "lg2") return floats<logarithm_of_two, 1>(s);
  if (name == "tanh") return floats<tangent_hyperbolic, 1>(s);
  if (name == "sin") return floats<sine, 1>(s);
  if (name == "cos") return floats<cosine, 1>(s);
  return {};
}

}  // namespace ptx
