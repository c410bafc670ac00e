#include <tx/dist/tree_sum.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using values = std::vector<float>;

namespace {

// Sums of these depend on the order of the additions.
values part(int k, std::size_t count) {
  values v(count);
  for (std::size_t i = 0; i < count; ++i)
    v[i] = std::sin(static_cast<float>(i + 1) * 0.37f) *
           std::pow(10.0f, static_cast<float>((k * 5 + static_cast<int>(i)) % 7));
  return v;
}

}  // namespace

TEST_CASE("parts of a rank are a part of the tree") {
  std::size_t const count = 700;
  for (int ranks : {2, 3, 4}) {
    std::vector<values> parts;
    for (int k = 0; k < 2 * ranks; ++k) parts.push_back(part(k, count));
    values at_once(count), pairs(count);
    auto add = [&](std::vector<values> const& v, values& to) {
      tx::dist::tree_sum<float>(
          [&](int k) { return v[static_cast<std::size_t>(k)].data(); }, static_cast<int>(v.size()), 0, count,
          [&](std::int64_t at, int n, float const* sum) { std::copy(sum, sum + n, to.begin() + at); });
    };
    add(parts, at_once);
    std::vector<values> sums;
    for (int r = 0; r < ranks; ++r) {
      sums.emplace_back(count);
      add({parts[static_cast<std::size_t>(2 * r)], parts[static_cast<std::size_t>(2 * r + 1)]}, sums.back());
    }
    add(sums, pairs);
    CHECK(at_once == pairs);
  }
}
