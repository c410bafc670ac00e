// custom_vjp<forward, backward>: a function with a gradient rule of one's own, as JAX's custom_vjp has it.
//
//   constexpr auto log_one_plus_exp = tx::custom_vjp<
//       [](auto const& x) { return tx::with_saved(tx::maximum(x, 0) + tx::log1p(tx::exp(-tx::abs(x))), x); },
//       [](auto const& x, auto const& gradient) { return gradient * tx::sigmoid(x); }>;
//
// forward(x...) takes tensors and returns one tensor, with_saved(it, values...) if backward needs values again.
// backward(values..., gradient) takes what was saved, then the gradient of the result, of its type and shape, and
// returns that of the argument; of several floating-point arguments std::tuple{...}, one for each, in order. Both are
// recorded as any function is: fused, of any shape, usable in repeated blocks. A gradient of the gradient is that of
// backward's own ops, through forward's to what was saved.
//
// Errors, while compiling: an argument, a result or a gradient that is no tensor; a backward that does not take what
// was saved; gradients of another number, shape or type than the arguments.
#pragma once

#include <tx/expr/called_like.hpp>
#include <tx/ops/lift.hpp>

#include <tuple>
#include <type_traits>

namespace tx {

template <class Result, class... Saved>
struct result_with_saved {
  Result result;
  std::tuple<Saved...> saved;
};
template <typed_handle R, typed_handle... S>
constexpr auto with_saved(R const& result, S const&... saved) {
  return result_with_saved<typename R::tensor_type, typename S::tensor_type...>{result, {saved...}};
}

namespace detail {

template <class R>
struct forward_of {
  static_assert(
      typed_handle<R>,
      "tx::custom_vjp: forward does not return one tensor. FIX: a tensor, or tx::with_saved(tensor, values...)");
};
template <typed_handle R>
struct forward_of<R> {
  using result = typename R::tensor_type;
  using saved = std::tuple<>;
  static constexpr auto with_saved(R const& r) { return result_with_saved<result>{r, {}}; }
};
template <class R, class... S>
struct forward_of<result_with_saved<R, S...>> {
  using result = R;
  using saved = std::tuple<S...>;
  static constexpr auto const& with_saved(result_with_saved<R, S...> const& r) { return r; }
};

template <class Gradient, class Argument>
constexpr void check_custom_gradient() {
  static_assert(typed_handle<Gradient>,
                "tx::custom_vjp: backward returns what is no tensor. FIX: the gradient of the argument, or "
                "std::tuple{...} of several");
  if constexpr (typed_handle<Gradient>)
    static_assert(Gradient::info == Argument::info,
                  "tx::custom_vjp: backward gives a gradient of another shape or type than its argument. FIX: sum over "
                  "what was broadcast, or cast it");
}

template <class... Gradient, class... Argument>
constexpr void check_custom_gradients(std::tuple<Gradient...> const*, std::tuple<Argument...> const*) {
  constexpr bool one_each = sizeof...(Gradient) == sizeof...(Argument);
  static_assert(
      one_each,
      "tx::custom_vjp: backward gives another number of gradients than forward has floating-point arguments. FIX: "
      "std::tuple{...}, one for each");
  if constexpr (one_each) (check_custom_gradient<Gradient, Argument>(), ...);
}

template <class R>
constexpr auto as_tuple(R const& one) {
  return std::tuple<R>{one};
}
template <class... R>
constexpr auto as_tuple(std::tuple<R...> const& several) {
  return several;
}

// The arguments that have gradients.
template <class... A>
using floating = decltype(std::tuple_cat(
    std::declval<std::conditional_t<is_float(A::info.type), std::tuple<A>, std::tuple<>>>()...));

template <auto Backward, class Result, class Arguments, class Saved>
struct custom_rule;
template <auto Backward, class Result, class... A, class... S>
struct custom_rule<Backward, Result, std::tuple<A...>, std::tuple<S...>> {
  using gradients = decltype(as_tuple(Backward(std::declval<S const&>()..., std::declval<Result const&>())));

  static constexpr void check() {
    check_custom_gradients(static_cast<gradients const*>(nullptr), static_cast<floating<A...> const*>(nullptr));
  }
  // Operands: the result as forward computes it, arguments, saved values.
  static constexpr int operands = 1 + static_cast<int>(sizeof...(A) + sizeof...(S));
  static constexpr value_info infer(value_info const* in, int, attributes const&) { return in[0]; }
  static constexpr int simplify(simplify_context& c) { return c.in[0]; }
  static constexpr void vjp(vjp_context& c) {
    [[maybe_unused]] int operand = 1 + static_cast<int>(sizeof...(A));
    std::tuple<S...> const saved{S{c.g, c.in(operand++).id}...};
    gradients const given = as_tuple(std::apply(
        [&](auto const&... s) {
          return Backward(s..., Result{c.g, c.gradient.id});
        },
        saved));
    constexpr bool has_gradient[] = {is_float(A::info.type)...};
    int k = 0;
    auto give = [&](var gradient) {
      while (!has_gradient[k]) ++k;
      c.accumulate(1 + k++, gradient);
    };
    std::apply([&](auto const&... gradient) { (give(gradient), ...); }, given);
  }
};

// The result, with another gradient than that of the ops it is made of; passes after differentiation see these alone.
// Kind `whole`: to passes before, it reads all of its operands.
template <auto Backward, class Result, class Arguments, class Saved,
          class Rule = custom_rule<Backward, Result, Arguments, Saved>>
inline constexpr op_info custom_vjp_info{.name = "custom_vjp",
                                         .kind = op_kind::whole,
                                         .arity = Rule::operands,
                                         .infer = Rule::infer,
                                         .vjp = Rule::vjp,
                                         .simplify = Rule::simplify};

template <auto Backward, class Result, class Saved>
inline constexpr bool takes_saved = false;
template <auto Backward, class Result, class... S>
inline constexpr bool takes_saved<Backward, Result, std::tuple<S...>> =
    std::is_invocable_v<decltype(Backward) const&, S const&..., Result const&>;

template <auto Forward, auto Backward>
struct custom_function {
  template <class... A>
  static constexpr auto call(A const&... a) {
    constexpr bool tensors = (typed_handle<A> && ...);
    static_assert(
        tensors,
        "tx::custom_vjp: an argument is no tensor. FIX: tensors, and parameters one by one; a number is tensor<T>");
    if constexpr (tensors) {
      using parts = forward_of<decltype(Forward(a...))>;
      using result = typename parts::result;
      constexpr bool callable = takes_saved<Backward, result, typename parts::saved>;
      static_assert(callable,
                    "tx::custom_vjp: backward does not take what forward saves, then the gradient of its result. FIX: "
                    "[](saved..., gradient)");
      if constexpr (callable) {
        using arguments = std::tuple<typename A::tensor_type...>;
        custom_rule<Backward, result, arguments, typename parts::saved>::check();
        auto const made = parts::with_saved(Forward(a...));
        vec<int> ids{made.result.id, a.id...};
        std::apply([&](auto const&... s) { (ids.push_back(s.id), ...); }, made.saved);
        graph& g = *made.result.g;
        return result{&g, g.emit(&custom_vjp_info<Backward, result, arguments, typename parts::saved>, ids.data(),
                                 ids.size(), attributes{})};
      }
    }
  }
};

template <auto Forward, auto Backward>
struct custom_vjp_fn : called_like<std::remove_cvref_t<decltype(Forward)>, custom_function<Forward, Backward>> {};

}  // namespace detail

template <auto Forward, auto Backward>
inline constexpr detail::custom_vjp_fn<Forward, Backward> custom_vjp{};

}  // namespace tx
