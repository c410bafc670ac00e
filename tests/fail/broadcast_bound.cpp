// A bounded extent that would become a fixed one.
// expect: broadcast_to: a bounded extent meets a fixed one. FIX:
#include <tx/ops/broadcast.hpp>

constexpr auto f = [](tx::tensor<float, tx::dyn<32>, 1> x) { return tx::broadcast_to<32, 4>(x); };
using result = decltype(f({}));
