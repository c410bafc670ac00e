// Adaptive sums beside the formula in f64, and steps that train by them.
#include "../net/group.hpp"

#include <tx/backends/reference.hpp>
#include <tx/dist/adasum.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/dist/single.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace tx;

namespace {

using vector = std::vector<double>;

vector combined(vector const& a, vector const& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  vector out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = (aa > 0 ? 1 - ab / (2 * aa) : 1) * a[i] + (bb > 0 ? 1 - ab / (2 * bb) : 1) * b[i];
  return out;
}
// Neighbours first.
vector reference_of(std::vector<vector> all) {
  while (all.size() > 1) {
    std::vector<vector> next;
    for (std::size_t k = 0; k < all.size(); k += 2) next.push_back(k + 1 < all.size() ? combined(all[k], all[k + 1]) : all[k]);
    all = next;
  }
  return all[0];
}

float part_of(int rank, std::size_t i) { return std::sin(static_cast<float>((i + 1) * static_cast<std::size_t>(rank + 2)) * 0.7f) + (i % 3 == 0 ? 0.5f : 0.0f); }

template <class T>
std::vector<std::vector<T>> summed(int ranks, std::size_t count, std::int64_t tensors, auto const& of) {
  std::vector<std::vector<T>> got(static_cast<std::size_t>(ranks));
  dist::local_group group(ranks);
  group.run([&](dist::local& rank) {
    std::vector<T> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(of(rank.rank(), i));
    dist::adaptive_sum(rank, std::span<T const>(x), std::span(x), tensors);
    got[static_cast<std::size_t>(rank.rank())] = x;
  });
  return got;
}

}  // namespace

TEST_CASE("adaptive sums of 1 to 7 ranks are the formula's") {
  int const ranks = GENERATE(1, 2, 3, 4, 5, 6, 7);
  std::int64_t const tensors = GENERATE(1, 3);
  std::size_t const each = GENERATE(std::size_t{1}, std::size_t{5}, std::size_t{1000});
  CAPTURE(ranks, tensors, each);
  std::size_t const count = each * static_cast<std::size_t>(tensors);
  auto const got = summed<double>(ranks, count, tensors, part_of);
  auto const floats = summed<float>(ranks, count, tensors, part_of);
  for (std::int64_t t = 0; t < tensors; ++t) {
    std::vector<vector> parts;
    for (int r = 0; r < ranks; ++r) {
      vector v;
      for (std::size_t i = 0; i < each; ++i) v.push_back(static_cast<double>(part_of(r, static_cast<std::size_t>(t) * each + i)));
      parts.push_back(v);
    }
    vector const wanted = reference_of(parts);
    for (std::size_t i = 0; i < each; ++i) {
      std::size_t const at = static_cast<std::size_t>(t) * each + i;
      REQUIRE(got[0][at] == Approx(wanted[i]).epsilon(1e-12).margin(1e-13));
      REQUIRE(static_cast<double>(floats[0][at]) == Approx(wanted[i]).epsilon(1e-5).margin(1e-6));
    }
  }
  for (auto const& of_rank : got) CHECK(of_rank == got[0]);
  for (auto const& of_rank : floats) CHECK(of_rank == floats[0]);
}

TEST_CASE("equal vectors are averaged, orthogonal ones added, and nothing added to one leaves it") {
  int const ranks = GENERATE(2, 3, 4, 7);
  CAPTURE(ranks);
  constexpr std::size_t count = 70;
  auto const equal = summed<float>(ranks, count, 1, [](int, std::size_t i) { return part_of(0, i); });
  auto const orthogonal = summed<float>(ranks, count, 1, [&](int r, std::size_t i) { return static_cast<int>(i) % ranks == r ? part_of(r, i) : 0.0f; });
  auto const alone = summed<float>(ranks, count, 1, [](int r, std::size_t i) { return r == 1 ? part_of(1, i) : 0.0f; });
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(equal[0][i] == Approx(part_of(0, i)).margin(1e-6));
    CHECK(orthogonal[0][i] == Approx(part_of(static_cast<int>(i) % ranks, i)).margin(1e-6));
    CHECK(alone[0][i] == Approx(part_of(1, i)).margin(1e-6));
  }
}

namespace {

struct layer {
  param<tensor<f32, 4, 4>, init::normal<1, 2>> w;
  constexpr auto operator()(auto const& x) const { return tanh(matmul(x, w)); }
};
struct net_of_layers {
  repeat<3, layer> body;
  param<tensor<f32, 4, 1>, init::normal<1, 2>> v;
};
constexpr auto loss = [](net_of_layers const& m, tensor<f32, 2, 4> x) {
  auto const y = matmul(m.body(x), m.v) - 1.0f;
  return mean(y * y);
};
template <class... Options>
using step = train_step<net_of_layers, loss, sgd, Options...>;

std::vector<float> batch(int first, int rows) {
  std::vector<float> x;
  for (int i = first * 4; i < (first + rows) * 4; ++i) x.push_back(static_cast<float>((i * 7) % 13) / 13.0f - 0.4f);
  return x;
}
// The parameters less what they were, after one step with a rate of 1: minus the gradient.
template <class Step, class Communicator>
std::vector<float> moved(Communicator& ranks, int shards = 1) {
  executor<Step, distributed<reference, Communicator>> run{seed(3), ranks};
  run.settings["learning_rate"] = 1;
  for (auto& group : run.settings.groups) group.decay = 0;
  auto const before = run.read();
  run(batch(ranks.rank() * 2 * shards, 2 * shards));
  auto after = run.read();
  for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
  return after;
}

}  // namespace

TEST_CASE("a step takes the adaptive sum of each tensor, also of each block of a repeat") {
  constexpr int ranks = 3;
  // What each rank would do alone.
  std::vector<std::vector<float>> alone(ranks), together(ranks), connected(ranks);
  for (int r = 0; r < ranks; ++r) {
    executor<step<>, reference> run{seed(3)};
    run.settings["learning_rate"] = 1;
    for (auto& group : run.settings.groups) group.decay = 0;
    auto const before = run.read();
    run(batch(r * 2, 2));
    auto after = run.read();
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    alone[static_cast<std::size_t>(r)] = after;
  }
  dist::local_group group(ranks);
  group.run([&](dist::local& rank) { together[static_cast<std::size_t>(rank.rank())] = moved<step<data_parallel<>, adasum>>(rank); });
  ::net::run(ranks, [&](::net::all& all) { connected[static_cast<std::size_t>(all.rank())] = moved<step<data_parallel<>, adasum>>(all); });
  for (int r = 0; r < ranks; ++r) {
    CHECK(together[static_cast<std::size_t>(r)] == together[0]);
    CHECK(connected[static_cast<std::size_t>(r)] == together[0]);
  }
  executor<step<>, reference> names{seed(3)};
  int tensors = 0;
  std::span<float const> const whole = names.elements();
  for (auto const& t : names.tensors()) {
    std::size_t const first = static_cast<std::size_t>(t.data.data() - whole.data());
    std::vector<vector> parts;
    for (auto const& of_rank : alone) parts.emplace_back(of_rank.begin() + static_cast<std::ptrdiff_t>(first), of_rank.begin() + static_cast<std::ptrdiff_t>(first + t.data.size()));
    vector const wanted = reference_of(parts);
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(static_cast<double>(together[0][first + i]) == Approx(wanted[i]).margin(2e-6));
    ++tensors;
  }
  CHECK(tensors == 4);  // each block by itself
}

TEST_CASE("with one rank an adaptive sum is that rank's mean over its shards") {
  dist::single alone;
  auto const plain = moved<step<virtual_shards<2>>>(alone, 2);
  auto const adaptive = moved<step<data_parallel<>, virtual_shards<2>, adasum>>(alone, 2);
  REQUIRE(plain.size() == adaptive.size());
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(adaptive[i] == Approx(plain[i]).margin(1e-7));
}
