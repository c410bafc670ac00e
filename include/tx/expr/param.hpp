// param<Tensor, Init, Group>: a tensor of a model that is trained, or with the group `frozen` or in a frozen_module<Module> is not; how it starts and which group it
// belongs to are part of its type.
#pragma once

#include <tx/expr/tensor.hpp>

namespace tx {

// Parameters of one group share a learning-rate factor and a weight decay; both can be changed at run time.
struct decayed {
  static constexpr float rate = 1.0f;
  static constexpr float decay = 0.01f;
};
struct not_decayed {
  static constexpr float rate = 1.0f;
  static constexpr float decay = 0.0f;
};

// These are not trained: they have neither gradient nor optimizer state. (A rate of 0 keeps both, and may be changed.) Any group with
// `trained = false` is such; frozen_module<Module> in expr/model_walk.hpp puts all parameters of a module here.
struct frozen {
  static constexpr float rate = 0.0f;
  static constexpr float decay = 0.0f;
  static constexpr bool trained = false;
};

namespace detail {
template <class Group>
constexpr bool is_trained() {
  if constexpr (requires { Group::trained; }) return Group::trained;
  else return true;
}
}  // namespace detail

// Initial values: `value(u, n, fan_in)` from uniforms u in (0, 1) and standard normals n; fan_in: elements for each of the leading axis, of
// a vector all. Or `value(k)` of element k, in the order in which they lie. Integers have the number nearest to it, halves are rounded.
namespace init {
struct zeros {
  static double value(double, double, std::int64_t) { return 0.0; }
};
struct ones {
  static double value(double, double, std::int64_t) { return 1.0; }
};
template <int Num, int Den = 1>
struct full {
  static double value(double, double, std::int64_t) { return static_cast<double>(Num) / Den; }
};
// 0, 1, 2, ... through all elements.
struct counted {
  static double value(std::size_t element) { return static_cast<double>(element); }
};
// Normal with standard deviation Num / Den.
template <int Num, int Den>
struct normal {
  static double value(double, double n, std::int64_t) { return n * Num / Den; }
};
// Uniform in +-Num / Den.
template <int Num, int Den>
struct uniform {
  static double value(double u, double, std::int64_t) { return (2 * u - 1) * Num / Den; }
};
}  // namespace init

template <class Init>
concept initializer = requires { Init::value(0.5, 0.0, std::int64_t{1}); } || requires { Init::value(std::size_t{0}); };
template <class Group>
concept parameter_group = requires { Group::rate, Group::decay; };

template <class Tensor, class Init = init::normal<20, 1000>, class Group = decayed>
struct param : Tensor {
  static_assert(initializer<Init>, "tx::param: what stands for the initial values is no initializer, which has value(...). FIX: param<tensor, initializer, group>; linear<In, Out, initializer>, embedding<Rows, Width, group, initializer>");
  static_assert(parameter_group<Group>, "tx::param: what stands for the group is none, which has a rate and a decay. FIX: param<tensor, initializer, group>; linear<In, Out, initializer>, embedding<Rows, Width, group, initializer>");
  static_assert(Tensor::dims.bounds == 0, "tx::param, tx::state: a parameter or state has a bounded extent, and would lie otherwise in each run. FIX: a fixed one, of which a run takes a part");
  using parameter_type = param;
  using initializer = Init;
  using group = Group;
};

template <class P>
concept parameter = requires { typename P::parameter_type; };

}  // namespace tx
