// lora<Model, options, targets, trained>: low-rank adaptation (Hu et al., arXiv 2106.09685). Beside the linear layers whose names match, two
// narrow matrices add scale * x A^T B^T, scale = alpha / rank, to what the layer gives; those alone are trained, and what `trained` names.
//
//   using model = tx::nn::lora<network, tx::nn::lora_options{.rank = 8, .alpha = 16}>;                          // beside "*.query" and "*.value"
//   using wide  = tx::nn::lora<network, {.rank = 4}, tx::names<"*.dense">, tx::names<"classifier.*">>;          // and the head is trained
//
// It is called as the model is; unwrapped(m) (expr/by_name.hpp) is the model with what stands beside it, for `packed` and the like. Tensors
// of the model keep their names, "encoder.layer.0.attention.self.query.weight"; beside them are "....query.lora_A.weight" [rank, In] and
// "....query.lora_B.weight" [Out, rank]. As in PEFT A begins as kaiming_uniform with a = sqrt(5) draws it, uniform in +-1 / sqrt(In), and B
// with zeros: a fresh one gives what the model gives. Dropout is on what A reads. io/adapter_folder.hpp writes and reads PEFT's folders, and
// merges: W + scale B A.
// Errors, while compiling: a pattern that matches no linear layer, or some blocks of a repeat and not all; options out of range.
#pragma once

#include <tx/nn/layers_by_name.hpp>
#include <tx/nn/linear.hpp>

namespace tx::nn {

struct lora_options {
  int rank = 8;
  double alpha = 8;
  double dropout = 0;
};

namespace detail {

// Uniform in +-1 / sqrt(fan_in): torch.nn.init.kaiming_uniform_ with a = sqrt(5), whose gain is sqrt(1 / 3), of a bound gain * sqrt(3 / fan_in).
struct kaiming_uniform {
  static double value(double u, double, std::int64_t fan_in) { return (2 * u - 1) / math::sqrt(static_cast<double>(fan_in)); }
};

template <int Rows, int Cols, class Init>
struct lora_matrix {
  param<tensor<f32, Rows, Cols>, Init> weight;
};
template <class Layer, int Rank>
struct lora_matrices {
  static constexpr shape of_layer = decltype(Layer::weight)::dims;  // [Out, In]
  lora_matrix<Rank, of_layer.dim[1], kaiming_uniform> lora_A;
  lora_matrix<of_layer.dim[0], Rank, init::zeros> lora_B;
};

template <class Model, lora_options Options, class Targets>
struct lora_attaching {
  static_assert(Options.rank >= 1, "tx::nn::lora: a rank is at least 1. FIX: lora_options{.rank = 8}");
  static_assert(Options.alpha > 0 && Options.alpha < 1e30, "tx::nn::lora: alpha is a finite number above 0. FIX: lora_options{.alpha = 16}");
  static_assert(Options.dropout >= 0 && Options.dropout < 1, "tx::nn::lora: a rate of dropout is at least 0 and below 1. FIX: lora_options{.dropout = 0.1}");
  static constexpr auto chosen = layers_where<Model>(Targets{});
  static constexpr bool attaches(int layer) { return chosen[layer]; }
  template <class Layer>
  using beside = lora_matrices<Layer, Options.rank>;

  template <class Layer, class F>
  static constexpr void visit(Layer& layer, F& f, tx::detail::surroundings const& around, int* number) {
    if (!attaches((*number)++)) return;
    beside<Layer> own{};
    own.lora_A.weight.g = own.lora_B.weight.g = layer.weight.g;
    own.lora_A.weight.id = layer.beside.down;
    own.lora_B.weight.id = layer.beside.up;
    tx::detail::for_each_parameter(own, f, around);
    if constexpr (!std::is_const_v<Layer>) layer.beside = {own.lora_A.weight.id, own.lora_B.weight.id, Options.alpha / Options.rank, Options.dropout};
  }
};

template <class Model, lora_options Options, class Targets, class Trained>
struct lora_of;

}  // namespace detail

// The model with what stands beside its layers, all of which is trained as its groups say.
template <class Model, lora_options Options = lora_options{}, class Targets = names<"*.query", "*.value">>
struct with_lora {
  using attaching = detail::lora_attaching<Model, Options, Targets>;
  Model body;

  constexpr auto operator()(auto const&... x) const { return body(x...); }
};

template <class Model, lora_options Options, class Targets, fixed_string... Trained>
struct detail::lora_of<Model, Options, Targets, names<Trained...>> {
  using type = trained_where<with_lora<Model, Options, Targets>, "*lora_A.weight", "*lora_B.weight", Trained...>;
};

template <class Model, lora_options Options = lora_options{}, class Targets = names<"*.query", "*.value">, class Trained = names<>>
using lora = typename detail::lora_of<Model, Options, Targets, Trained>::type;

}  // namespace tx::nn
