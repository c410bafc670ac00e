// check_gradient: is the gradient of a function that of its values? For ops and gradient rules of one's own.
//
//   constexpr auto f = [](tx::tensor<double, 4, 3> x) { return tx::sum(mine::softsign(x) * x); };
//   auto const worst = tx::check_gradient<f, tx::reference>(x);          // x: 12 numbers
//   if (worst.distance > 1e-6) std::puts(worst.text().c_str());          // "argument 0, element 7: ..."
//   tx::check_gradient<loss, tx::reference, model>(x, y);                // by the parameters of a model
//
// F returns a floating-point scalar, or an aggregate or tuple whose first member is one. Without a model each argument
// of f32 or f64 is differentiated by, with a model its trained parameters, as drawn from seed 0. Each number is moved
// up and down by h = max(1, |x|) cbrt(epsilon of the type), and the gradient compared with (F(x + h) - F(x - h)) / 2h
// (Press et al., Numerical Recipes, 3rd ed., 5.7), which is off by about 1e-10 in f64, 1e-4 in f32 for numbers near 1:
// f64 tells more. At a kink (0 of abs) there is no such quotient. Two runs for each number: small shapes do. Random
// numbers, as those of dropout, are the same in all runs.
// Errors: those of a call of an executor, as shape_error for ranges of another length.
#pragma once

#include <tx/autodiff/grad.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/value_and_grad.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace tx {

// Where a gradient is furthest from the difference quotient.
struct gradient_distance {
  double distance = 0;  // |told - measured| / max(1, |measured|); infinite where one of them is NaN
  std::string of;       // "argument 0", "hidden.weight"
  std::size_t element = 0;
  double told = 0, measured = 0;

  TX_COLD std::string text() const {
    return of + ", element " + std::to_string(element) + ": the gradient is " + std::to_string(told) +
           ", differences are " + std::to_string(measured);
  }
};

namespace detail {

class gradient_comparison {
 public:
  gradient_distance worst;

  // value(): the function at what `x` refers to.
  template <class T, class Value>
  TX_COLD void compare(std::string const& of, std::span<T> x, std::vector<T> const& told, Value const& value) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      T const kept = x[i];
      T const h = std::max(T(1), std::abs(kept)) * std::cbrt(std::numeric_limits<T>::epsilon());
      T const up = kept + h, down = kept - h;
      x[i] = up;
      double const above = value();
      x[i] = down;
      double const below = value();
      x[i] = kept;
      add(of, i, static_cast<double>(told[i]), (above - below) / (static_cast<double>(up) - static_cast<double>(down)));
    }
  }

 private:
  TX_COLD void add(std::string const& of, std::size_t element, double told, double measured) {
    double distance = std::abs(told - measured) / std::max(1.0, std::abs(measured));
    if (std::isnan(distance)) distance = std::numeric_limits<double>::infinity();
    if (worst.of.empty() || distance > worst.distance) worst = {distance, of, element, told, measured};
  }
};

// What F returns first, then its gradient by each argument At: one program of plain tensors.
template <auto F, class Arguments, class At>
struct scalar_with_gradients;
template <auto F, class... A, int... At>
struct scalar_with_gradients<F, std::tuple<A...>, std::integer_sequence<int, At...>> {
  constexpr auto operator()(A const&... a) const {
    static_assert(sizeof...(At) > 0,
                  "tx::check_gradient: no argument is of f32 or f64. FIX: a floating-point argument, or a model");
    auto const both = with_grad<F, At...>(a...);
    using value = tensor<element_t<first_info<std::remove_cvref_t<decltype(both.value)>>().type>>;
    var const loss = reshape(first_tensor(both.value), shape{});
    if constexpr (sizeof...(At) == 1)
      return std::tuple{value{loss.g, loss.id}, both.gradient};
    else
      return std::tuple_cat(std::tuple{value{loss.g, loss.id}}, both.gradient);
  }
};

template <class A>
inline constexpr bool is_measured = A::info.type == dtype::f32 || A::info.type == dtype::f64;

// The numbers of the arguments that are differentiated by.
template <class Arguments>
struct measured_arguments;
template <class... A>
struct measured_arguments<std::tuple<A...>> {
  static constexpr int count = (0 + ... + static_cast<int>(is_measured<A>));
  static constexpr auto at = [] {
    fixed<int, count> list{};
    int argument = 0, next = 0;
    ((is_measured<A> ? static_cast<void>(list[next++] = argument++) : static_cast<void>(++argument)), ...);
    return list;
  }();
  template <int... K>
  static std::integer_sequence<int, at[K]...> sequence(std::integer_sequence<int, K...>);
  using type = decltype(sequence(std::make_integer_sequence<int, count>{}));
};

}  // namespace detail

// Takes a range for each tensor that F takes.
template <auto F, class Backend, class Model = no_model, class... X>
TX_COLD gradient_distance check_gradient(X const&... x) {
  using call = callable<std::remove_cvref_t<decltype(F)>, Model>;
  detail::gradient_comparison all;
  if constexpr (std::is_same_v<Model, no_model>) {
    using arguments = typename call::arguments;
    using at = typename detail::measured_arguments<arguments>::type;
    executor<function<detail::scalar_with_gradients<F, arguments, at>{}>, Backend> run{seed(0)};
    std::tuple copies{std::vector(std::ranges::begin(x), std::ranges::end(x))...};
    auto const first = [&] {
      double value = 0;
      run.restore(0, 0);
      std::apply([&](auto const&... one) { value = static_cast<double>(std::get<0>(run(one...))); }, copies);
      return value;
    };
    auto const results = std::apply([&](auto const&... one) { return run(one...); }, copies);
    [&]<int... K, int... At>(std::integer_sequence<int, K...>, std::integer_sequence<int, At...>) {
      std::tuple const told{std::vector(std::get<K + 1>(results).begin(), std::get<K + 1>(results).end())...};
      (all.compare("argument " + std::to_string(At), std::span(std::get<At>(copies)), std::get<K>(told), first), ...);
    }(std::make_integer_sequence<int, detail::measured_arguments<arguments>::count>{}, at{});
  } else {
    executor<value_and_grad<F, Model>, Backend> run{seed(0)};
    static_assert(!decltype(run)::remote,
                  "tx::check_gradient: the host does not reach this backend's parameters. FIX: tx::cpu or tx::reference");
    auto const value = [&] {
      run.restore(0, 0);
      run.reset_state();  // each run has the states that the gradient had
      auto const r = run(x...);
      double first = 0;
      bool found = false;
      for_each_result(r.value, [&](auto const& t) {
        if (!found) first = static_cast<double>(elements_of(t)[0]);
        found = true;
      });
      return first;
    };
    using number = typename gradient_of<Model>::element_type;
    std::vector<std::vector<number>> told;
    {
      auto const r = run(x...);
      for (auto const& t : r.gradient.tensors()) told.emplace_back(t.data.begin(), t.data.end());
    }
    // tensors() of the parameters has those that are not trained, too.
    auto const names = parameters_of<Model>();
    auto const parameters = run.tensors();
    std::size_t next = 0;
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k].trained) all.compare(names[k].name, parameters[k].template as<number>(), told[next++], value);
  }
  return all.worst;
}

}  // namespace tx
