// A repeat is a scan over modules: a carry of several tensors, of any element types, slices of inputs, and outputs beside the carry. Values and gradients are
// those of the same blocks written out.
#include "written_out.hpp"

#include <tx/ops/cast.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>

namespace {

constexpr int layers = 3, steps = 4, batch = 2, in = 3, hidden = 4;
using state = tx::tensor<double, batch, hidden>;
using counter = tx::tensor<tx::i32>;
using inputs = tx::tensor<double, batch, in>;

struct memory {
  state hidden, cell;
};

// A step of an LSTM, each gate with weights of its own; [batch, From] and a memory -> the next memory.
template <int From>
struct lstm_cell {
  tx::param<tx::tensor<double, From, hidden>> forget, into, value, out;
  tx::param<tx::tensor<double, hidden, hidden>> recurrent;

  constexpr memory next(memory const& m, auto const& x) const {
    state const from_state = tx::matmul(m.hidden, recurrent);
    state const cell = tx::sigmoid(tx::matmul(x, forget) + from_state) * m.cell + tx::sigmoid(tx::matmul(x, into)) * tx::tanh(tx::matmul(x, value) + from_state);
    return {tx::sigmoid(tx::matmul(x, out) + from_state) * tx::tanh(cell), cell};
  }
};

template <class Way, class Block>
struct model {
  typename Way::template repeat<layers, Block> cells;
  tx::param<state> hidden, cell;

  constexpr memory first() const { return {hidden, cell}; }
};
constexpr auto weight(memory const& m) { return tx::sum(m.hidden * m.cell) + tx::sum(m.cell * m.cell); }

// The carry is a struct, which is handed on as it is.
struct lstm_block {
  lstm_cell<in> cell;
  constexpr memory operator()(memory const& m, auto const& x) const { return cell.next(m, x); }
};
constexpr auto of_struct = [](auto const& m, inputs x) { return weight(m.cells(m.first(), x)); };
constexpr auto all_of_struct = [](auto const& m, inputs x, tx::tensor<double, layers, 1, 1> by) {
  auto const [last, all] = m.cells.outputs(m.first(), x);
  auto const& [hiddens, states] = all;  // [layers, batch, hidden] each
  return weight(last) + tx::sum(hiddens * states * by);
};

// Floats beside a counter, in a tuple; the counter is read by the next block and handed out by each.
struct counting_block {
  tx::param<tx::tensor<double, hidden, hidden>> weight;
  constexpr auto operator()(std::tuple<state, counter> const& carry, counter const& by) const {
    auto const& [h, n] = carry;
    return std::tuple<state, counter>{tx::tanh(tx::matmul(h, weight)) * (1.0 + 0.5 * tx::cast<double>(n)) + h, n + by};
  }
};
constexpr auto counted = [](auto const& m, counter from, counter by) {
  auto const [last, all] = m.cells.outputs(std::tuple{m.hidden * 1.0, from}, by);
  auto const& [h, n] = last;
  auto const& [hs, ns] = all;
  return tx::sum(h * m.cell) * tx::cast<double>(n) + tx::sum(hs * tx::reshape<layers, 1, 1>(tx::cast<double>(ns)));
};

// Slices of two inputs, one of them between what is the same for all, and outputs that are not the carry: a struct with a tuple in it.
struct given_away {
  tx::tensor<double, hidden> total;
  std::tuple<counter, state> other;
};
struct slicing_block {
  lstm_cell<in> cell;
  constexpr auto operator()(memory const& m, auto const& x, auto const& shared, auto const& n) const {
    memory const next = cell.next(m, x * shared);
    state const scaled = next.hidden * tx::cast<double>(n);
    return tx::scanned{memory{next.hidden, next.cell + scaled}, given_away{tx::reshape<hidden>(tx::sum<0>(next.cell * m.hidden)), {n + n, scaled}}};
  }
};
using all_inputs = tx::tensor<double, layers, batch, in>;
template <bool Outputs>
constexpr auto sliced = [](auto const& m, all_inputs xs, inputs shared, tx::tensor<tx::i32, layers> numbers) {
  auto const result = [&] {
    if constexpr (Outputs) return m.cells.outputs(m.first(), tx::each(xs), shared, tx::each(numbers));
    else return m.cells(m.first(), tx::each(xs), shared, tx::each(numbers));
  }();
  auto const& [total, other] = result.out;  // [layers, hidden]
  auto const& [ns, scaled] = other;         // [layers], [layers, batch, hidden]
  return weight(result.carry) + tx::sum(total * tx::reshape<layers, 1>(tx::cast<double>(ns))) + tx::sum(scaled * scaled);
};

// Layers of LSTMs over time: each moment goes through all layers, of which each has its slice of the memories, and gives its own away for the next moment.
struct layer_of_time {
  lstm_cell<hidden> cell;
  constexpr auto operator()(state const& x, auto const& hidden_before, auto const& cell_before) const {
    memory const next = cell.next({hidden_before, cell_before}, x);
    return tx::scanned{next.hidden + x, next};
  }
};
using sequence = tx::tensor<double, steps, batch, hidden>;
template <class Way>
constexpr auto layers_in_time = [](model<Way, layer_of_time> const& m, sequence xs) {
  using memories = tx::tensor<double, layers, batch, hidden>;
  memories const none = tx::stack<0>(m.hidden * 0.5, m.cell * 1.0, m.hidden * m.cell);
  auto const [last, all] = Way::template scan<steps>(
      [&](std::tuple<memories, memories> const& at, auto const& x) {
        auto const& [hiddens, states] = at;
        auto const through = m.cells(x, tx::each(hiddens), tx::each(states));
        return tx::scanned{through.out, through.carry};
      },
      std::tuple{none, none * 2.0}, xs);
  auto const& [hiddens, states] = last;
  return tx::sum(hiddens * states) + tx::sum(all * all);
};

// The other way round: each layer goes through all of time. What is carried from layer to layer is a sequence and how many moments there have been.
template <class Way>
struct time_of_layer {
  lstm_cell<hidden> cell;
  constexpr auto operator()(std::tuple<sequence, counter> const& carry, memory const& first) const {
    auto const& [xs, n] = carry;
    auto const through = Way::template scan<steps>(
        [&](std::tuple<memory, counter> const& at, auto const& x) {
          auto const& [m, k] = at;
          memory const next = cell.next(m, x);
          return tx::scanned{std::tuple<memory, counter>{next, k + 1}, next.hidden * (0.1 * tx::cast<double>(k)) + x};
        },
        std::tuple<memory, counter>{first, n}, xs);
    auto const& [m, k] = through.carry;
    return tx::scanned{std::tuple<sequence, counter>{through.out, k}, std::tuple{m.cell, k}};
  }
};
template <class Way>
constexpr auto time_in_layers = [](model<Way, time_of_layer<Way>> const& m, sequence xs, counter from) {
  auto const [last, all] = m.cells(std::tuple<sequence, counter>{xs, from}, m.first());
  auto const& [ys, n] = last;
  auto const& [cells, ns] = all;
  return tx::sum(ys * ys) * 0.01 + tx::cast<double>(n) * 0.01 + tx::sum(cells * tx::reshape<layers, 1, 1>(tx::cast<double>(ns)));
};

template <class Block, auto Loss>
void check_written_out(auto const&... x) {
  outcome const a = differentiated<Loss, model<recorded_once, Block>>(x...);
  check_none_is_idle(a);
  check_equal(a, differentiated<Loss, model<each_recorded, Block>>(x...));
}

std::array const one{1}, two{2};

// The last block written out behind the rest: by hand, of what outputs_before_last() and last() give, and by a repeat that is peeled.
struct peeled_by_hand {
  tx::repeat<layers, slicing_block> cells;
  tx::param<state> hidden, cell;

  constexpr memory first() const { return {hidden, cell}; }
};
constexpr auto in_two_steps = [](peeled_by_hand const& m, all_inputs xs, inputs shared, tx::tensor<tx::i32, layers> numbers) {
  auto const before =
      m.cells.outputs_before_last(m.first(), tx::each(tx::slice<0, 0, layers - 1>(xs)), shared, tx::each(tx::slice<0, 0, layers - 1>(numbers)));
  auto const last = m.cells.last()(before.carry, unrolled::slice_of<layers - 1>(xs), shared, unrolled::slice_of<layers - 1>(numbers));
  auto const& [total, other] = before.out;
  auto const& [ns, scaled] = other;
  auto const& [last_n, last_scaled] = last.out.other;
  return weight(last.carry) + tx::sum(total * tx::reshape<layers - 1, 1>(tx::cast<double>(ns))) + tx::sum(scaled * scaled) +
         tx::sum(last.out.total) * tx::cast<double>(last_n) + tx::sum(last_scaled * last_scaled);
};
struct peeled_once {
  template <int N, class Block>
  using repeat = tx::repeat<N, Block, tx::peel::last>;
};

}  // namespace

TEST_CASE("a repeat carries a struct of tensors, and hands out all of each") {
  auto const x = numbers(batch * in, 0.1), by = numbers(layers, 0.4);
  check_written_out<lstm_block, of_struct>(x);
  check_written_out<lstm_block, all_of_struct>(x, by);
}

TEST_CASE("a repeat carries a counter beside floats") { check_written_out<counting_block, counted>(one, two); }

TEST_CASE("each block of a repeat has its slice of inputs, and gives away what is not its carry") {
  auto const xs = numbers(layers * batch * in, 0.1), shared = numbers(batch * in, -0.2);
  std::vector<int> const counts{2, 1, 3};
  check_written_out<slicing_block, sliced<false>>(xs, shared, counts);
  check_equal(differentiated<sliced<true>, model<recorded_once, slicing_block>>(xs, shared, counts),
              differentiated<sliced<false>, model<recorded_once, slicing_block>>(xs, shared, counts));
}

TEST_CASE("a repeat of bundles in a scan, and a scan in such a repeat") {
  auto const xs = numbers(steps * batch * hidden, 0.1);
  outcome const layered = differentiated<layers_in_time<recorded_once>, model<recorded_once, layer_of_time>>(xs);
  check_none_is_idle(layered);
  check_equal(layered, differentiated<layers_in_time<each_recorded>, model<each_recorded, layer_of_time>>(xs));
  outcome const timed = differentiated<time_in_layers<recorded_once>, model<recorded_once, time_of_layer<recorded_once>>>(xs, one);
  check_none_is_idle(timed);
  check_equal(timed, differentiated<time_in_layers<each_recorded>, model<each_recorded, time_of_layer<each_recorded>>>(xs, one));
}

TEST_CASE("the last block of a repeat of bundles is peeled, or stands by itself with its slices") {
  auto const x = numbers(batch * in, 0.1), xs = numbers(layers * batch * in, 0.1), shared = numbers(batch * in, -0.2);
  std::vector<int> const counts{2, 1, 3};
  check_equal(differentiated<of_struct, model<peeled_once, lstm_block>>(x), differentiated<of_struct, model<each_recorded, lstm_block>>(x));
  check_equal(differentiated<in_two_steps, peeled_by_hand>(xs, shared, counts), differentiated<sliced<false>, model<each_recorded, slicing_block>>(xs, shared, counts));
}
