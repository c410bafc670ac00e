// Iterations written out one after the other, called like scan and repeat; and two programs compared: values and gradients.
#pragma once

#include <tx/expr/repeat.hpp>
#include <tx/expr/scan.hpp>

#include <tx/backends/cpu.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/stack.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace unrolled {

// Slice I of [N, extents...].
template <int I, class X>
constexpr auto slice_of(X const& xs) {
  tx::var const one = tx::reshape(tx::slice(tx::var(xs), 0, I, 1, 1), X::info.dims.inner());
  return tx::tensor_of<tx::detail::unstacked(X::info)>{one.g, one.id};
}
template <int I, class X>
constexpr auto behind_carry(X const& same) {
  return same;
}
template <int I, class X>
constexpr auto behind_carry(tx::each_of<X> const& xs) {
  return slice_of<I>(xs.all);
}

// Of bundles, each tensor's stack; of tuples and structs in a tuple.
template <class Out, class... More>
constexpr auto stacked(Out const& out, More const&... more) {
  if constexpr (tx::typed_handle<Out>) {
    return tx::stack<0>(out, more...);
  } else if constexpr (tx::detail::is_tuple<Out>) {
    return [&]<std::size_t... Member>(std::index_sequence<Member...>) {
      auto const of_member = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) { return stacked(std::get<K>(out), std::get<K>(more)...); };
      return std::tuple<decltype(of_member(std::integral_constant<std::size_t, Member>{}))...>{of_member(std::integral_constant<std::size_t, Member>{})...};
    }(std::make_index_sequence<std::tuple_size_v<Out>>{});
  } else {
    auto const plain = [](auto const& bundle) {
      return std::apply([](auto const&... member) { return std::tuple<std::remove_cvref_t<decltype(member)>...>{member...}; }, tx::detail::members(bundle));
    };
    return stacked(plain(out), plain(more)...);
  }
}

// call(number, carry) -> what an iteration returns. All: what it hands on is given away too.
template <int N, bool All, tx::direction Way, class Call, class Carry>
constexpr auto iterations(Call const& call, Carry const& first) {
  typename tx::detail::plain<Carry>::type carry = first;
  using given_type = decltype(call(std::integral_constant<int, 0>{}, carry));
  auto const next = [&]<int I>(std::integral_constant<int, I> number) {
    auto const given = call(number, carry);
    if constexpr (tx::detail::is_scanned<given_type>) {
      carry = given.carry;
      return given.out;
    } else {
      return carry = given;
    }
  };
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    constexpr bool forward = Way == tx::direction::forward;
    std::array const outs{next(std::integral_constant<int, forward ? I : N - 1 - I>{})...};
    if constexpr (All || tx::detail::is_scanned<given_type>) return tx::scanned{carry, stacked(outs[forward ? I : N - 1 - I]...)};
    else return carry;
  }(std::make_integer_sequence<int, N>{});
}

template <int N, tx::direction Way = tx::direction::forward, class F, class Carry, class... Slices>
constexpr auto scan(F const& f, Carry const& carry, Slices const&... slices) {
  return iterations<N, false, Way>([&]<int I>(std::integral_constant<int, I>, auto const& at) { return f(at, slice_of<I>(slices)...); }, carry);
}

template <int N, class Block>
struct repeat {
  std::array<Block, N> block;

  constexpr auto operator()(auto const& carry, auto const&... same) const { return run<false>(carry, same...); }
  constexpr auto outputs(auto const& carry, auto const&... same) const { return run<true>(carry, same...); }

 private:
  template <bool All>
  constexpr auto run(auto const& first, auto const&... same) const {
    return iterations<N, All, tx::direction::forward>(
        [&]<int I>(std::integral_constant<int, I>, auto const& carry) { return block[std::size_t{I}](carry, behind_carry<I>(same)...); }, first);
  }
};

}  // namespace unrolled

// Ways through N iterations, by which the models and losses of tests are written once.
struct recorded_once {
  template <int N, class Block>
  using repeat = tx::repeat<N, Block>;
  template <int N, tx::direction Way = tx::direction::forward>
  static constexpr auto scan(auto const& f, auto const& carry, auto const&... slices) {
    return tx::scan<N, Way>(f, carry, slices...);
  }
};
struct each_recorded {
  template <int N, class Block>
  using repeat = unrolled::repeat<N, Block>;
  template <int N, tx::direction Way = tx::direction::forward>
  static constexpr auto scan(auto const& f, auto const& carry, auto const&... slices) {
    return unrolled::scan<N, Way>(f, carry, slices...);
  }
};

inline std::vector<double> numbers(std::size_t count, double first) {
  std::vector<double> v;
  for (std::size_t i = 0; i < count; ++i) v.push_back(first + 0.25 * static_cast<double>(i * 7 % 11) - 0.5);
  return v;
}

struct outcome {
  double value;
  std::vector<double> gradient;
};
// Parameters in the order in which they are declared, from numbers that depend on that alone.
template <auto F, class Model, class... X>
outcome differentiated(X const&... x) {
  tx::executor<tx::value_and_grad<F, Model>, tx::cpu> run{tx::seed(3)};
  double first = 0;
  for (auto const& t : run.tensors()) std::ranges::copy(numbers(t.data.size(), first += 0.03), t.data.begin());
  auto const r = run(x...);
  outcome out{r.value, {}};
  for (auto const& t : r.gradient.tensors()) out.gradient.insert(out.gradient.end(), t.data.begin(), t.data.end());
  return out;
}
inline void check_equal(outcome const& a, outcome const& b) {
  CHECK(a.value == Approx(b.value).epsilon(1e-12));
  REQUIRE(a.gradient.size() == b.gradient.size());
  for (std::size_t i = 0; i < a.gradient.size(); ++i) CHECK(a.gradient[i] == Approx(b.gradient[i]).epsilon(1e-10).margin(1e-12));
}
// All of the parameters are of some weight, so that equal gradients say something.
inline void check_none_is_idle(outcome const& a) {
  REQUIRE_FALSE(a.gradient.empty());
  CHECK(std::ranges::count_if(a.gradient, [](double d) { return d != 0 && d == d; }) > static_cast<std::ptrdiff_t>(a.gradient.size() * 9 / 10));
}
