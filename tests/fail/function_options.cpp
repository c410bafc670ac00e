// What belongs to training, and a type that is no option, behind a function.
// several errors
// expect: tx::function: an option is of training. FIX: mixed<half>, compiled_with<options> and tensor_parallel<N>, or data_parallel<N> and zero<3>
// expect somewhere: tx::function: a type behind the model is no option. FIX: mixed<half> or compiled_with<options>
#include <tx/ops/exp.hpp>
#include <tx/step/function.hpp>
#include <tx/train/options.hpp>

constexpr auto f = [](tx::tensor<float, 3> x) { return tx::exp(x); };
constexpr auto clipped = tx::function<f, tx::no_model, tx::clip_gradient>::memory.peak;
constexpr auto otherwise = tx::function<f, tx::no_model, int>::memory.peak;
