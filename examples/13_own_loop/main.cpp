// A loop and an optimizer of one's own at run time: tx computes a loss and its gradient, the rest is plain C++.
#include <tx/backends/cpu.hpp>
#include <tx/tx.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

struct curve {
  tx::nn::linear<1, 32, tx::init::normal<2, 1>> hidden;
  tx::nn::linear<32, 1, tx::init::normal<1, 6>> out;
  constexpr auto operator()(auto const& x) const { return out(tx::tanh(hidden(x))); }
};
using rows = tx::tensor<float, 64, 1>;
inline constexpr auto loss = [](curve const& m, rows x, rows y) { return tx::mse(m(x), y); };

using program = tx::value_and_grad<loss, curve>;  // options behind: mixed<half>, recompute<bytes>

int main() {
  std::vector<float> x(64), y(64);
  for (std::size_t i = 0; i < 64; ++i) {
    x[i] = static_cast<float>(i) / 32 - 1;
    y[i] = std::sin(3 * x[i]);
  }
  tx::executor<program, tx::cpu> run{tx::seed(0)};
  auto const parameters = run.elements();  // all of them, a span that may be written
  std::vector<float> velocity(parameters.size());
  float first = 0, last = 0;
  for (int i = 0; i < 2000; ++i) {
    auto const r = run(x, y);
    last = r.value;  // what the loss returns
    for (std::size_t k = 0; k < r.gradient.size(); ++k) {  // laid out like the parameters
      velocity[k] = 0.9f * velocity[k] + r.gradient[k];
      parameters[k] -= 0.01f * velocity[k];
    }
    if (i == 0) first = last;
  }
  auto const r = run(x, y);
  for (auto const& t : r.gradient.tensors()) {  // the same numbers by name: name, dims and data
    double sum = 0;
    for (float g : t.data) sum += static_cast<double>(g) * static_cast<double>(g);
    std::printf("%-13s %3zu numbers, norm of the gradient %.1e\n", t.name.c_str(), t.data.size(), std::sqrt(sum));
  }
  for (auto const& t : run.tensors())
    if (t.name == "out.bias") std::printf("out.bias is %.4f\n", static_cast<double>(t.data[0]));
  std::printf("loss %.5f -> %.5f\n", static_cast<double>(first), static_cast<double>(last));
  return last < 0.003f ? 0 : 1;
}
