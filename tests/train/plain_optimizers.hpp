// Optimizers as plain loops in f64: what those of tx are compared with. Each updates one tensor with its states, zero
// at first.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

using values = std::vector<double>;

struct plain_step {
  values& p;
  values const& g;
  std::vector<values>& s;
  double rate, decay;
  int t;  // from 1
};

template <class F>
void each_element(plain_step const& u, F f) {
  for (std::size_t i = 0; i < u.p.size(); ++i) f(i);
}

inline double length_of(values const& v) {
  double sum = 0;
  for (double x : v) sum += x * x;
  return std::sqrt(sum);
}

inline values plain_direction(plain_step const& u, values const& g, double b1, double b2, double eps) {
  values d(u.p.size());
  each_element(u, [&](std::size_t i) {
    u.s[0][i] = b1 * u.s[0][i] + (1 - b1) * g[i];
    u.s[1][i] = b2 * u.s[1][i] + (1 - b2) * g[i] * g[i];
    d[i] = u.s[0][i] / (1 - std::pow(b1, u.t)) / (std::sqrt(u.s[1][i] / (1 - std::pow(b2, u.t))) + eps);
  });
  return d;
}
inline values plain_decayed(plain_step const& u) {
  values g = u.g;
  each_element(u, [&](std::size_t i) { g[i] += u.decay * u.p[i]; });
  return g;
}

inline void plain_adamw(plain_step const& u) {
  values const d = plain_direction(u, u.g, 0.9, 0.999, 1e-8);
  each_element(u, [&](std::size_t i) { u.p[i] -= u.rate * (d[i] + u.decay * u.p[i]); });
}

inline void plain_adam(plain_step const& u, double b1 = 0.9, double b2 = 0.999, double eps = 1e-8) {
  values const d = plain_direction(u, plain_decayed(u), b1, b2, eps);
  each_element(u, [&](std::size_t i) { u.p[i] -= u.rate * d[i]; });
}

inline void plain_sgd(plain_step const& u, double momentum, bool nesterov) {
  values const g = plain_decayed(u);
  each_element(u, [&](std::size_t i) {
    double velocity = g[i];
    if (momentum > 0) velocity = u.s[0][i] = momentum * u.s[0][i] + g[i];
    u.p[i] -= u.rate * (nesterov ? g[i] + momentum * velocity : velocity);
  });
}

inline void plain_adagrad(plain_step const& u, double rate_decay, double start) {
  values const g = plain_decayed(u);
  each_element(u, [&](std::size_t i) {
    u.s[0][i] += g[i] * g[i];
    u.p[i] -= u.rate / (1 + rate_decay * (u.t - 1)) * g[i] / (std::sqrt(start + u.s[0][i]) + 1e-10);
  });
}

// States: mean of squares, velocity, mean.
inline void plain_rmsprop(plain_step const& u, double alpha, double momentum, bool centered) {
  values const g = plain_decayed(u);
  each_element(u, [&](std::size_t i) {
    u.s[0][i] = alpha * u.s[0][i] + (1 - alpha) * g[i] * g[i];
    u.s[2][i] = alpha * u.s[2][i] + (1 - alpha) * g[i];
    double const spread = u.s[0][i] - (centered ? u.s[2][i] * u.s[2][i] : 0);
    u.s[1][i] = momentum * u.s[1][i] + g[i] / (std::sqrt(spread) + 1e-8);
    u.p[i] -= u.rate * u.s[1][i];
  });
}

inline void plain_lamb_with(plain_step const& u, bool always_adapt, double beta1 = 0.9) {
  values d = plain_direction(u, u.g, beta1, 0.999, 1e-6);
  each_element(u, [&](std::size_t i) { d[i] += u.decay * u.p[i]; });
  double const from = length_of(u.p);
  double const step = length_of(d);
  double const trust = from > 0 && step > 0 && (always_adapt || u.decay > 0) ? from / step : 1;
  each_element(u, [&](std::size_t i) { u.p[i] -= u.rate * trust * d[i]; });
}
inline void plain_lamb(plain_step const& u) { plain_lamb_with(u, true); }

inline void plain_lion(plain_step const& u, double b1, double b2) {
  each_element(u, [&](std::size_t i) {
    double const c = b1 * u.s[0][i] + (1 - b1) * u.g[i];
    u.s[0][i] = b2 * u.s[0][i] + (1 - b2) * u.g[i];
    u.p[i] -= u.rate * ((c > 0) - (c < 0) + u.decay * u.p[i]);
  });
}

inline void plain_novograd(plain_step const& u) {
  double const square = length_of(u.g) * length_of(u.g);
  each_element(u, [&](std::size_t i) {
    u.s[1][i] = u.t == 1 ? square : 0.98 * u.s[1][i] + 0.02 * square;
    u.s[0][i] = 0.95 * u.s[0][i] + u.g[i] / (std::sqrt(u.s[1][i]) + 1e-8) + u.decay * u.p[i];
    u.p[i] -= u.rate * u.s[0][i];
  });
}

// Of a matrix of so many rows; 0: of a vector or a number.
struct plain_adafactor {
  std::size_t rows = 0;
  double beta1 = 0;
  bool relative = true;
  double clip = 1;

  // Shazeer and Stern, algorithms 4 and 5, with means where they have sums. States: rows' means, columns', steps'.
  void operator()(plain_step const& u) const {
    std::size_t const n = u.p.size(), cols = rows > 0 ? n / rows : 1;
    double const beta2 = 1 - std::pow(u.t, -0.8);
    auto const mean_of = [&](std::size_t first, std::size_t apart, std::size_t count) {
      double sum = 0;
      for (std::size_t i = 0; i < count; ++i) sum += u.g[first + i * apart] * u.g[first + i * apart] + 1e-30;
      return sum / static_cast<double>(count);
    };
    auto const move = [&](double& mean, double to) { mean = beta2 * mean + (1 - beta2) * to; };
    auto const rms = [](values const& v) { return length_of(v) / std::sqrt(static_cast<double>(v.size())); };
    values v(n);
    if (rows > 0) {
      double sum = 0;
      for (std::size_t r = 0; r < rows; ++r) move(u.s[0][r], mean_of(r * cols, 1, cols)), sum += u.s[0][r];
      for (std::size_t c = 0; c < cols; ++c) move(u.s[1][c], mean_of(c, cols, rows));
      for (std::size_t i = 0; i < n; ++i) v[i] = u.s[0][i / cols] * u.s[1][i % cols] / (sum / static_cast<double>(rows));
    } else {
      for (std::size_t i = 0; i < n; ++i) move(u.s[0][i], mean_of(i, 1, 1)), v[i] = u.s[0][i];
    }
    values d(n);
    for (std::size_t i = 0; i < n; ++i) d[i] = u.g[i] / std::sqrt(v[i]);
    double const over = std::max(1.0, rms(d) / clip);
    double const alpha = relative ? std::max(1e-3, rms(u.p)) * std::min(u.rate, 1 / std::sqrt(u.t)) : u.rate;
    each_element(u, [&](std::size_t i) {
      double step = alpha * d[i] / over;
      if (beta1 > 0) step = u.s[2][i] = beta1 * u.s[2][i] + (1 - beta1) * step;
      u.p[i] -= step + u.rate * u.decay * u.p[i];
    });
  }
};
