// Recording: a constexpr callable over typed tensors becomes a graph.
#pragma once

#include <tx/expr/overlapping_leaves.hpp>
#include <tx/expr/parameter_layout.hpp>
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

template <class F>
concept one_signature = requires { &F::operator(); };

template <class F, class Model>
struct signature_with_model {
  static_assert(one_signature<F>,
                "tx: the arguments of a loss or function cannot be told. FIX: [](auto const& model, tensor<T, ...> x): each but the model has its type");
  using type = signature<decltype(&F::operator())>;
};
template <class F, class Model>
  requires takes_any_model<F, Model>
struct signature_with_model<F, Model> {
  using type = signature<call_with<F, Model>>;
};

template <class Tuple>
inline constexpr bool all_tensors = false;
template <class... A>
inline constexpr bool all_tensors<std::tuple<A...>> = (typed_handle<A> && ...);
template <class Tuple, class Model>
inline constexpr bool model_first = false;
template <class Model, class... Rest>
inline constexpr bool model_first<std::tuple<Model, Rest...>, Model> = true;

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
  static_assert(!has_model || detail::model_first<all_arguments, Model>,
                "tx: a loss or function of a model takes the model first. FIX: [](model const& m, tensor<T, ...> x)");
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
  static_assert(detail::all_tensors<arguments>,
                "tx: an argument of a loss or function is no tensor. FIX: tensor<T, ...>; a number is tensor<T>, without extents");
};

// Binds each parameter of a model to a leaf of the graph.
template <class Model>
constexpr void bind_parameters(Model& model, graph& g) {
  int entry = 0;
  auto bind = [&](auto& p, detail::surroundings const&) {
    layout_entry const& e = layout<Model>::entries[entry];
    p.g = &g;
    p.id = emit_leaf(g, parameter_info, e.info, of_parameter(e.offset, entry++)).id;
  };
  detail::for_each_parameter(model, bind);
}

namespace detail {
constexpr bool same_extents(shape const& a, shape const& b) {
  for (int i = 0; i < a.rank; ++i)
    if (!(a.at(i) == b.at(i))) return false;
  return a.rank == b.rank;
}
}  // namespace detail

// Records F on a model and fresh inputs; the outputs of the graph are the tensors of F's result, in order, then what states become.
template <class Model, auto F>
constexpr void trace(graph& g) {
  using call = callable<std::remove_cvref_t<decltype(F)>, Model>;
  typename call::arguments inputs{};
  int position = 0;
  std::apply(
      [&](auto&... in) {
        ((g.bound_of.note(in.dims), in.g = &g, in.id = emit_leaf(g, input_info, in.info, of_input(position++)).id), ...);
      },
      inputs);
  auto finish = [&](auto result) {
    for_each_tensor(result, [&](auto const& r) {
      if (!detail::same_extents(g.info(r.id).dims, r.dims))
        throw invalid("a result is a parameter of repeated blocks, or its gradient, which has a slice for each. FIX: hand out what is computed from it");
      g.outputs.push_back(output{r.id, output_kind::result, -1});
    });
    vec<int> set{};
    for (state_change const& c : g.changes) {
      g.outputs.push_back({c.value, output_kind::assign, c.state});
      set.push_back(c.state);
    }
    if (set.size() > 0) detail::refuse_overlapping(g, set);
    g.changes.clear();
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
