// What a function within a graph is differentiated by: values equal to its arguments, but nodes of their own. A
// gradient stops where the function begins, also where another of its arguments was computed from the same value.
#pragma once

#include <tx/expr/model_walk.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/constant.hpp>

namespace tx {

namespace detail {
constexpr value_info independent_infer(value_info const* in, int, attributes const&) { return in[0]; }
constexpr void independent_vjp(vjp_context& c) { c.accumulate(0, c.gradient); }
constexpr int independent_simplify(simplify_context& c) { return c.in[0]; }
constexpr bool independent_restride(strided&, shape const&, shape const&, attributes const&) { return true; }
}  // namespace detail

// A view that moves nothing, with a number that tells one from the next; passes after differentiation see through it.
inline constexpr op_info independent_info{.name = "independent",
                                          .kind = op_kind::view,
                                          .arity = 1,
                                          .infer = detail::independent_infer,
                                          .vjp = detail::independent_vjp,
                                          .simplify = detail::independent_simplify,
                                          .restride = detail::independent_restride,
                                          .variable = true};

namespace detail {

// Calls f(handle, is it trained?) for a tensor, or for each parameter of a model.
template <class A, class F>
constexpr void for_each_leaf(A& of, F const& f) {
  if constexpr (typed_handle<A>) {
    f(of, true);
  } else {
    auto visit = [&]<class P>(P& p, surroundings const& around) {
      f(p, !around.frozen && is_trained<typename P::group>());
    };
    for_each_parameter(of, visit);
  }
}

// A node that no earlier node stands for: equal nodes are one, so its number is raised until it is new.
constexpr int new_independent(var x) {
  int const before = x.g->size();
  int id = -1;
  for (std::int64_t number = before; id < before; ++number) {
    id = emit(independent_info, {x}, attributes{{number}}).id;
  }
  return id;
}

// Makes a tensor, or each trained parameter of a model, independent; appends the nodes to `leaves`.
template <class A>
constexpr void make_independent(A& of, vec<int>& leaves) {
  for_each_leaf(of, [&](auto& x, bool trained) {
    if (!trained) return;
    if (x.g == nullptr)
      throw invalid("grad: a result of a run is no part of a graph. FIX: make it an argument of the program");
    x.id = new_independent({x.g, x.id});
    leaves.push_back(x.id);
  });
}

// The gradients of what make_independent saw, in its order, as a tensor or a model; zeros where there is none.
template <class A>
constexpr auto as_gradient(A const& of, graph& g, vec<int> const& gradients, int& next) {
  auto const id_of = [&](int like, bool trained) {
    int const id = trained ? gradients[next++] : -1;
    value_info const info = g.info(like);
    return id >= 0 ? id : broadcast_to(constant(g, info.type, 0), info.dims).id;
  };
  if constexpr (typed_handle<A>) {
    return typename A::tensor_type{&g, id_of(of.id, true)};
  } else {
    A out = of;
    for_each_leaf(out, [&](auto& p, bool trained) { p.id = id_of(p.id, trained); });
    return out;
  }
}

}  // namespace detail
}  // namespace tx
