// Adaptive sums on devices, which the interpreter runs: the formula in f64, and steps that train as ranks of hosts do.
#include "devices.hpp"

#include <tx/dist/adasum.hpp>
#include <tx/train/sgd.hpp>

#include <cmath>

using namespace divided;

namespace {

using numbers_of_rank = std::vector<double>;

numbers_of_rank combined(numbers_of_rank const& a, numbers_of_rank const& b, std::size_t each) {
  numbers_of_rank out(a.size());
  for (std::size_t t = 0; t < a.size(); t += each) {
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = t; i < t + each; ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
    for (std::size_t i = t; i < t + each; ++i) out[i] = (aa > 0 ? 1 - ab / (2 * aa) : 1) * a[i] + (bb > 0 ? 1 - ab / (2 * bb) : 1) * b[i];
  }
  return out;
}
numbers_of_rank by_formula(std::vector<numbers_of_rank> all, std::size_t each) {
  while (all.size() > 1) {  // neighbours first
    std::vector<numbers_of_rank> next;
    for (std::size_t k = 0; k < all.size(); k += 2) next.push_back(k + 1 < all.size() ? combined(all[k], all[k + 1], each) : all[k]);
    all = next;
  }
  return all[0];
}
double number(int rank, std::size_t i) { return std::sin(0.7 * static_cast<double>((i + 1) * static_cast<std::size_t>(rank + 2))) + (i % 3 == 0 ? 0.5 : 0); }

// The greatest distance from the formula, of so many tensors; 9 where ranks differ.
template <class T>
double furthest(int ranks, std::size_t each, std::size_t tensors) {
  std::vector<numbers_of_rank> brought(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < each * tensors; ++i) brought[static_cast<std::size_t>(r)].push_back(static_cast<double>(static_cast<T>(number(r, i))));
  auto const got = on_devices(ranks, {.room = 1 << 20}, [&](auto& all) {
    std::vector<T> x, y(each * tensors);
    for (double const v : brought[static_cast<std::size_t>(all.rank())]) x.push_back(static_cast<T>(v));
    dist::adaptive_sum(all, std::span<T const>(x), std::span(y), static_cast<std::int64_t>(tensors));
    dist::adaptive_sum(all, std::span<T const>(x), std::span(x), static_cast<std::int64_t>(tensors));  // in place
    return x == y ? x : std::vector<T>(x.size(), T{9});
  });
  auto const wanted = by_formula(brought, each);
  double far = 0;
  for (auto const& of_rank : got) {
    if (of_rank != got[0]) return 9;
    for (std::size_t i = 0; i < wanted.size(); ++i) far = std::max(far, std::abs(static_cast<double>(of_rank[i]) - wanted[i]));
  }
  return far;
}
template <class... Options>
using adaptive = train_step<net<float>, loss<float>, sgd, data_parallel<>, adasum, Options...>;

}  // namespace

TEST_CASE("adaptive sums of one to seven devices are the formula's, of several tensors each by itself") {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    CAPTURE(ranks);
    CHECK(furthest<float>(ranks, 1, 1) < 1e-6);
    CHECK(furthest<float>(ranks, 37, 5) < 1e-6);
    CHECK(furthest<double>(ranks, 211, 3) < 1e-13);
  }
  CHECK(furthest<float>(2, 70'001, 1) < 1e-6);  // of several slices
}

TEST_CASE("equal vectors on devices are averaged, orthogonal ones added, and nothing is no number") {
  auto const sums = on_devices(4, {.room = 1 << 20}, [](auto& all) {
    std::vector<float> equal(40, 1.5f), orthogonal(40), nothing(40);
    for (std::size_t i = 0; i < 10; ++i) orthogonal[10 * static_cast<std::size_t>(all.rank()) + i] = 2;
    for (auto* const x : {&equal, &orthogonal, &nothing}) dist::adaptive_sum(all, std::span<float const>(*x), std::span(*x), 1);
    return std::array{equal, orthogonal, nothing};
  });
  for (auto const& [equal, orthogonal, nothing] : sums) {
    CHECK(equal == std::vector<float>(40, 1.5f));
    CHECK(orthogonal == std::vector<float>(40, 2));
    CHECK(nothing == std::vector<float>(40));
  }
}

TEST_CASE("a step takes the adaptive sums of devices as those of hosts, and says where there is no room for one") {
  auto const hosts = trained_on<adaptive<>>(3);
  auto const devices = on_devices(3, {.room = 1 << 20}, [](auto& all) { return trained_by<adaptive<>, interpreted>(all); });
  for (auto const& of_rank : devices) {
    REQUIRE(of_rank.blocks[0].size() == hosts[0].blocks[0].size());
    CHECK(of_rank.blocks == devices[0].blocks);
    for (std::size_t i = 0; i < hosts[0].blocks[0].size(); ++i) REQUIRE(of_rank.blocks[0][i] == Approx(hosts[0].blocks[0][i]).margin(1e-5));
  }
  auto const too_large = on_devices(3, {.room = 3 * 8 * 1024}, [](auto& all) -> std::string {
    std::vector<float> x(10'000);
    try {
      dist::adaptive_sum(all, std::span<float const>(x), std::span(x), 1);
    } catch (dist::rank_error const& e) {
      return e.what();
    }
    return "";
  });
  for (auto const& said : too_large) CHECK_THAT(said, Catch::Contains("adaptive_sum on rank") && Catch::Contains("device_ranks_options::room"));
}
