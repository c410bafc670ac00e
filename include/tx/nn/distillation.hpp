// distillation_loss(student, teacher, temperature), hidden_state_loss(student, teacher): a small model learns from a larger one's logits (Hinton et al., arXiv
// 1503.02531) and from its hidden states (Jiao et al., arXiv 1909.10351). logits [texts, labels] or states [layers, ..., H] of both -> scalar. The teacher is a
// constant of both.
//
//   auto const taught = tx::inference([&](auto const&... x) { return m.teacher.body.packed_with_states<128>(x...); })(ids, positions, offsets);
//   auto const own = m.student.packed_with_states<128>(ids, positions, offsets);
//   return tx::nn::distillation_loss(own.logits, taught.logits, 2.0) + tx::nn::hidden_state_loss(m.projection(own.hidden_states), taught.hidden_states);
#pragma once

#include <tx/nn/linear.hpp>
#include <tx/nn/taught_by.hpp>
#include <tx/ops/kl_div.hpp>
#include <tx/ops/mse.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/stop_gradient.hpp>

namespace tx::nn {

// Logits [texts, labels] of both; the temperature, above 0, is a number or a scalar -> scalar: T^2 times the divergence of softmax(student / T) from
// softmax(teacher / T), the mean over texts. By T^2 gradients are as large as those of labels, whatever the temperature.
template <typed_handle S, typed_handle T>
constexpr auto distillation_loss(S const& student, T const& teacher, auto const& temperature) {
  auto const wanted = softmax(stop_gradient(teacher) / temperature);
  return kl_div<reduction::batch_mean>(log_softmax(student / temperature), wanted) * temperature * temperature;
}

// Hidden states behind each layer, [layers of the student, ..., H] and [layers of the teacher, ..., H] -> scalar: the mean squared difference of each of the
// student's layers from the one that it is taught by (taught_by.hpp).
template <typed_handle S, typed_handle T>
constexpr auto hidden_state_loss(S const& student, T const& teacher) {
  constexpr int layers = S::info.dims.dim[0], of_teacher = T::info.dims.dim[0];
  static_assert(layers <= of_teacher, "tx::nn::hidden_state_loss: the student has more layers than its teacher. FIX: as many or fewer");
  auto const taught = stop_gradient(teacher);
  return [&]<int... L>(std::integer_sequence<int, L...>) {
    return (mse(slice<0, L, 1>(student), slice<0, taught_by(L, layers, of_teacher), 1>(taught)) + ...) * (1.0 / layers);
  }(std::make_integer_sequence<int, layers>{});
}

// From a student's width to its teacher's, trained beside the student and thrown away: a linear layer, or nothing where they are the same.
template <int Student, int Teacher>
struct hidden_projection {
  linear<Student, Teacher> dense;
  constexpr auto operator()(typed_handle auto const& x) const { return dense(x); }
};
template <int Width>
struct hidden_projection<Width, Width> {
  constexpr auto operator()(typed_handle auto const& x) const { return x; }
};

}  // namespace tx::nn
