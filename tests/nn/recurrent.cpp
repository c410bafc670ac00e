// nn::gru and nn::lstm against PyTorch's, values and gradients of everything over 16 and 256 moments (tests/parity/recurrent.py).
#include "../ops/torch_groups.hpp"

#include <tx/nn/gru.hpp>
#include <tx/nn/lstm.hpp>
#include <tx/ops/flip.hpp>

namespace {

constexpr int batch = 3, in = 5, width = 4;
using state = tx::tensor<float, batch, width>;
template <int Moments>
using sequence = tx::tensor<float, Moments, batch, in>;
template <int Moments>
using states = tx::tensor<float, Moments, batch, width>;

template <int Moments>
struct gru_model {
  tx::nn::gru<in, width> layer;
  tx::param<sequence<Moments>> x;
  tx::param<state> hidden;
};
template <int Moments>
struct gru_told {
  tx::tensor<float> loss;
  states<Moments> all;
  state last;
};
template <int Moments>
constexpr auto gru_loss = [](gru_model<Moments> const& m) {
  auto const [last, all] = m.layer(m.x, m.hidden);
  return gru_told<Moments>{weighed(all) + weighed(last, 2), all, last};
};

template <int Moments>
struct lstm_model {
  tx::nn::lstm<in, width> layer;
  tx::param<sequence<Moments>> x;
  tx::param<state> hidden, cell;
};
template <int Moments>
struct lstm_told {
  tx::tensor<float> loss;
  states<Moments> all;
  state last_hidden, last_cell;
};
template <int Moments>
constexpr auto lstm_loss = [](lstm_model<Moments> const& m) {
  auto const [last, all] = m.layer(m.x, tx::nn::lstm_state<state>{m.hidden, m.cell});
  return lstm_told<Moments>{weighed(all) + weighed(last.hidden, 2) + weighed(last.cell, 2), all, last.hidden, last.cell};
};

// Without a state it starts from zeros; backwards it is the layer of the moments in the other order.
struct pair {
  tx::tensor<float> difference, backwards;
};
constexpr auto from_zeros = [](gru_model<16> const& m, sequence<16> x) {
  auto const zeros = tx::zeros<state>(x);
  auto const given = m.layer(x, zeros).out - m.layer(x).out;
  auto const back = tx::flip<0>(m.layer.template operator()<tx::direction::backward>(x).out) - m.layer(tx::flip<0>(x)).out;
  return pair{tx::sum(given * given), tx::sum(back * back)};
};

}  // namespace

TEST_CASE("a GRU is PyTorch's") {
  auto const numbers = torch_numbers("recurrent");
  check_group<tx::cpu, float, gru_model<16>, gru_loss<16>>(numbers, "gru_16", {"all", "last_hidden"}, 2e-6);
  check_group<tx::cpu, float, gru_model<256>, gru_loss<256>>(numbers, "gru_256", {"all", "last_hidden"}, 4e-6);
}
TEST_CASE("an LSTM is PyTorch's") {
  auto const numbers = torch_numbers("recurrent");
  check_group<tx::cpu, float, lstm_model<16>, lstm_loss<16>>(numbers, "lstm_16", {"all", "last_hidden", "last_cell"}, 2e-6);
  check_group<tx::cpu, float, lstm_model<256>, lstm_loss<256>>(numbers, "lstm_256", {"all", "last_hidden", "last_cell"}, 4e-6);
}
TEST_CASE("a recurrent layer starts from zeros, and goes backwards") {
  tx::executor<tx::function<from_zeros, gru_model<16>>, tx::cpu> run{tx::seed(4)};
  std::vector<float> x(16 * batch * in);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) * 0.2f - 1;
  auto const r = run(x);
  CHECK(r.difference[0] == 0);
  CHECK(r.backwards[0] < 1e-10f);
}

TEST_CASE("recurrent layers take a batch of as many as there are") {
  auto const same = []<class Layer>(Layer const*) {
    constexpr auto of_some = [](Layer const& m, tx::tensor<float, 5, tx::dyn<6>, 4> x) { return m(x).out; };
    constexpr auto of_two = [](Layer const& m, tx::tensor<float, 5, 2, 4> x) { return m(x).out; };
    tx::executor<tx::function<of_some, Layer>, tx::cpu> some{tx::seed(1)};
    tx::executor<tx::function<of_two, Layer>, tx::cpu> two{tx::seed(1)};
    std::vector<float> x(40);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
    auto const a = some(x).value;
    auto const b = two(x).value;
    CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  };
  same(static_cast<tx::nn::gru<4, 3> const*>(nullptr));
  same(static_cast<tx::nn::lstm<4, 3> const*>(nullptr));
}
