// Two layers whose products are worth a library's call: for tests of devices that have one.
#pragma once

#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/mean.hpp>

namespace library_net {

struct net {
  tx::nn::linear<640, 160, tx::init::uniform<1, 20>> in;
  tx::nn::linear<160, 64, tx::init::uniform<1, 10>> out;
};
constexpr auto loss = [](net const& m, tx::tensor<float, 96, 640> x) {
  auto const y = m.out(tx::gelu(m.in(x)));
  return tx::mean(y * y * 10.0);
};

}  // namespace library_net
