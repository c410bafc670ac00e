// value_and_grad<F, Model>: for those who keep their own loop and optimizer, where F(model, x...) becomes a program that
// returns what F returns, as `value`, and the gradient of it (of its first member, where F returns an aggregate) as
// `gradient`:
//
//   tx::executor<tx::value_and_grad<loss, model>, tx::cpu> run{tx::seed(0)};
//   auto const r = run(x, y);
//   auto const p = run.elements();                                     // laid out like the gradient; trained_elements() in a model of several types
//   for (std::size_t i = 0; i < r.gradient.size(); ++i) p[i] -= 0.1f * r.gradient[i];
//   for (auto const& t : r.gradient.tensors()) use(t.name, t.dims, t.data);
//
// Gradients of parameters that F does not depend on, and what lies between parameters, are zero. Dropout is that of
// training. Options: mixed<half>, recompute<bytes>, compiled_with<options>; clipping, the norm, parts and shards belong
// to a step and are refused.
#pragma once

#include <tx/backends/cpu/target.hpp>
#include <tx/expr/handed_back.hpp>
#include <tx/run/parameter_memory.hpp>
#include <tx/train/recorded.hpp>

namespace tx {

// The gradients of a model's parameters, flat [rows, block_row] and laid out as they are, without those that are not
// trained, which lie at the end; valid until the next run.
template <class Model>
struct gradient_of
    : tensor<element_t<layout<Model>::type>, static_cast<int>(layout<Model>::trained / block_row), block_row> {
  using element_type = element_t<layout<Model>::type>;

  std::span<element_type const> elements() const { return {this->data, this->size()}; }
  // One for each tensor of the model, as executor::tensors() has the parameters themselves.
  TX_COLD std::vector<parameter_ref<element_type const>> tensors() const {
    std::vector<parameter_ref<element_type const>> out;
    for (auto& v : parameters_of<Model>())
      if (v.trained)
        out.push_back(
            {std::move(v.name), v.info.dims,
             elements().subspan(static_cast<std::size_t>(v.offset), static_cast<std::size_t>(v.info.count()))});
    return out;
  }
};

template <class Value, class Model>
struct value_and_gradient {
  handed_back<Value> value;
  gradient_of<Model> gradient;
};

namespace detail {
// All gradients become one result, laid out as the parameters are.
template <class Model>
constexpr void hand_out_gradients(graph& g) {
  vec<output> results{};
  vec<int> ids{};
  vec<std::int64_t> first{};
  for (output const& o : g.outputs) {
    if (o.kind != output_kind::gradient) {
      results.push_back(o);
      continue;
    }
    ids.push_back(o.value);
    first.push_back(parameter_first(g[o.target].at));
  }
  var const all = flat_gradient(g, ids, first, layout<Model>::trained);
  results.push_back(output{all.id, output_kind::result, -1});  // by name, for nvcc
  g.outputs = results;
}
}  // namespace detail

template <auto F, class Model, class... Options>
struct value_and_grad {
  using model = Model;
  using call = callable<std::remove_cvref_t<decltype(F)>, Model>;
  using arguments = typename call::arguments;
  using result = value_and_gradient<typename call::result, Model>;
  static constexpr int states = 0;
  static constexpr step_options options = options_of<Options...>();
  static_assert((is_step_option<Options> && ...),
                "tx::value_and_grad: a type behind the model is no option. FIX: those of train/options.hpp and dist/data_parallel.hpp, or a step_option of it");
  static_assert(call::has_model && layout<Model>::trained > 0,
                "tx::value_and_grad: there is no parameter to differentiate by. FIX: value_and_grad<F, Model>, where F "
                "takes the model first");
  static_assert(detail::says_nothing_but(options, &step_options::compile, &step_options::mixes, &step_options::half, &step_options::quarters, &step_options::activations,
                                         &step_options::decays_by_layer, &step_options::below, &step_options::below_count),
                "tx::value_and_grad: clipping, parts and shards of a batch, and runs of an update, belong to a step. FIX: tx::train_step, or "
                "leave the option out");
  static_assert(!options.decays_by_layer, "tx::value_and_grad: rates of layers belong to a step. FIX: tx::train_step, or leave the option tx::layer_decay out");

  // The list of passes from detail::record_forward on; exec::compile goes on from there.
  static constexpr recomputation record(graph& g, target const& = cpu_target, std::int64_t activations = -1) {
    detail::record_forward<Model, F>(g, options);
    recomputation const again = detail::recomputed_within<Model>(g, activations);
    detail::differentiate<Model>(g, again.again);
    if (g.no_gradient.op != nullptr) return again;
    detail::record_quarters<Model>(g, options);
    detail::hand_out_gradients<Model>(g);
    return again;
  }
  using source = detail::recorded_source<value_and_grad>;
  template <target const& To = cpu_target>
  using program = detail::recorded_program<value_and_grad, To>;
  template <target const& To>
  static constexpr exec::memory_use memory_on = exec::memory_in_all<Model, arguments>(program<To>::memory, states, To);
  static constexpr exec::memory_use memory = memory_on<cpu_target>;
};

}  // namespace tx
