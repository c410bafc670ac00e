// A bounded extent that the function makes itself: no run could tell how many rows there are.
// expect: the program has a bounded extent that no argument has
// expect: FIX: an argument with that tag
#include <tx/backends/reference.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 3> x) { return tx::broadcast_to<tx::dyn<4>, 3>(x); };
using run = tx::executor<tx::function<f>, tx::reference>;
static_assert(sizeof(run) > 0);
