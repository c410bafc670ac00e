// A model of every kind of parameter (in repeated blocks, vectors, a scalar, one that no loss depends on), and its
// gradient by hand.
#pragma once

#include "plain_optimizers.hpp"

#include <tx/expr/repeat.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/mul.hpp>

#include <string>

namespace small {

constexpr int blocks = 3, width = 5, rows = 4;

struct quick {
  static constexpr float rate = 4.0f;
  static constexpr float decay = 0.25f;
};
template <class T>
struct layer {
  tx::param<tx::tensor<T, width, width>, tx::init::uniform<1, 2>> mix;
  tx::param<tx::tensor<T, width>, tx::init::ones, tx::not_decayed> scale;
  constexpr auto operator()(auto const& h) const { return h + tx::matmul(h, mix) * scale; }
};
template <class T, tx::peel Peel = tx::peel::none>
struct net {
  tx::repeat<blocks, layer<T>, Peel> layers;
  tx::param<tx::tensor<T, width>, tx::init::zeros, quick> shift;
  tx::param<tx::tensor<T>, tx::init::ones, tx::not_decayed> gain;
  tx::param<tx::tensor<T, 7, 3>, tx::init::ones> unused;
};
template <class T, tx::peel Peel = tx::peel::none, int Rows = rows>
constexpr auto loss = [](net<T, Peel> const& m, tx::tensor<T, Rows, width> x) {
  auto const z = m.layers(x) * m.gain + m.shift;
  return tx::mean(z * z);
};

// Tensors in the order of the model's; their groups' factors of the rate, and decays.
struct plain_net {
  std::vector<values> tensors;
  static std::size_t mix(std::size_t k) { return 2 * k; }
  static std::size_t scale(std::size_t k) { return 2 * k + 1; }
  static constexpr std::size_t shift = 2 * blocks, gain = shift + 1, unused = shift + 2;

  static double rate_of(std::size_t k) { return k == shift ? 4 : 1; }
  static double decay_of(std::size_t k) {
    if (k == shift) return 0.25;
    return k == unused || (k < shift && k % 2 == 0) ? static_cast<double>(0.01f) : 0;
  }

  // The loss; gradients of all tensors.
  double loss(values const& x, std::vector<values>& gradients) const {
    std::size_t const n = x.size();
    std::vector<values> h{x}, u;
    for (std::size_t k = 0; k < blocks; ++k) {
      u.emplace_back(n);
      h.push_back(h.back());
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < width; ++j)
          u[k][i] += h[k][i / width * width + j] * tensors[mix(k)][j * width + i % width];
        h[k + 1][i] += u[k][i] * tensors[scale(k)][i % width];
      }
    }
    gradients.clear();
    for (values const& t : tensors) gradients.emplace_back(t.size());
    double sum = 0;
    values d(n);
    for (std::size_t i = 0; i < n; ++i) {
      double const z = h[blocks][i] * tensors[gain][0] + tensors[shift][i % width];
      double const dz = 2 * z / static_cast<double>(n);
      sum += z * z;
      gradients[shift][i % width] += dz;
      gradients[gain][0] += dz * h[blocks][i];
      d[i] = dz * tensors[gain][0];
    }
    for (std::size_t k = blocks; k-- > 0;) {
      values du(n);
      for (std::size_t i = 0; i < n; ++i) {
        gradients[scale(k)][i % width] += d[i] * u[k][i];
        du[i] = d[i] * tensors[scale(k)][i % width];
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < width; ++j) {
          gradients[mix(k)][j * width + i % width] += h[k][i / width * width + j] * du[i];
          d[i / width * width + j] += du[i] * tensors[mix(k)][j * width + i % width];
        }
    }
    return sum / static_cast<double>(n);
  }
};

template <class T>
std::vector<T> batch(int step) {
  std::vector<T> x(rows * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(std::sin(1.7 * static_cast<double>(i) + step));
  return x;
}

}  // namespace small
