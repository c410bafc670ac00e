// Results and states of halves on shards of a batch: their means are taken in f32.
#include <tx/backends/reference.hpp>
#include <tx/expr/state.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

struct model {
  tx::param<tx::tensor<float, 4>, tx::init::ones> w;
  tx::state<tx::tensor<tx::bf16, 4>> seen;
};
struct told {
  tx::tensor<float> loss;
  tx::tensor<tx::bf16> half;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 2, 4> x) {
  m.seen.set(tx::cast<tx::bf16>(tx::reshape<4>(tx::mean<0>(x))));
  auto const all = tx::mean(m.w * x);
  return told{all, tx::cast<tx::bf16>(all)};
};

}  // namespace

TEST_CASE("halves are averaged over shards") {
  tx::executor<tx::train_step<model, loss, tx::sgd, tx::virtual_shards<2>>, tx::reference> run{tx::seed(1)};
  std::vector<float> const x{1, 2, 3, 4, 3, 4, 5, 6, 257, 0, 0, 0, 257, 0, 0, 0};
  auto const r = run(x);
  CHECK(float(r.loss) == Approx((28 + 514) / 16.0));
  CHECK(r.half.data[0].widen() == Approx((28 + 514) / 16.0).epsilon(1.0 / 128));
  std::vector<float> const wanted{(2 + tx::bf16::from(257.0f).widen()) / 2, 1.5f, 2, 2.5f};  // a shard's is rounded, then the mean of both
  for (auto const& t : run.tensors())
    if (t.name == "seen") {
      auto const* const values = reinterpret_cast<tx::bf16 const*>(t.data.data());
      for (std::size_t i = 0; i < 4; ++i) CHECK(values[i].bits == tx::bf16::from(wanted[i]).bits);
    }
}
