// Recording: a constexpr callable over typed tensors becomes a graph.
#pragma once

#include <tx/expr/repeat.hpp>
#include <tx/expr/scalar.hpp>

namespace tx {

namespace detail {

template <class F>
struct signature;
template <class R, class C, class... A>
struct signature<R (C::*)(A...) const> {
  using result = R;
  using arguments = std::tuple<std::remove_cvref_t<A>...>;
};

template <class Tuple>
struct tail;
template <class First, class... Rest>
struct tail<std::tuple<First, Rest...>> {
  using head = First;
  using type = std::tuple<Rest...>;
};

// A loss may take the model as `auto const&`.
template <class F, class Model>
using call_with = decltype(&F::template operator()<Model>);
template <class F, class Model>
concept takes_any_model = requires { typename call_with<F, Model>; };

template <class F, class Model>
struct signature_with_model {
  using type = signature<decltype(&F::operator())>;
};
template <class F, class Model>
  requires takes_any_model<F, Model>
struct signature_with_model<F, Model> {
  using type = signature<call_with<F, Model>>;
};

}  // namespace detail

struct no_model {};

// What a callable takes and gives: Model first if it has one, then tensors.
template <class F, class Model>
struct callable {
 private:
  using signature = typename detail::signature_with_model<F, Model>::type;

 public:
  using all_arguments = typename signature::arguments;
  static constexpr bool has_model = !std::is_same_v<Model, no_model>;
  template <class A, bool>
  struct tensors_of {
    using type = typename detail::tail<A>::type;
  };
  template <class A>
  struct tensors_of<A, false> {
    using type = A;
  };
  using arguments = typename tensors_of<all_arguments, has_model>::type;
  using result = typename signature::result;
};

// Binds each parameter of a model to a leaf of the graph.
template <class Model>
constexpr void bind_parameters(Model& model, graph& g) {
  int entry = 0;
  auto bind = [&](auto& p, detail::surroundings const&) {
    layout_entry const& e = layout<Model>::entries[entry];
    attributes at{};
    at.v[0] = e.offset;
    at.v[1] = entry++;
    p.g = &g;
    p.id = emit_leaf(g, parameter_info, e.info, at).id;
  };
  detail::for_each_parameter(model, bind);
}

// A result is a tensor or an aggregate of tensors; each becomes an output, in order.
template <class R, class F>
constexpr void for_each_result(R& result, F f) {
  if constexpr (typed_handle<std::remove_const_t<R>>)
    f(result);
  else
    std::apply([&](auto&... member) { (for_each_result(member, f), ...); }, detail::members(result));
}

// Records F on a model and fresh inputs; the outputs of the graph are F's results.
template <class Model, auto F>
constexpr void trace(graph& g) {
  using call = callable<std::remove_cvref_t<decltype(F)>, Model>;
  typename call::arguments inputs{};
  int position = 0;
  std::apply(
      [&](auto&... in) {
        ((in.g = &g, in.id = emit_leaf(g, input_info, in.info, attributes{{position++}}).id), ...);
      },
      inputs);
  auto finish = [&](auto result) {
    for_each_result(result, [&](auto const& r) { g.outputs.push_back(output{r.id, output_kind::result, -1}); });
  };
  if constexpr (call::has_model) {
    Model model{};
    bind_parameters(model, g);
    std::apply([&](auto const&... in) { finish(F(model, in...)); }, inputs);
  } else {
    std::apply([&](auto const&... in) { finish(F(in...)); }, inputs);
  }
}

}  // namespace tx
