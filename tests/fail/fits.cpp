// A step that needs more memory than it may.
// expect somewhere: bytes_needed_and_allowed<512, 256>
// expect: the program's peak, the first number, is above what is allowed, the second. FIX:
#include <tx/ops/exp.hpp>
#include <tx/step/fits.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 128> x) { return tx::exp(x); };
static_assert(tx::fits<tx::function<f>, 512>);
static_assert(tx::fits<tx::function<f>, 256>);
