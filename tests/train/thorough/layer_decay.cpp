// Rates that fall from layer to layer, against plain loops: of repeated blocks, peeled ones, what lies below them, in parts, shards and clipped.
#include "../check_steps.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/inspect/outline.hpp>
#include <tx/nn/bert_encoder.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <limits>

namespace {

using namespace tx;
using small::net;

template <class T, class Optimizer, peel Peel = peel::none, int Rows = small::rows, class... Options>
using step = train_step<net<T, Peel>, small::loss<T, Peel, Rows>, Optimizer, layer_decay<"shift">, Options...>;

// layer_decay is 1/2, and "shift" is said to lie below all layers.
double share_of(std::size_t k) {
  if (k == small::plain_net::shift) return std::pow(0.5, small::blocks + 1);
  return k < small::plain_net::shift ? std::pow(0.5, small::blocks - static_cast<int>(k / 2)) : 1;
}
constexpr auto plainest = [](plain_step const& u) { plain_sgd(u, 0, false); };

// Each gradient of a repeated block is used up where it is complete, with shares as without.
struct config {
  static constexpr int layers = 6, hidden = 64, heads = 2, ffn = 128;
};
struct deep {
  nn::bert_encoder<config> encoder;
};
constexpr auto deep_loss = [](deep const& m, tensor<float, 2, 8, 64> x) {
  auto const y = m.encoder(x);
  return mean(y * y);
};
template <class... Options>
using deep_step = train_step<deep, deep_loss, adamw, Options...>;
static_assert(deep_step<layer_decay<>>::memory.arena <= deep_step<>::memory.arena + 4096);

// A stack in a stack: layers are the blocks of the outer one.
struct inner {
  param<tensor<double, 3, 3>, init::uniform<1, 2>> mix;
  constexpr auto operator()(auto const& h) const { return h + matmul(h, mix); }
};
struct pair {
  repeat<2, inner> two;
  constexpr auto operator()(auto const& h) const { return two(h); }
};
struct nested {
  repeat<3, pair> layer;
};
constexpr auto nested_loss = [](nested const& m, tensor<double, 4, 3> x) {
  auto const y = m.layer(x);
  return mean(y * y);
};

}  // namespace

TEST_CASE("rates fall from layer to layer", "[layer_decay]") {
  check_steps<step<double, sgd>, cpu>(plainest, 0.125f, 0, 1e-10, 0, share_of);
  check_steps<step<double, adamw>, cpu>(plain_adamw, 0.03125f, 0, 1e-10, 0, share_of);
  check_steps<step<double, adamw>, reference>(plain_adamw, 0.03125f, 0, 1e-10, 0, share_of);
  check_steps<step<double, lamb, peel::none, small::rows, clip_gradient>, cpu>(plain_lamb, 0.03125f, 0.25, 1e-10, 0, share_of);
}

TEST_CASE("rates of layers in a peeled stack, in parts and shards", "[layer_decay]") {
  check_steps<step<double, adamw, peel::last>, cpu>(plain_adamw, 0.03125f, 0, 1e-10, 0, share_of);
  check_steps<step<double, adamw, peel::last, small::rows, clip_gradient>, reference>(plain_adamw, 0.03125f, 0.25, 1e-10, 0, share_of);
  check_steps<step<double, adamw, peel::none, small::rows / 2, accumulate<2>>, cpu>(plain_adamw, 0.03125f, 0, 1e-10, 0, share_of);
  check_steps<step<double, adamw, peel::none, small::rows / 2, virtual_shards<2>>, cpu>(plain_adamw, 0.03125f, 0, 1e-10, 0, share_of);
}

TEST_CASE("layers are the blocks of the outermost stack", "[layer_decay]") {
  executor<train_step<nested, nested_loss, sgd, layer_decay<>>, cpu> run{seed(2)};
  executor<train_step<nested, nested_loss, sgd>, cpu> full{seed(2)};
  run.settings["learning_rate"] = full.settings["learning_rate"] = 0.5f;
  run.settings.groups[0].decay = full.settings.groups[0].decay = 0;
  run.settings["layer_decay"] = 0.25f;
  std::vector<std::vector<double>> before;
  for (auto const& t : run.tensors()) before.emplace_back(t.data.begin(), t.data.end());
  std::vector<double> x(12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
  run(x), full(x);
  REQUIRE(before.size() == 6);
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t i = 0; i < 9; ++i)
      CHECK(run.tensors()[k].data[i] - before[k][i] ==
            Approx(std::pow(0.25, 3 - static_cast<int>(k / 2)) * (full.tensors()[k].data[i] - before[k][i])).epsilon(1e-9));
}

TEST_CASE("a decay of 1 is none, others than shares are refused, and the plan names them", "[layer_decay]") {
  executor<step<float, adamw>, cpu> run{seed(3)};
  executor<train_step<net<float>, small::loss<float>, adamw>, cpu> plain{seed(3)};
  CHECK(run.settings["layer_decay"] == 0.9f);
  CHECK_FALSE(plain.settings.has("layer_decay"));
  for (float const wrong : {0.0f, -0.5f, 1.01f, std::numeric_limits<float>::quiet_NaN()}) {
    run.settings["layer_decay"] = wrong;
    CHECK_THROWS_WITH(run(small::batch<float>(1)), Catch::Contains("settings[\"layer_decay\"] is") && Catch::Contains("FIX: above 0, at most 1"));
  }
  run.settings["layer_decay"] = 1;
  for (int t = 0; t < 3; ++t) run(small::batch<float>(t)), plain(small::batch<float>(t));
  auto const p = run.elements(), q = plain.elements();
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(p[i] == Approx(q[i]).epsilon(1e-6));
  bool told = false;
  for (auto const& v : outline_of<step<float, adamw>>().values) told = told || v.name == "layers' shares of the learning rate";
  CHECK(told);
}
