// The estimate of a variance from a single element, found where the model is recorded.
// expect: variance: there are no more elements than the correction takes off
#include <tx/ops/variance.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 8, 1> x) { return tx::variance<-1>(x); };
using program = tx::function<f>;
static_assert(program::memory.arena > 0);
