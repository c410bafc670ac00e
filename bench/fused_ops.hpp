// Fused rows whose time is that of memory, as bench/fused.cpp measures them on processors and bench/device/fused.cpp on devices: forward, and forward with backward.
#pragma once

#include <tx/tx.hpp>

#include <cstddef>
#include <vector>

namespace bench {

inline constexpr int fused_columns = 1024;

// What a run is given beside its model.
enum class given { nothing, weights, labels };

// How many matrices must be read or written at least.
template <class Program, given With>
struct fused_case {
  using program = Program;
  static constexpr given with = With;
  char const* name;
  double matrices;
  bool update_alone = false;  // of a step, whose other kernels make the gradient
};

template <int Rows>
struct fused_ops {
  using matrix = tx::tensor<tx::f32, Rows, fused_columns>;
  using row = tx::tensor<tx::f32, fused_columns>;
  using labels = tx::tensor<tx::i32, Rows>;

  struct input {
    tx::param<matrix> x;
  };
  struct normed {
    tx::param<matrix> x;
    tx::param<row, tx::init::ones> scale;
    tx::param<row, tx::init::zeros> shift;
  };
  struct biased {
    tx::param<matrix> x;
    tx::param<row, tx::init::zeros> bias;
  };
  struct two {
    tx::param<matrix> x, residual;
    tx::param<row, tx::init::ones> scale;
    tx::param<row, tx::init::zeros> shift;
  };

  static constexpr auto softmax_of = [](input const& m) { return tx::softmax(m.x); };
  static constexpr auto layer_norm_of = [](normed const& m) { return tx::layer_norm(m.x, m.scale, m.shift, 1e-12); };
  static constexpr auto bias_gelu_of = [](biased const& m) { return tx::gelu(m.x + m.bias); };
  static constexpr auto bias_gelu_dropout_of = [](biased const& m) { return tx::dropout(tx::gelu(m.x + m.bias)); };
  static constexpr auto dropout_residual_norm_of = [](two const& m) { return tx::layer_norm(tx::dropout(m.x) + m.residual, m.scale, m.shift, 1e-12); };
  static constexpr auto column_sums_of = [](input const& m) { return tx::sum<0>(m.x * m.x); };
  static constexpr auto cross_entropy_of = [](input const& m, labels y) { return tx::cross_entropy(m.x, y); };

  // A number whose gradient by the result is an argument, as that of what follows a layer is.
  template <auto F>
  static constexpr auto weighed = [](auto const& m, matrix w) { return tx::sum(F(m) * w); };
  static constexpr auto weighed_input = [](input const& m, matrix w) { return tx::sum(m.x * w); };

  template <auto F, class Model>
  using forward = fused_case<tx::function<F, Model>, given::nothing>;
  template <auto F, class Model>
  using backward = fused_case<tx::value_and_grad<weighed<F>, Model>, given::weights>;

  // visit(fused_case): each whose number `chosen` has a bit for. What is not chosen is not compiled.
  template <unsigned Chosen = ~0u, class Visit>
  static void each(Visit const& visit) {
    some<Chosen, 0>(visit, [] { return forward<softmax_of, input>{"softmax_forward", 2}; });  // x -> y
    some<Chosen, 1>(visit, [] { return backward<softmax_of, input>{"softmax_backward", 3}; });  // x, w -> dx
    some<Chosen, 2>(visit, [] { return forward<layer_norm_of, normed>{"layer_norm_forward", 2}; });
    some<Chosen, 3>(visit, [] { return backward<layer_norm_of, normed>{"layer_norm_backward", 3}; });
    some<Chosen, 4>(visit, [] { return forward<bias_gelu_of, biased>{"bias_gelu_forward", 2}; });
    some<Chosen, 5>(visit, [] { return backward<bias_gelu_of, biased>{"bias_gelu_backward", 3}; });
    some<Chosen, 6>(visit, [] { return backward<bias_gelu_dropout_of, biased>{"bias_gelu_dropout_backward", 3}; });
    some<Chosen, 7>(visit, [] { return forward<dropout_residual_norm_of, two>{"dropout_residual_layer_norm_forward", 3}; });    // x, r -> y; inference
    some<Chosen, 8>(visit, [] { return backward<dropout_residual_norm_of, two>{"dropout_residual_layer_norm_backward", 5}; });  // x, r, w -> dx, dr
    some<Chosen, 9>(visit, [] { return forward<column_sums_of, input>{"column_sums", 1}; });
    some<Chosen, 10>(visit, [] { return fused_case<tx::function<cross_entropy_of, input>, given::labels>{"cross_entropy_forward", 1}; });
    some<Chosen, 11>(visit, [] { return fused_case<tx::value_and_grad<cross_entropy_of, input>, given::labels>{"cross_entropy_backward", 2}; });  // x -> dx
    // Parameter, two moments, gradient -> parameter, two moments. Where the gradient is used up as it is made, the loss reads the parameter too, and w is the gradient.
    some<Chosen, 12>(visit, [] { return fused_case<tx::train_step<input, weighed_input, tx::adamw>, given::weights>{"adamw_update", 7, true}; });
  }

 private:
  template <unsigned Chosen, unsigned Number, class Visit, class Case>
  static void some(Visit const& visit, Case const& made) {
    if constexpr ((Chosen >> Number & 1u) != 0) visit(made());
  }
};

// Arguments of a run, but the model.
template <int Rows>
struct fused_arguments {
  std::vector<tx::f32> weights = std::vector<tx::f32>(static_cast<std::size_t>(Rows) * fused_columns, 0.01f);
  std::vector<tx::i32> labels = std::vector<tx::i32>(static_cast<std::size_t>(Rows));
  fused_arguments() {
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<tx::i32>(i * 7 % fused_columns);
  }
  template <given With, class Run>
  void call(Run& run) const {
    if constexpr (With == given::weights) run(weights);
    else if constexpr (With == given::labels) run(labels);
    else run();
  }
};

}  // namespace bench
