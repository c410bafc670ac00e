// One bad batch among many: a guard says which op of which layer made the first NaN, and the run goes on as if that
// batch had not been there.
#include <tx/backends/cpu.hpp>
#include <tx/expr/here.hpp>
#include <tx/inspect/finite_guard.hpp>
#include <tx/tx.hpp>

#include <cstdio>
#include <vector>

struct tower {
  tx::param<tx::tensor<float, 16, 8>, tx::init::normal<1, 4>> weight;
  constexpr auto operator()(auto const& x) const {
    auto const line = tx::here(x);  // a guard names it
    auto const v = tx::matmul(x, weight);
    return v / tx::sqrt(tx::sum<-1>(v * v));  // without an epsilon: 0 / 0 where x is zero
  }
};
struct matcher {
  tower query, document;
};
inline constexpr auto loss = [](matcher const& m, tx::tensor<float, 4, 16> q, tx::tensor<float, 4, 16> d) {
  auto const cosine = tx::sum<-1>(m.query(q) * m.document(d));
  return tx::mean(1 - cosine);
};

int main() {
  tx::executor<tx::train_step<matcher, loss, tx::adamw>, tx::cpu> run{tx::seed(2)};
  run.settings["learning_rate"] = 1e-2f;
  tx::finite_guard const guard{run};  // as long as it lives
  float first = 0, last = 0;
  bool told = false;
  for (int batch = 0; batch < 100; ++batch) {
    std::vector<float> q(4 * 16), d(4 * 16);
    for (std::size_t i = 0; i < q.size(); ++i) {
      q[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(batch)) % 11) / 11;
      d[i] = batch == 42 && i / 16 == 2 ? 0 : static_cast<float>((i * 5 + static_cast<std::size_t>(batch)) % 13) / 13;
    }
    try {
      last = run(q, d).loss;
    } catch (tx::not_finite_error const& e) {
      std::printf("batch %d is left out: %s\n", batch, e.what());  // parameters and optimizer are as before it
      told = batch == 42 && e.found.op == "div" && e.found.layer == "document" && e.found.line > 0;
    }
    if (batch == 0) first = last;
  }
  std::printf("loss %.4f -> %.4f\n", static_cast<double>(first), static_cast<double>(last));
  return told && last < first / 2 ? 0 : 1;
}
