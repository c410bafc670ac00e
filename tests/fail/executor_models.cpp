// Two programs that are to share parameters but have a model each.
// expect: tx::executor: both programs must be of one model type
#include <tx/backends/reference.hpp>
#include <tx/ops/exp.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
struct other {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto f = [](auto const& m) { return tx::exp(m.w); };
tx::executor<tx::function<f, model>, tx::reference> a{tx::seed(0)};
tx::executor<tx::function<f, other>, tx::reference> b{a};
