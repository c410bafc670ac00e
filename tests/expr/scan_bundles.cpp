// A scan that carries several tensors, of other element types than floats too, and scans in scans: values and gradients are those of the iterations written out.
#include "written_out.hpp"

#include <tx/ops/cast.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/where.hpp>

namespace {

constexpr int steps = 4, inner_steps = 3, batch = 2, in = 3, hidden = 4;
using state = tx::tensor<double, batch, hidden>;
using counter = tx::tensor<tx::i32>;
std::array const one{1};
using inputs = tx::tensor<double, steps, batch, in>;

struct cell {
  tx::param<tx::tensor<double, in, hidden>> from_input;
  tx::param<tx::tensor<double, hidden, hidden>> from_state;
  tx::param<state> first;

  constexpr state operator()(auto const& h, auto const& x) const { return tx::tanh(tx::matmul(x, from_input) + tx::matmul(h, from_state)); }
};

// A state, how many iterations have been, and where the state was negative, which halves what the next one sees of it.
template <class Way, tx::direction Order>
constexpr auto of_tuple = [](cell const& m, inputs x, tx::tensor<double, steps> weight, counter from) {
  auto const [last, all] = Way::template scan<steps, Order>(
      [&](auto const& carry, auto const& now, auto const& w) {
        auto const& [h, n, negative] = carry;
        auto const next = m(tx::where(negative, h * 0.5, h), now) * (1.0 + 0.25 * tx::cast<double>(n));
        auto const below = tx::less(next, 0.0);
        return tx::scanned{std::tuple{next, n + 1, below}, std::tuple{next * w, n, below}};
      },
      std::tuple{state(m.first), from, tx::less(m.first, 0.0)}, x, weight);
  auto const& [h, n, negative] = last;
  auto const& [hs, ns, negatives] = all;
  auto const counted = tx::reshape<steps, 1, 1>(tx::cast<double>(ns));
  return tx::sum(h * h) * tx::cast<double>(n) + tx::sum(tx::where(negative, h, 0.1)) + tx::sum(hs * counted) + tx::sum(tx::where(negatives, hs, hs * hs));
};

// What is carried in a struct, a tuple in it.
struct memory {
  state now, before;
  std::tuple<counter, tx::tensor<tx::f32, hidden>> other;
};
template <class Way>
constexpr auto of_struct = [](cell const& m, inputs x, tx::tensor<tx::f32, hidden> bias, counter from) {
  auto const last = Way::template scan<steps>(
      [&](memory const& at, auto const& now) {
        auto const& [n, slow] = at.other;
        auto const next = m(at.now, now) + at.before * 0.5 + tx::cast<double>(slow);
        return memory{next, at.now, {n + n, slow * 0.5f + tx::cast<tx::f32>(tx::reshape<hidden>(tx::sum<0>(next)))}};
      },
      memory{m.first, m.first * 2.0, {from, bias}}, x);
  auto const& [n, slow] = last.other;
  return tx::sum(last.now * last.before) * tx::cast<double>(n) + tx::cast<double>(tx::sum(slow * slow));
};

// Each moment of the outer scan goes through an inner one, over slices that the outer one has sliced: the inner one carries what the outer does and begins
// its count anew; the outer one gives away what the inner one does.
template <class Way>
constexpr auto of_scans = [](cell const& m, tx::tensor<double, steps, inner_steps, batch, in> x, counter from) {
  using pair = std::tuple<state, counter>;
  auto const [last, all] = Way::template scan<steps>(
      [&](pair const& outer, auto const& row) {
        state const h = std::get<0>(outer);
        counter const n = std::get<1>(outer);
        auto const outer_share = tx::cast<double>(n) * 0.1;
        auto const through = Way::template scan<inner_steps, tx::direction::backward>(
            [&](pair const& inner, auto const& now) {
              auto const& [g, k] = inner;
              auto const next = m(g, now) * (1.0 + 0.5 * tx::cast<double>(k)) + h * outer_share;
              return tx::scanned{pair{next, k + 1}, std::tuple{next * h, k}};
            },
            pair{h * 0.5, from}, row);
        auto const& [then, k] = through.carry;
        return tx::scanned{pair{then, n + k}, through.out};
      },
      pair{m.first, from}, x);
  auto const& [h, n] = last;
  auto const& [hs, ks] = all;  // [steps, inner_steps, batch, hidden], [steps, inner_steps]
  return tx::sum(h * h) * tx::cast<double>(n) + tx::sum(hs * tx::reshape<steps, inner_steps, 1, 1>(1.0 + tx::cast<double>(ks)));
};

template <auto Once, auto WrittenOut>
void check_alike(auto const&... x) {
  outcome const a = differentiated<Once, cell>(x...);
  check_none_is_idle(a);
  check_equal(a, differentiated<WrittenOut, cell>(x...));
}

}  // namespace

TEST_CASE("a scan carries a tuple of floats, a counter and bools, and gives such away") {
  auto const x = numbers(steps * batch * in, 0.1), weight = numbers(steps, 0.3);
  constexpr auto forward = tx::direction::forward, backward = tx::direction::backward;
  check_alike<of_tuple<recorded_once, forward>, of_tuple<each_recorded, forward>>(x, weight, one);
  check_alike<of_tuple<recorded_once, backward>, of_tuple<each_recorded, backward>>(x, weight, one);
}

TEST_CASE("a scan carries a struct of tensors of three element types") {
  auto const x = numbers(steps * batch * in, 0.1);
  check_alike<of_struct<recorded_once>, of_struct<each_recorded>>(x, std::vector<float>{0.1f, -0.2f, 0.3f, 0.05f}, one);
}

TEST_CASE("a scan in a scan, each with a tuple that it carries and one that it gives away") {
  auto const x = numbers(steps * inner_steps * batch * in, 0.1);
  check_alike<of_scans<recorded_once>, of_scans<each_recorded>>(x, one);
}
