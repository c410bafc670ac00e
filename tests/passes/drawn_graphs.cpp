// Thousands of drawn graphs and the steps of real models: every kernel reads its own rows, in an order that holds.
#include "verify_fusion.hpp"

#include <tx/autodiff/reverse.hpp>
#include <tx/exec/compile.hpp>
#include <tx/nn/bert.hpp>
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

#include <random>

namespace {

using namespace tx;

// Square matrices in two flat blocks, an argument, and values made of them; some of them replace the matrices.
graph drawn(unsigned seed) {
  constexpr int n = 4;
  std::mt19937 random(seed);
  auto const draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  graph g{};
  shape const square{2, {}, {n, n}};
  std::vector<var> v;
  for (int leaf = 0; leaf < 3; ++leaf) v.push_back(emit_leaf(g, block_info, {dtype::f32, square}, attributes{{leaf % 2, leaf / 2 * n * n}}));
  v.push_back(emit_leaf(g, input_info, {dtype::f32, square}, attributes{{0}}));
  int const values = 4 + draw(16);
  while (static_cast<int>(v.size()) < values + 4) {
    var const p = v[static_cast<std::size_t>(draw(static_cast<int>(v.size())))];
    var const q = v[v.size() - 1 - static_cast<std::size_t>(draw(4))];
    switch (draw(9)) {
      case 0: v.push_back(p + q); break;
      case 1: v.push_back(p * q); break;
      case 2: v.push_back(tanh(p) + q); break;
      case 3: v.push_back(transpose<1, 0>(p) - q); break;
      case 4: v.push_back(q + broadcast_to(sum<-1>(p), square)); break;
      case 5: v.push_back(q * broadcast_to(sum<0>(p), square)); break;
      case 6: v.push_back(matmul(p, q)); break;
      case 7: v.push_back(transpose<1, 0>(q)); break;
      default: v.push_back(q * broadcast_to(transpose<1, 0>(sum<-1>(p)), square)); break;
    }
  }
  g.outputs.push_back({v.back().id, output_kind::result, -1});
  for (std::size_t leaf = 0; leaf < 3; ++leaf)
    if (draw(2) == 0) g.outputs.push_back({v[static_cast<std::size_t>(draw(static_cast<int>(v.size())))].id, output_kind::assign, v[leaf].id});
  return g;
}

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

TEST_CASE("drawn graphs") {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    INFO("seed " << seed);
    REQUIRE_NOTHROW(verify_fusion_of(drawn(seed)));
  }
}

TEST_CASE("steps of models in which every extent is alike") {
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<nn::bert_classifier<small, 16>, bert_loss, adamw>>()));
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<nn::bert_classifier<small, 16>, bert_loss, adamw, clip_gradient>>()));
  using cosine = twin<nn::cosine>;
  using residual = twin<nn::residual>;
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<nn::twinbert<cosine>, twin_loss<cosine>, adamw, clip_gradient>>()));
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<nn::twinbert<residual>, twin_loss<residual>, adamw>>()));
  CHECK_NOTHROW(verify_fusion_of(recorded<train_step<repeated, carried, adamw>>()));
}
