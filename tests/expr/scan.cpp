// A scan is the same model as its iterations written out: values and gradients, of carries, slices and whatever its body reads.
#include "../interpreter/passes.hpp"
#include "written_out.hpp"

#include <tx/autodiff/grad.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>

namespace {

constexpr int steps = 5, batch = 3, in = 4, hidden = 6;
using state = tx::tensor<double, batch, hidden>;
using inputs = tx::tensor<double, steps, batch, in>;

struct cell {
  tx::param<tx::tensor<double, in, hidden>, tx::init::normal<1, 2>> from_input;
  tx::param<tx::tensor<double, hidden, hidden>, tx::init::normal<1, 2>> from_state;
  tx::param<state, tx::init::normal<1, 1>> first;

  constexpr auto operator()(auto const& h, auto const& x) const { return tx::tanh(tx::matmul(x, from_input) + tx::matmul(h, from_state)); }
};

template <int I>
constexpr auto at_time(inputs const& x) {
  return tx::reshape<batch, in>(tx::slice<0, I, 1>(x));
}

// The states of all times, weighed: [batch, hidden] each.
template <tx::direction Way>
constexpr auto scanned = [](cell const& m, inputs x, tx::tensor<double, steps> weight, state shared) {
  auto const [last, all] = tx::scan<steps, Way>(
      [&](auto const& h, auto const& now, auto const& w) {
        auto const next = m(h, now) * shared;
        return tx::scanned{next, next * w};
      },
      m.first, x, weight);
  return tx::sum(last * last) + tx::sum(all * shared);
};
template <tx::direction Way>
constexpr auto written_out = [](cell const& m, inputs x, tx::tensor<double, steps> weight, state shared) {
  constexpr bool forward = Way == tx::direction::forward;
  state h = m.first;
  auto const next = [&]<int I>(std::integral_constant<int, I>) {
    h = m(h, at_time<I>(x)) * shared;
    return tx::sum(h * tx::reshape<>(tx::slice<0, I, 1>(weight)) * shared);
  };
  auto const all = [&]<int... I>(std::integer_sequence<int, I...>) {
    tx::tensor<double> sums[] = {next(std::integral_constant<int, forward ? I : steps - 1 - I>{})...};
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4];
  }(std::make_integer_sequence<int, steps>{});
  return tx::sum(h * h) + all;
};

// The slope by the inputs, squared: its gradient goes through the scan a second time.
template <auto F>
constexpr auto by_inputs = [](inputs const& x, cell const& m, auto const& weight, auto const& shared) { return F(m, x, weight, shared); };
template <auto F>
constexpr auto slope = [](cell const& m, inputs x, tx::tensor<double, steps> weight, state shared) {
  auto const by_x = tx::grad<by_inputs<F>>(x, m, weight, shared);
  return tx::sum(by_x * by_x);
};

// Layers, each with own parameters, each a scan over time: a loop in a loop. [steps, batch, hidden] all the way.
constexpr int layers = 3;
using sequence = tx::tensor<double, steps, batch, hidden>;
struct layer {
  tx::param<tx::tensor<double, hidden, hidden>, tx::init::normal<1, 2>> from_input;
  tx::param<tx::tensor<double, hidden, hidden>, tx::init::normal<1, 2>> from_state;
  tx::param<state, tx::init::normal<1, 1>> first;

  constexpr auto next(auto const& h, auto const& x) const { return tx::tanh(tx::matmul(x, from_input) + tx::matmul(h, from_state)); }
  constexpr sequence operator()(sequence const& x) const {
    return tx::scan<steps>(
               [&](auto const& h, auto const& now) {
                 auto const then = next(h, now);
                 return tx::scanned{then, then + now};
               },
               first, x)
        .out;
  }
};
struct deep {
  tx::repeat<layers, layer> stack;
};
struct wide {
  std::array<layer, layers> stack;
};
constexpr auto layers_scanned = [](deep const& m, sequence x, state shared) {
  auto const [last, all] = m.stack.outputs(x);
  return tx::sum(last * last) + tx::sum(all * shared);
};
constexpr auto layers_written_out = [](wide const& m, sequence x, state shared) {
  sequence at = x;
  tx::tensor<double> sums[layers];
  for (int l = 0; l < layers; ++l) {
    layer const& own = m.stack[static_cast<std::size_t>(l)];
    state h = own.first;
    auto const time = [&]<int I>(std::integral_constant<int, I>) {
      state const now = tx::reshape<batch, hidden>(tx::slice<0, I, 1>(at));
      h = own.next(h, now);
      return tx::reshape<1, batch, hidden>(h + now);
    };
    auto const a = time(std::integral_constant<int, 0>{}), b = time(std::integral_constant<int, 1>{}), c = time(std::integral_constant<int, 2>{}),
               d = time(std::integral_constant<int, 3>{}), e = time(std::integral_constant<int, 4>{});
    at = tx::concat<0>(a, b, c, d, e);
    sums[l] = tx::sum(at * shared);
  }
  return tx::sum(at * at) + sums[0] + sums[1] + sums[2];
};

}  // namespace

template <tx::direction Way>
void check_time() {
  auto const x = numbers(steps * batch * in, 0.1), weight = numbers(steps, 0.3), shared = numbers(batch * hidden, -0.2);
  check_equal(differentiated<scanned<Way>, cell>(x, weight, shared), differentiated<written_out<Way>, cell>(x, weight, shared));
}
TEST_CASE("a scan over time is its steps written out") { check_time<tx::direction::forward>(); }
TEST_CASE("a scan backwards is its steps from the last on") { check_time<tx::direction::backward>(); }

TEST_CASE("a gradient of a scan's gradient is that of its steps written out") {
  auto const x = numbers(steps * batch * in, 0.1), weight = numbers(steps, 0.3), shared = numbers(batch * hidden, -0.2);
  constexpr auto way = tx::direction::backward;
  check_equal(differentiated<slope<scanned<way>>, cell>(x, weight, shared), differentiated<slope<written_out<way>>, cell>(x, weight, shared));
}

TEST_CASE("layers that each scan over time are both written out, and what each layer returned is handed out") {
  auto const x = numbers(steps * batch * hidden, 0.1), shared = numbers(batch * hidden, -0.2);
  check_equal(differentiated<layers_scanned, deep>(x, shared), differentiated<layers_written_out, wide>(x, shared));
}

// A body that scans over what it is handed from outside, as it is: nothing of the body stands between.
struct handed_on {
  tx::param<tx::tensor<double, hidden, hidden>, tx::init::normal<1, 2>> weight;
  constexpr auto operator()(auto const& h, auto const& all) const {
    return tx::scan<steps>([&](auto const& c, auto const& x) { return tx::tanh(tx::matmul(c, weight) + x); }, h, all);
  }
};
struct handed_on_model {
  tx::repeat<2, handed_on> cells;
  tx::param<state, tx::init::normal<1, 1>> first;
};
using all_states = tx::tensor<double, steps, batch, hidden>;
constexpr auto by_repeat = [](handed_on_model const& m, all_states x) { return tx::sum(m.cells(m.first, x)); };
constexpr auto carried_in = [](handed_on_model const& m, all_states x) {
  auto const outer = tx::scan<2>([&](auto const& h) { return h + tx::scan<3>([&](auto const& c) { return tx::tanh(c + h); }, m.first); }, m.first);
  return tx::sum(outer) + tx::sum(x);
};

TEST_CASE("a body scans over a tensor from outside, or begins with one") {
  tx::executor<tx::value_and_grad<by_repeat, handed_on_model>, tx::cpu> run{tx::seed(3)};
  std::vector<double> x(steps * batch * hidden);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
  auto const parameters = run.tensors();
  std::vector<double> h(parameters.back().data.begin(), parameters.back().data.end());
  for (std::size_t layer = 0; layer < 2; ++layer)
    for (std::size_t t = 0; t < steps; ++t) {
      std::vector<double> next(h.size());
      for (std::size_t b = 0; b < batch; ++b)
        for (std::size_t j = 0; j < hidden; ++j) {
          double sum = x[(t * batch + b) * hidden + j];
          for (std::size_t i = 0; i < hidden; ++i) sum += h[b * hidden + i] * parameters[layer].data[i * hidden + j];
          next[b * hidden + j] = std::tanh(sum);
        }
      h = next;
    }
  double sum = 0;
  for (double const y : h) sum += y;
  CHECK(static_cast<double>(run(x).value) == Approx(sum).epsilon(1e-12));

  tx::graph g;
  CHECK_NOTHROW(tx::trace<handed_on_model, carried_in>(g));
  CHECK_NOTHROW(at_run_time::verified(g));
}
