// Compiled steps of Adafactor against plain loops: where gradients are used up at once, in repeated blocks and peeled ones, clipped, summed over parts
// and shards, frozen in part, with rates that fall from layer to layer.
#include "../check_steps.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/train/adafactor.hpp>
#include <tx/train/step.hpp>

namespace {

using namespace tx;

using momentum = adafactor_with<adafactor_options{.clip = 0.5, .beta1 = 0.75}>;

template <class T, class Optimizer, peel Peel = peel::none, class... Options>
using step = train_step<small::net<T, Peel>, small::loss<T, Peel>, Optimizer, Options...>;
template <class Optimizer, class... Options>
using halves = train_step<small::net<double>, small::loss<double, peel::none, small::rows / 2>, Optimizer, Options...>;

// The small net's tensors are told by their sizes.
std::size_t rows_of(plain_step const& u) { return u.p.size() == 25 ? 5 : u.p.size() == 21 ? 7 : 0; }
void plain(plain_step const& u) { plain_adafactor{.rows = rows_of(u)}(u); }
void plain_momentum(plain_step const& u) { plain_adafactor{.rows = rows_of(u), .beta1 = 0.75, .clip = 0.5}(u); }

// The small net with its blocks frozen.
struct headed {
  frozen_module<repeat<small::blocks, small::layer<double>>> layers;
  param<tensor<double, small::width>, init::zeros, small::quick> shift;
  param<tensor<double>, init::ones, not_decayed> gain;
  param<tensor<double, 7, 3>, init::ones> unused;
};
constexpr auto headed_loss = [](headed const& m, tensor<double, small::rows, small::width> x) {
  auto const z = m.layers(x) * m.gain + m.shift;
  return mean(z * z);
};

double share_of(std::size_t k) {
  if (k == small::plain_net::shift) return std::pow(0.5, small::blocks + 1);
  return k < small::plain_net::shift ? std::pow(0.5, small::blocks - static_cast<int>(k / 2)) : 1;
}

}  // namespace

TEST_CASE("Adafactor where gradients are used up at once", "[adafactor]") {
  check_steps<step<double, adafactor, peel::none, gradient_norm>, cpu>(plain, 0.03125f, 0, 1e-10);
  check_steps<step<double, momentum>, cpu>(plain_momentum, 0.03125f, 0, 1e-10);
  check_steps<step<double, adafactor, peel::last>, reference>(plain, 0.03125f, 0, 1e-10);
  check_steps<step<float, adafactor>, cpu>(plain, 0.03125f, 0, 5e-4);
}

TEST_CASE("Adafactor from flat gradients", "[adafactor]") {
  check_steps<step<double, adafactor, peel::last, clip_gradient, gradient_norm>, cpu>(plain, 0.03125f, 0.5, 1e-10);
  check_steps<halves<adafactor, accumulate<2>, clip_gradient, gradient_norm>, cpu>(plain, 0.03125f, 0.5, 1e-10);
  check_steps<halves<adafactor, accumulate<2>>, cpu>(plain, 0.03125f, 0, 1e-10);
  check_steps<halves<momentum, virtual_shards<2>, gradient_norm>, cpu>(plain_momentum, 0.03125f, 0, 1e-10);
}

TEST_CASE("Adafactor of a part of a model, and with rates of layers", "[adafactor]") {
  check_steps<train_step<headed, headed_loss, adafactor, gradient_norm>, cpu>(plain, 0.03125f, 0, 1e-10, small::plain_net::shift);
  check_steps<step<double, adafactor, peel::none, layer_decay<"shift">>, cpu>(plain, 0.03125f, 0, 1e-10, 0, share_of);
  check_steps<step<double, adafactor, peel::last, layer_decay<"shift">, clip_gradient>, cpu>(plain, 0.03125f, 0.25, 1e-10, 0, share_of);
}
