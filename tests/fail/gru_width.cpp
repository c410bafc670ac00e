// A recurrent layer that is given inputs of another width.
// within 10 lines
// expect: tx::nn::gru: the input's last axis is not In. FIX: gru<In, Hidden> with the width of the input, [time, batch, In]
// expect somewhere: gru_width.cpp:10:
#include <tx/nn/gru.hpp>

struct model {
  tx::nn::gru<8, 16> cell;
  // [time, batch, features] -> [batch, Hidden]
  constexpr auto operator()(auto const& x) const { return cell(x).carry; }
};
constexpr auto f = [](model const& m, tx::tensor<float, 5, 2, 6> x) { return m(x); };
using result = decltype(f({}, {}));
