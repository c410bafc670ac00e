// The steps of real models: every kernel reads its own rows, in an order that holds. So it is checked of drawn programs, tests/drawn.
#include "verify_fusion.hpp"

#include <tx/nn/sequence_classifier.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

struct small {
  static constexpr int layers = 3, hidden = 16, heads = 2, ffn = 16, vocabulary = 20, positions = 16, types = 2;
};
constexpr auto bert_loss = [](auto const& m, tensor<i32, 16, 16> ids, tensor<i32, 16> y) { return cross_entropy(m(ids), y); };

template <class Crossing>
struct twin : nn::twinbert_config {
  static constexpr int layers = 2, hidden = 16, heads = 2, ffn = 16, vocabulary = 20, query_words = 16, document_words = 16;
  using input = nn::wordpiece;
  using crossing = Crossing;
};
template <class C>
constexpr auto twin_loss = [](auto const& m, nn::query_ids<C, 16> q, nn::document_ids<C, 16> d, tensor<f32, 16> y) {
  return nn::logistic_loss(m(q, d), y);
};

// The gradient of what all iterations read is carried, and the body reads it transposed.
struct turned {
  param<tensor<f32, 8, 8>> w;
  constexpr auto operator()(auto const& x, auto const& s) const { return x * 0.5f + transpose<1, 0>(s) * w; }
};
struct repeated {
  param<tensor<f32, 8, 8>> a, b;
  repeat<3, turned> body;
};
constexpr auto carried = [](repeated const& m, tensor<f32, 8, 8> x) { return sum(m.body(m.a * x, tanh(m.b)) * x); };

template <class Step>
graph recorded() {
  graph g{};
  Step::record(g);
  return g;
}

}  // namespace

TEST_CASE("steps of models in which every extent is alike") {
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<nn::bert_classifier<small, 16>, bert_loss, adamw>>()));
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<nn::bert_classifier<small, 16>, bert_loss, adamw, clip_gradient>>()));
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<nn::bert_classifier<small, 16>, bert_loss, adamw, mixed<f16>, loss_scale, accumulate<2>>>()));
  using cosine = twin<nn::cosine>;
  using residual = twin<nn::residual>;
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<nn::twinbert<cosine>, twin_loss<cosine>, adamw, clip_gradient>>()));
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<nn::twinbert<residual>, twin_loss<residual>, adamw>>()));
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<repeated, carried, adamw>>()));
}
