// What a model may be trained for; a model header picks one as `training::loss`.
#pragma once

#include <tx/nn/losses.hpp>
#include <tx/ops/sigmoid.hpp>

namespace twinbert {

// Each query finds its own document among all of the batch, and each document its query; Scale sharpens the choice. The
// score is the cosine.
template <int Scale>
struct in_batch_softmax {
  static constexpr char const* name = "in-batch softmax";
  static constexpr bool labelled = false;  // only pairs that match are trained on

  static constexpr auto of(auto const&, auto const& queries, auto const& documents, auto const&) {
    return (tx::nn::in_batch_softmax_loss<Scale>(queries, documents) +
            tx::nn::in_batch_softmax_loss<Scale>(documents, queries)) *
           0.5;
  }
  static constexpr auto score(auto const&, auto const& queries, auto const& documents) {
    return tx::reshape<std::remove_cvref_t<decltype(queries)>::dims[0]>(tx::cosine_similarity(queries, documents));
  }
};

// Pairs with labels, which may be a teacher's probabilities. The score is the probability that a pair matches.
struct logistic {
  static constexpr char const* name = "logistic";
  static constexpr bool labelled = true;

  static constexpr auto of(auto const& model, auto const& queries, auto const& documents, auto const& labels) {
    return tx::nn::logistic_loss(model.crossing(queries, documents), labels);
  }
  static constexpr auto score(auto const& model, auto const& queries, auto const& documents) {
    return tx::sigmoid(model.crossing(queries, documents));
  }
};

}  // namespace twinbert
