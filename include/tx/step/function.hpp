// function<F, Model, options...>: inference, where F(model, x...) or F(x...) becomes a program that returns what F returns. Options are those of
// step/program_options.hpp: mixed<bf16> is inference with products of halves; and data_parallel<N> with zero<3> where ranks divide the parameters, each with its own arguments, or
// tensor_parallel<N>, where they divide the products and are given the same (kept_as<step> where they have only portions of the parameters).
#pragma once

#include <tx/backends/cpu/target.hpp>
#include <tx/expr/handed_back.hpp>
#include <tx/expr/state_layout.hpp>
#include <tx/plan/compile.hpp>
#include <tx/plan/program.hpp>
#include <tx/run/staged.hpp>
#include <tx/step/forward.hpp>
#include <tx/step/program_options.hpp>

namespace tx {

namespace exec {
// What a program of a model needs in all, with an optimizer's states beside the parameters.
template <class Model, class Arguments>
constexpr memory_use memory_in_all(memory_use m, state_kinds states, target const& to) {
  m.parameters = tx::detail::elements_of_parameters<Model>(states) * size_of(layout<Model>::type);
  m.optimizer = tx::detail::elements_of_states<Model>(states, states) * size_of(layout<Model>::type);
  m.arguments = to.has_own_memory ? most_under_way * aligned(staged<Arguments>::bytes_on(to)) : 0;
  m.on_host = to.has_own_memory && states.on_host() ? m.optimizer : 0;
  m.peak = m.parameters + m.optimizer - m.on_host + m.arena + m.arguments;
  return m;
}
}  // namespace exec

namespace detail {
// Has a program no division, or data_parallel<N> and zero<3> and nothing else? It has no gradients to add up.
constexpr bool divides_parameters_alone(batch_division d) {
  if (d == batch_division{}) return true;
  bool const divides = d.given && d.zero == 3;
  d.given = false, d.zero = 0, d.ranks = 1;
  return divides && d == batch_division{};
}
// What becomes of a program that takes parameters divided among ranks; dist/zero.hpp says it for such stages.
template <class Model, int Zero>
struct divided_program {
  static constexpr state_kinds states(batch_division const&) { return 0; }
  static constexpr void gather_parameters(graph&, state_kinds const&) {}
  static constexpr void keep_in_portions(graph&, state_kinds const&) {}
};
// What becomes of one whose products ranks divide; dist/tensor_parallel.hpp says it for several.
template <class Model, int Ranks, class... Options>
struct divided_products {
  static constexpr state_kinds states() { return 0; }
  static constexpr void divide(graph&) {}
};
}  // namespace detail

// A callable that returns a tensor alone hands back an aggregate with this one member.
template <class T>
struct single_result {
  handed_back<T> value;
};

template <auto F, class Model = no_model, class... Options>
struct function {
  static_assert((is_step_option<Options> && ...), "tx::function: a type behind the model is no option. FIX: mixed<half> or compiled_with<options>");
  static constexpr step_options options = options_of<Options...>();
  static_assert(options.ranks_of_batch() == 1 || !options.division.given, "tx::function: ranks that divide products keep portions of their own, and each row of the grid has its batch anyway. FIX: tensor_parallel<N> or kept_as<step> without data_parallel and zero");
  static_assert(detail::says_nothing_but(options, &step_options::compile, &step_options::mixes, &step_options::half, &step_options::quarters, &step_options::division, &step_options::tensor_ranks, &step_options::stages) && detail::divides_parameters_alone(options.division), "tx::function: an option is of training. FIX: mixed<half>, compiled_with<options> and tensor_parallel<N>, or data_parallel<N> and zero<3> of parameters that ranks divide; or tx::train_step");
  using model = Model;
  using call = callable<std::remove_cvref_t<decltype(F)>, Model>;
  using arguments = typename call::arguments;
  using result = std::conditional_t<typed_handle<typename call::result>, single_result<typename call::result>, typename call::result>;
  using divided = detail::divided_program<Model, options.division.zero>;
  using products = detail::divided_products<Model, options.ranks_of_batch(), Options...>;
  static constexpr state_kinds states = options.ranks_of_batch() > 1 ? products::states() : divided::states(options.division);

  struct source {
    static constexpr exec::lowered lower(target const& to, exec::inspection* seen = nullptr) {
      graph g{};
      record(g);
      return exec::compile(g, to, options.compile, seen);
    }
  };
  static constexpr void record(graph& g) {
    g.training = false;
    detail::record_forward<Model, F>(g, options);
    products::divide(g);
    divided::gather_parameters(g, states);
    detail::record_quarters<Model>(g, options);
    divided::keep_in_portions(g, states);
  }
  template <target const& To = cpu_target>
  using program = exec::program<source, To>;
  template <target const& To>
  static constexpr exec::memory_use memory_on = exec::memory_in_all<Model, arguments>(program<To>::memory, states, To);
  static constexpr exec::memory_use memory = memory_on<cpu_target>;
};

}  // namespace tx
