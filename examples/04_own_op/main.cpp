// An op and an optimizer of one's own, outside tx: each is a rule that the compiler sees through, so both are fused like tx's.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/io/progress.hpp>
#include <tx/train/check_gradient.hpp>
#include <tx/tx.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace mine {

// softsign(x) = x / (1 + |x|). One template serves constant folding, vectors and the reference.
struct softsign_rule {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using tx::math::abs;
    return x / (V(1) + abs(x));
  }
};
// Its derivative is 1 / (1 + |x|)^2, written with tx's operators on what is recorded.
constexpr void softsign_vjp(tx::vjp_context& c) {
  auto const d = 1 + tx::abs(c.in(0));
  c.accumulate(0, c.gradient / (d * d));
}
inline constexpr tx::op_info softsign_info = tx::elementwise_op<softsign_rule, 1>("softsign", softsign_vjp, false, tx::float_infer);

template <tx::handle X>
constexpr auto softsign(X const& x) {
  return tx::lift_elementwise<&softsign_info>(x);
}

}  // namespace mine

// Binds the name to its arithmetic.
template <>
struct tx::scalar_rule<&mine::softsign_info> {
  using type = mine::softsign_rule;
};

namespace mine {

// Lion (Chen et al., arXiv 2302.06675): one moment, and steps of one size.
struct lion {
  static constexpr int states = 1;
  static constexpr tx::var update(tx::update_context& u) {
    auto const mixed = u.state[0] * 0.9 + u.gradient * 0.1;
    auto const sign = tx::cast(tx::less(0, mixed), u.gradient.type()) - tx::cast(tx::less(mixed, 0), u.gradient.type());
    u.state[0] = u.state[0] * 0.99 + u.gradient * 0.01;
    return u.parameter - (sign + u.parameter * u.decay) * u.rate;
  }
};

}  // namespace mine

struct curve {
  tx::nn::linear<1, 32, tx::init::normal<2, 1>> first;
  tx::nn::linear<32, 1, tx::init::normal<1, 6>> out;
  constexpr auto operator()(auto const& x) const { return out(mine::softsign(first(x))); }
};
inline constexpr auto loss = [](curve const& m, tx::tensor<float, 64, 1> x, tx::tensor<float, 64, 1> y) {
  auto const d = m(x) - y;
  return tx::mean(d * d);
};

// In f64, where differences tell most.
inline constexpr auto checked = [](tx::tensor<double, 5> x) { return tx::sum(mine::softsign(x) * x); };

int main() {
  auto const worst = tx::check_gradient<checked, tx::reference>(std::vector{-2.0, -0.5, 0.25, 1.0, 3.0});
  // argument 0, element 2: the gradient is 0.360000, differences are 0.360000
  std::printf("%s\n", worst.text().c_str());
  if (worst.distance > 1e-8) return 1;

  tx::executor<tx::train_step<curve, loss, mine::lion>, tx::cpu> run{tx::seed(0)};
  run.settings["learning_rate"] = 3e-3f;
  run.settings.schedule = {tx::decay_shape::linear, 0, 2000};
  std::vector<float> x(64), y(64);
  for (std::size_t i = 0; i < 64; ++i) {
    x[i] = static_cast<float>(i) / 32 - 1;
    y[i] = std::sin(3 * x[i]);
  }
  float last = 0;
  tx::io::progress show(2000);
  for (int i = 0; i < 2000; ++i) {
    last = run(x, y).loss;
    show.write(i + 1, {{"loss", last}});
  }
  return last < 0.01f ? 0 : 1;
}
