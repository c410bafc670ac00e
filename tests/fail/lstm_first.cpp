// A recurrent layer that begins with a state of another batch.
// expect: tx::nn::lstm: the first state is no [batch, Hidden] of the input's batch. FIX: those extents, or none, for zeros
#include <tx/nn/lstm.hpp>

struct model {
  tx::nn::lstm<8, 16> cell;
  constexpr auto operator()(auto const& x, auto const& first) const { return cell(x, tx::nn::lstm_state{first, first}).carry.hidden; }
};
constexpr auto f = [](model const& m, tx::tensor<float, 5, 2, 8> x, tx::tensor<float, 3, 16> first) { return m(x, first); };
using result = decltype(f({}, {}, {}));
