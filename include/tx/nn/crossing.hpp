// cosine, residual: TwinBERT's crossing layers, how well two texts match as the logit of a probability:
// query [batch, hidden], document [batch, hidden] -> [batch]
#pragma once

#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/normalize.hpp>

namespace tx::nn {

// Logistic regression over the cosine. Documents can be indexed by their vectors alone.
struct cosine {
  struct slope {  // where the slope starts: logits then span +-5
    static double value(double, double, std::int64_t) { return 5.0; }
  };
  template <int H>
  struct type {
    param<tensor<f32, 1>, slope, not_decayed> weight;
    param<tensor<f32, 1>, init::zeros, not_decayed> bias;

    template <typed_handle Q, typed_handle D>
    constexpr auto operator()(Q const& query, D const& document) const {
      return reshape<Q::dims[0]>(cosine_similarity(query, document)) * weight + bias;
    }
  };
};

// x = max(query, document), then linear(F(x) + x) with F of two layers.
struct residual {
  template <int H>
  struct type {
    linear<H, H> inner;
    linear<H, H> outer;
    linear<H, 1> classifier;

    template <typed_handle Q, typed_handle D>
    constexpr auto operator()(Q const& query, D const& document) const {
      auto const x = maximum(query, document);
      return reshape<Q::dims[0]>(classifier(outer(gelu(inner(x))) + x));
    }
  };
};

}  // namespace tx::nn
