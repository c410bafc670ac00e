// A number that integers of the tensor's type do not hold.
// expect: a number meets integers of a type that does not hold it. FIX: cast<tx::i64>(
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<tx::i32, 6> x) { return x + 5000000000; };
auto const& calls = tx::function<f>::program<>::calls;
