// Adafactor of layers in layers and of tensors of three axes, with products of halves, on ranks and on threads.
#include "../../dist/within.hpp"
#include "../../furthest.hpp"
#include "../small_net.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adafactor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

using momentum = adafactor_with<adafactor_options{.clip = 0.5, .beta1 = 0.75}>;

template <class Optimizer, class... Options>
using step = train_step<small::net<float>, small::loss<float>, Optimizer, Options...>;
template <class Optimizer, class... Options>
using halves = train_step<small::net<double>, small::loss<double, peel::none, small::rows / 2>, Optimizer, Options...>;

// Layers in layers, and one with a kernel of three axes and more.
struct inner {
  param<tensor<double, 3, 4>, init::uniform<1, 2>> up;
  param<tensor<double, 4, 3>, init::uniform<1, 2>> down;
  param<tensor<double, 2, 3, 3>, init::uniform<1, 2>> cube;
  constexpr auto operator()(auto const& h) const { return h + matmul(matmul(h, up), down) + matmul(h, reshape<3, 3>(sum<0>(cube * cube))); }
};
struct pair {
  repeat<2, inner> two;
  constexpr auto operator()(auto const& h) const { return two(h); }
};
struct nested {
  repeat<3, pair> layer;
};
struct unrolled {
  inner l0, l1, l2, l3, l4, l5;
};
constexpr auto nested_loss = [](nested const& m, tensor<double, 4, 3> x) {
  auto const y = m.layer(x);
  return mean(y * y);
};
constexpr auto unrolled_loss = [](unrolled const& m, tensor<double, 4, 3> x) {
  auto const y = m.l5(m.l4(m.l3(m.l2(m.l1(m.l0(x))))));
  return mean(y * y);
};

// One block alone.
struct single {
  repeat<1, inner> layer;
};
constexpr auto single_loss = [](single const& m, tensor<double, 4, 3> x) {
  auto const y = m.layer(x);
  return mean(y * y);
};
struct alone {
  inner layer;
};
constexpr auto alone_loss = [](alone const& m, tensor<double, 4, 3> x) {
  auto const y = m.layer(x);
  return mean(y * y);
};

// Two models of the same tensors in the same order, trained alike.
template <class A, class B>
void check_alike() {
  executor<A, cpu> a{seed(2)};
  executor<B, cpu> b{seed(3)};
  auto const from = a.tensors(), to = b.tensors();
  REQUIRE(from.size() == to.size());
  for (std::size_t k = 0; k < from.size(); ++k) std::copy(from[k].data.begin(), from[k].data.end(), to[k].data.begin());
  a.settings["learning_rate"] = b.settings["learning_rate"] = 0.125f;
  std::vector<double> x(12);
  for (int t = 0; t < 8; ++t) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i) + t);
    CHECK(a(x).loss == Approx(b(x).loss).epsilon(1e-9));
  }
  for (int k = 0; k <= a.states(); ++k) {
    auto const p = a.tensors(k), q = b.tensors(k);
    REQUIRE(p.size() == q.size());
    for (std::size_t i = 0; i < p.size(); ++i) CHECK(distance(values(p[i].data.begin(), p[i].data.end()), values(q[i].data.begin(), q[i].data.end())) < 1e-9);
  }
}

}  // namespace

TEST_CASE("each block of a repeat, and of one in another, is a tensor of its own", "[adafactor]") {
  check_alike<train_step<nested, nested_loss, momentum>, train_step<unrolled, unrolled_loss, momentum>>();
  check_alike<train_step<nested, nested_loss, adafactor, clip_gradient>, train_step<unrolled, unrolled_loss, adafactor, clip_gradient>>();
  check_alike<train_step<single, single_loss, adafactor>, train_step<alone, alone_loss, adafactor>>();
}

TEST_CASE("Adafactor with products of halves is the same with any number of threads", "[adafactor]") {
  using mixed_step = step<adafactor, mixed<bf16>>;
  executor<mixed_step, cpu> one{seed(3), {.threads = 1}}, three{seed(3), {.threads = 3}};
  executor<step<adafactor>, cpu> exact{seed(3)};
  float last = 0;
  for (int t = 0; t < 10; ++t) {
    auto const x = small::batch<float>(t);
    last = one(x).loss;
    CHECK(three(x).loss == last);
    CHECK(exact(x).loss == Approx(last).epsilon(0.02));
  }
  CHECK(std::ranges::equal(one.elements(1), three.elements(1)));
  CHECK(std::ranges::equal(one.elements(2), three.elements(2)));
}

TEST_CASE("two ranks with half of a batch have Adafactor's parameters and states of one rank with all of it, bit for bit", "[adafactor]") {
  using ranks_2 = halves<momentum, data_parallel<2>>;
  using shards_2 = halves<momentum, virtual_shards<2>>;
  auto const trained = [](auto& run, std::size_t first, std::size_t count) {
    run.settings["learning_rate"] = 0.03125f;
    for (int t = 0; t < 6; ++t) {
      auto const x = small::batch<double>(t);
      run(std::span(x).subspan(first, count));
    }
    std::vector<std::vector<double>> blocks;
    for (int k = 0; k <= run.states(); ++k) blocks.push_back(run.read(k));
    return blocks;
  };
  constexpr std::size_t all = small::rows * small::width;
  executor<shards_2, cpu> one{seed(3), {.threads = 1}};
  auto const wanted = trained(one, 0, all);
  REQUIRE(wanted.size() == 4);
  std::vector<std::vector<double>> found[2];
  within(std::chrono::seconds(60), [&] {
    dist::local_group group(2);
    group.run([&](dist::local& rank) {
      executor<ranks_2, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
      auto const k = static_cast<std::size_t>(rank.rank());
      found[k] = trained(run, k * all / 2, all / 2);
    });
  });
  CHECK(found[0] == wanted);
  CHECK(found[1] == wanted);
}
