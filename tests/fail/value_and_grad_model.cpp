// A function of no model has no parameters to differentiate by, and a type that is no option is none here either.
// several errors
// expect: tx::value_and_grad: there is no parameter to differentiate by. FIX: value_and_grad<F, Model>
// expect somewhere: tx::value_and_grad: a type behind the model is no option. FIX: those of train/options.hpp
#include <tx/ops/sum.hpp>
#include <tx/train/value_and_grad.hpp>

struct empty {};
struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto of_none = [](empty const&, tx::tensor<float, 8> x) { return tx::sum(x); };
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
static_assert(tx::value_and_grad<of_none, empty>::states == 0);
static_assert(tx::value_and_grad<loss, model, int>::states == 0);
