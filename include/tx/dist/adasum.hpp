// adasum: an option of a step for several ranks. Gradients are added as adaptive_sum.hpp says, each tensor by itself, in place of their mean: where ranks agree
// the step is that of one, where they do not it is as long as all together, so the rate need not change with the number of ranks.
//
//   train_step<model, loss, adamw, data_parallel<>, adasum>
//
// Results and states of the model are means, as without it. A rank's own shards are averaged first. Errors: f32 and f64 only.
#pragma once

#include <tx/dist/adaptive_sum.hpp>
#include <tx/dist/all_reduce.hpp>
#include <tx/dist/data_parallel.hpp>

namespace tx {

namespace detail {
// So many tensors of one shape, one behind the other.
constexpr attributes of_adaptive_sum(std::int64_t tensors) { return with_across({{tensors}}, across::batches); }
constexpr std::int64_t adaptive_tensors(attributes const& at) { return at.v[0]; }
}  // namespace detail

inline constexpr op_info adaptive_sum_info{.name = "adaptive_sum", .kind = op_kind::collective, .arity = 1, .infer = detail::all_reduce_infer, .differentiable = false};

namespace rules {
struct adaptive_sum {
  template <class Communicator, class T>
  static void run(Communicator& ranks, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    auto const count = static_cast<std::size_t>(out.dims.count());
    dist::adaptive_sum(ranks, std::span<T const>(in.data, count), std::span<T>(out.data, count), detail::adaptive_tensors(at));
  }
};
}  // namespace rules
template <>
struct exec::collective_rule<&adaptive_sum_info> {
  using type = rules::adaptive_sum;
};

struct adasum {};
template <>
struct step_option<adasum> {
  static constexpr void set(step_options& o) {
    o.division.combine = [](var gradient, std::int64_t tensors) { return emit(adaptive_sum_info, {gradient}, detail::of_adaptive_sum(tensors)); };
  }
};

}  // namespace tx
