// Attention of packed texts to keys apart, and its gradients, in plain loops of doubles: what kernels and products are compared with.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace packed_cross {

using numbers = std::vector<double>;
using lengths = std::vector<std::size_t>;

// Where texts begin, and the last one ends, behind `before` tokens.
inline std::vector<int> offsets_of(lengths const& of, int before) {
  std::vector<int> all(1, before);
  for (std::size_t n : of) all.push_back(all.back() + static_cast<int>(n));
  return all;
}

// A bias [texts, heads, queries, keys]: its extents, of which some are 1.
struct bias_extents {
  std::size_t of[4];

  std::size_t count() const { return of[0] * of[1] * of[2] * of[3]; }
  std::size_t at(std::size_t t, std::size_t h, std::size_t i, std::size_t j) const {
    auto const along = [&](int axis, std::size_t k) { return of[axis] == 1 ? 0 : k; };
    return ((along(0, t) * of[1] + along(1, h)) * of[2] + along(2, i)) * of[3] + along(3, j);
  }
};

struct problem {
  std::size_t heads, key_heads, head;
  std::vector<int> queries, keys;  // offsets
  bias_extents bias_of;
  numbers q, k, v, bias, weight;  // weight: the gradient of what is mixed
};
struct answer {
  numbers mixed, d_q, d_k, d_v, d_bias;
};

// Of tokens that no text has, and of queries whose text has no key, all is 0.
inline answer solved(problem const& p) {
  answer r{numbers(p.q.size()), numbers(p.q.size()), numbers(p.k.size()), numbers(p.k.size()), numbers(p.bias.size())};
  double const scale = 1 / std::sqrt(static_cast<double>(p.head));
  for (std::size_t t = 0; t + 1 < p.queries.size(); ++t)
    for (std::size_t h = 0; h < p.heads; ++h) {
      auto const first = static_cast<std::size_t>(p.queries[t]), end = static_cast<std::size_t>(p.queries[t + 1]);
      auto const first_key = static_cast<std::size_t>(p.keys[t]), keys = static_cast<std::size_t>(p.keys[t + 1]) - first_key;
      for (std::size_t n = first; n < end; ++n) {
        std::size_t const of_query = (n * p.heads + h) * p.head;
        auto const key = [&](std::size_t j) { return ((first_key + j) * p.key_heads + h / (p.heads / p.key_heads)) * p.head; };
        numbers probability(keys), slope(keys);
        double sum = 0, inner = 0;
        for (std::size_t j = 0; j < keys; ++j) {
          double score = p.bias.empty() ? 0 : p.bias[p.bias_of.at(t, h, n - first, j)];
          for (std::size_t d = 0; d < p.head; ++d) score += scale * p.q[of_query + d] * p.k[key(j) + d];
          sum += probability[j] = std::exp(score);
        }
        for (std::size_t j = 0; j < keys; ++j) {
          probability[j] /= sum;
          for (std::size_t d = 0; d < p.head; ++d) {
            double const x = p.v[key(j) + d], dx = p.weight[of_query + d];
            r.mixed[of_query + d] += probability[j] * x;
            r.d_v[key(j) + d] += probability[j] * dx;
            slope[j] += x * dx;
          }
          inner += probability[j] * slope[j];
        }
        for (std::size_t j = 0; j < keys; ++j) {
          double const of_score = probability[j] * (slope[j] - inner);
          if (!p.bias.empty()) r.d_bias[p.bias_of.at(t, h, n - first, j)] += of_score;
          for (std::size_t d = 0; d < p.head; ++d) {
            r.d_q[of_query + d] += scale * of_score * p.k[key(j) + d];
            r.d_k[key(j) + d] += scale * of_score * p.q[of_query + d];
          }
        }
      }
    }
  return r;
}

}  // namespace packed_cross
