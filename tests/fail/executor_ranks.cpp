// A step of several ranks on a backend that reaches none.
// expect: tx::executor: the step speaks to other ranks, which this backend cannot. FIX: tx::distributed<backend, communicator>
#include <tx/backends/reference.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 2, 8> x) { return tx::sum(m.w * x); };
using step = tx::train_step<model, loss, tx::sgd, tx::data_parallel<2>>;
using run = tx::executor<step, tx::reference>;
static_assert(!run::remote);
