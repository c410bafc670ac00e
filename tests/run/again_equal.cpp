// The gradient of a maximum within repeated blocks asks which elements, computed again, equal what forward stored.
#include "../furthest.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

struct block {
  tx::param<tx::tensor<float, 8>, tx::init::ones> weight;
  constexpr auto operator()(tx::tensor<float, 4, 8> const& x) const { return tx::tanh(x + tx::max<-1>(tx::tanh(x * weight))); }
};
struct model {
  tx::repeat<3, block> layer;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 8> x) { return tx::sum(m.layer(x)); };

template <class Backend>
std::vector<double> trained() {
  tx::executor<tx::train_step<model, loss, tx::sgd>, Backend> run{tx::seed(1)};
  std::vector<float> x;
  for (int i = 0; i < 32; ++i) x.push_back(static_cast<float>(i * 7 % 13) / 13 - 0.5f);
  run(x);
  std::vector<double> all;
  for (auto const& tensor : run.tensors()) all.insert(all.end(), tensor.data.begin(), tensor.data.end());
  return all;
}

}  // namespace

TEST_CASE("what a maximum is compared with in backward equals what it was made of", "[recompute]") {
  auto const got = trained<tx::reference>(), want = trained<tx::cpu>();
  for (double x : got) CHECK(x == x);
  CHECK(distance(got, want) < 1e-6);
}
