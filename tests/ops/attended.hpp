// Attention in plain loops, a query after the other: what the op is compared with.
#pragma once

#include "arrays.hpp"

#include <tx/ops/attention_facts.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

// What one packed text has of [texts, heads, longest, longest keys], or ones: a bias, or numbers drawn for its scores.
inline array scores_of_text(array const& all, int text, int queries, int keys) {
  array one = filled(make_dims({1, all.dims.dim[1], std::min(all.dims.dim[2], queries), std::min(all.dims.dim[3], keys)}));
  for (int h = 0; h < one.dims.dim[1]; ++h)
    for (int i = 0; i < one.dims.dim[2]; ++i)
      for (int j = 0; j < one.dims.dim[3]; ++j)
        one.v[element_at(one.dims, {0, h, i, j})] = all.v[element_at(all.dims, {all.dims.dim[0] == 1 ? 0 : text, h, i, j})];
  return one;
}

// softmax(scale q k^T) v. in: q, k, v, then what `f` says; `rate` of the probabilities is dropped.
inline array attended(std::vector<array> const& in, tx::attention_facts const& f, double rate) {
  array const &q = in[0], &k = in[1], &v = in[2];
  array const* const mask = f.mask ? &in[3] : nullptr;
  array const* const bias = f.bias ? &in[static_cast<std::size_t>(3 + f.mask)] : nullptr;
  array const* const noise = f.dropout ? &in[static_cast<std::size_t>(3 + f.mask + f.bias)] : nullptr;
  int const of_query = q.dims.dim[2] / f.heads, places = q.dims.dim[1], others = k.dims.dim[1];
  array out = filled(q.dims);
  for (int t = 0; t < q.dims.dim[0]; ++t)
    for (int h = 0; h < f.heads; ++h)
      for (int i = 0; i < places; ++i) {
        int const shared = h * f.key_heads / f.heads;
        auto const at = [&](array const& a, int place, int of, int d) { return a.v[element_at(a.dims, {t, place, of * of_query + d})]; };
        values score;
        for (int j = 0; j < others; ++j) {
          double s = 0;
          for (int d = 0; d < of_query; ++d) s += at(q, i, h, d) * at(k, j, shared, d);
          s *= f.scale;
          if (bias != nullptr) s += bias->v[element_at(bias->dims, {t, h, i, j})];
          bool seen = !f.causal || j <= i + f.first;
          if (f.window != 0 && std::abs(j - i - f.first) >= f.window) seen = false;
          if (mask != nullptr && mask->v[element_at(mask->dims, {t, j})] == 0) seen = false;
          score.push_back(seen ? s : -1e30);
        }
        double const most = *std::max_element(score.begin(), score.end());
        double sum = 0;
        for (double& s : score) sum += s = std::exp(s - most);
        for (int j = 0; j < others; ++j) {
          double weight = score[static_cast<std::size_t>(j)] / sum;
          if (noise != nullptr) weight = noise->v[element_at(noise->dims, {t, h, i, j})] < rate ? 0 : weight / (1 - rate);
          for (int d = 0; d < of_query; ++d) out.v[element_at(out.dims, {t, i, h * of_query + d})] += weight * at(v, j, shared, d);
        }
      }
  return out;
}

// Random numbers of dropout, none so near the rate that rounding decides.
inline array noise_beside(double rate, number_source& numbers, tx::shape const& of_scores) {
  array noise = numbers.spread(of_scores, 0, 1);
  noise.type = tx::dtype::f32;
  for (double& u : noise.v) u = std::abs(u - rate) < 0.01 ? 0.25 : u;
  return noise;
}
