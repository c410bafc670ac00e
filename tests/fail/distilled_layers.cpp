// A student with more layers than its teacher has nothing to learn some of them from.
// expect: tx::nn::hidden_state_loss: the student has more layers than its teacher
#include <tx/nn/distillation.hpp>

constexpr auto f = [](tx::tensor<float, 3, 2, 4> student, tx::tensor<float, 2, 2, 4> teacher) { return tx::nn::hidden_state_loss(student, teacher); };
using result = decltype(f({}, {}));
