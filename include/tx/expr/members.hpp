// The members of an aggregate: how many, references to them, and their names. Nothing is registered.
#pragma once

#include <tx/config.hpp>

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tx::detail {

struct anything {
  template <class T>
  constexpr operator T() const;
};

template <class T, std::size_t... I>
concept brace_initializable = requires { T{(static_cast<void>(I), anything{})...}; };

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return brace_initializable<T, I...>;
}
template <class T, std::size_t N>
constexpr bool takes_members() {
  return takes<T>(std::make_index_sequence<N>{});
}

// Converts to the base classes of T alone.
template <class T>
struct any_base {
  template <class B>
    requires(std::is_class_v<B> && !std::is_same_v<B, T> && std::is_base_of_v<B, T>)
  constexpr operator B() const;
};
template <class T>
concept has_base = requires { T{any_base<T>{}}; };

inline constexpr int max_members = 24;

template <class T>
constexpr int count_members() {
  static_assert(std::is_aggregate_v<T>,
                "tx: a member of a model is a param, a number or an aggregate of such, and this class (T) is none: it "
                "has constructors or private members. FIX: a std::array or repeat<N, Block> in place of a std::vector");
  static_assert(!has_base<T>, "tx: a model has no base class: it might have a member of one name with the model's. FIX: make the base a member");
  static_assert(!takes_members<T, max_members + 1>(), "tx: a module has at most 24 members. FIX: group some in a struct");
  int found = 0;
  [&]<int... N>(std::integer_sequence<int, N...>) {
    ((found = takes_members<T, static_cast<std::size_t>(N) + 1>() ? N + 1 : found), ...);
  }(std::make_integer_sequence<int, max_members>{});
  return found;
}

// References to all members, in order.
template <class T>
constexpr auto members(T& aggregate) {
  constexpr int count = count_members<std::remove_const_t<T>>();
  if constexpr (count == 0) {
    return std::tie();
  } else if constexpr (count == 1) {
    auto& [m0] = aggregate;
    return std::tie(m0);
  } else if constexpr (count == 2) {
    auto& [m0, m1] = aggregate;
    return std::tie(m0, m1);
  } else if constexpr (count == 3) {
    auto& [m0, m1, m2] = aggregate;
    return std::tie(m0, m1, m2);
  } else if constexpr (count == 4) {
    auto& [m0, m1, m2, m3] = aggregate;
    return std::tie(m0, m1, m2, m3);
  } else if constexpr (count == 5) {
    auto& [m0, m1, m2, m3, m4] = aggregate;
    return std::tie(m0, m1, m2, m3, m4);
  } else if constexpr (count == 6) {
    auto& [m0, m1, m2, m3, m4, m5] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5);
  } else if constexpr (count == 7) {
    auto& [m0, m1, m2, m3, m4, m5, m6] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6);
  } else if constexpr (count == 8) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7);
  } else if constexpr (count == 9) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8);
  } else if constexpr (count == 10) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9);
  } else if constexpr (count == 11) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
  } else if constexpr (count == 12) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11);
  } else if constexpr (count == 13) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12);
  } else if constexpr (count == 14) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13);
  } else if constexpr (count == 15) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
  } else if constexpr (count == 16) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15);
  } else if constexpr (count == 17) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16);
  } else if constexpr (count == 18) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17);
  } else if constexpr (count == 19) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18);
  } else if constexpr (count == 20) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19);
  } else if constexpr (count == 21) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20);
  } else if constexpr (count == 22) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21);
  } else if constexpr (count == 23) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22);
  } else if constexpr (count == 24) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23] = aggregate;
    return std::tie(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23);
  }
}

// Member names, read off the address of a member of an object that is declared and never defined.
template <class T>
struct never_defined {
  T value;
};
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class T>
extern never_defined<T> const fake;

template <class P>
struct address {
  P pointer;
};
template <class P>
address(P) -> address<P>;

template <auto A>
constexpr std::string_view name_of_member() {
  std::string_view text{__PRETTY_FUNCTION__, sizeof __PRETTY_FUNCTION__ - 1};  // nvcc's front end writes NULs into it
  std::size_t end = text.rfind('}');
  while (end > 0 && (text[end - 1] == ')' || text[end - 1] == '}')) --end;
  std::size_t begin = end;
  auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  while (begin > 0 && word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

template <class T, std::size_t I>
consteval std::string_view member_name() {
  constexpr auto& member = std::get<I>(members(fake<T>.value));
  return name_of_member<address{&member}>();
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace tx::detail
