// adaptive_sum: what ranks bring, added so that what they agree in counts once and what they do not counts whole (Adasum: Maleki et al., arXiv 2006.02924).
//
//   of two   a (1 - a.b / (2 a.a)) + b (1 - a.b / (2 b.b))     a + b where they are orthogonal, their mean where they are equal
//   of more  of the results of both halves, in the tree of tree_sum.hpp; any number of ranks
//
// Each rank has a part of the elements and combines those of all; what it needs of the whole, three inner products of each tensor and pair, are sums over
// ranks, in f64. So the bytes that travel are those of all_reduce and a few.
#pragma once

#include <tx/dist/communicator.hpp>
#include <tx/dist/tree_sum.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tx::dist {

namespace detail {

// The share of a vector that stays, of one with this inner product with the other and with itself.
inline double adaptive_share(double with_other, double with_itself) { return with_itself > 0 ? 1 - with_other / (2 * with_itself) : 1; }

template <class T, class Communicator>
void adaptive_sum_on_hosts(Communicator& ranks, std::span<T const> from, std::span<T> to, std::int64_t tensors) {
  static_assert(!requires { typename Communicator::backend; }, "tx::dist::adaptive_sum: it adds up in the host's memory, which this communicator does not reach. FIX: tx::dist::device_ranks, nccl or rccl, of all devices");
  auto const size = static_cast<std::int64_t>(ranks.size()), count = static_cast<std::int64_t>(from.size());
  if (from.size() != to.size()) throw rank_error("adaptive_sum: from and to differ in length");
  if (size == 1 || count == 0) return ranks.all_reduce(from, to);
  std::int64_t const each = (count + size - 1) / size, first = each * ranks.rank(), own = std::clamp<std::int64_t>(count - first, 0, each), of_tensor = count / tensors;
  std::vector<T> all(static_cast<std::size_t>(each * size)), parts(all.size());
  std::copy(from.begin(), from.end(), all.begin());
  ranks.all_to_all(std::span<T const>(all), std::span(parts));  // this rank's part of the elements of each

  for (std::int64_t rows_apart = 1; rows_apart < size; rows_apart *= 2) {
    std::int64_t const pairs = (size - rows_apart + 2 * rows_apart - 1) / (2 * rows_apart);  // the last rank may have nobody beside it
    std::vector<double> products(static_cast<std::size_t>(pairs * tensors * 3));
    auto const for_each = [&](auto const& f) {  // f(left, right, its products) for each element here
      for (std::int64_t p = 0; p < pairs; ++p) {
        T* const left = parts.data() + 2 * rows_apart * p * each;
        for (std::int64_t i = 0; i < own; ++i) f(left[i], left[i + rows_apart * each], products.data() + (p * tensors + (first + i) / of_tensor) * 3);
      }
    };
    for_each([](T const& a, T const& b, double* s) {
      auto const x = static_cast<double>(widened(a)), y = static_cast<double>(widened(b));
      s[0] += x * y, s[1] += x * x, s[2] += y * y;
    });
    ranks.all_reduce(std::span<double const>(products), std::span(products));
    for_each([](T& a, T const& b, double const* s) {
      double const sum = adaptive_share(s[0], s[1]) * static_cast<double>(widened(a)) + adaptive_share(s[0], s[2]) * static_cast<double>(widened(b));
      a = rounded<T>(static_cast<sum_type<T>>(sum));
    });
  }
  ranks.all_gather(std::span<T const>(parts).first(static_cast<std::size_t>(each)), std::span(all));
  std::copy_n(all.begin(), count, to.begin());
}

}  // namespace detail

// from, to: `tensors` of equal length, one behind the other. `from` may be `to`. A communicator of devices has its own way.
template <class T, class Communicator>
void adaptive_sum(Communicator& ranks, std::span<T const> from, std::span<T> to, std::int64_t tensors) {
  if constexpr (requires { ranks.adaptive_sum(from, to, tensors); }) return ranks.adaptive_sum(from, to, tensors);
  else return detail::adaptive_sum_on_hosts(ranks, from, to, tensors);
}

}  // namespace tx::dist
