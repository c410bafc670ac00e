// Reordering: less is alive at once than in the order of recording, never more; results and updates are the same.
#include <tx/backends/reference.hpp>
#include <tx/nn/linear.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

constexpr compile_options as_recorded{.fuse = true, .reorder = false};

// Two wide values are recorded before either is needed; one at a time is enough.
struct branches {
  nn::linear<16, 1024> left, right;
  nn::linear<1024, 4> left_out, right_out;
};
using wide_input = tensor<f32, 64, 16>;
constexpr auto wide = [](branches const& m, tensor<f32, 4096, 16> x) {
  auto const left = m.left(x);
  auto const right = m.right(x);
  auto const value = m.left_out(left) + m.right_out(right);
  return sum(value * value);
};
template <compile_options O>
struct source {
  static constexpr exec::lowered lower(target const& to) {
    graph g{};
    trace<branches, wide>(g);
    return exec::compile(g, to, O);
  }
};
using reordered = exec::program<source<compile_options{}>, cpu_target>;
using recorded = exec::program<source<as_recorded>, cpu_target>;
static_assert(reordered::memory.largest_live < recorded::memory.largest_live * 2 / 3);
static_assert(reordered::memory.arena * 100 <= reordered::memory.largest_live * 105);

struct twin : nn::twinbert_config {
  static constexpr int layers = 2, hidden = 128, heads = 4, ffn = 512, vocabulary = 8000, query_words = 16, document_words = 64;
  using input = nn::wordpiece;
};
constexpr auto twin_loss = [](auto const& m, nn::query_ids<twin, 64> q, nn::document_ids<twin, 64> d) {
  return nn::in_batch_softmax_loss(m.query(q), m.document(d));
};
template <compile_options O>
using twin_step = train_step<nn::twinbert<twin>, twin_loss, adamw, clip_gradient, compiled_with<O>>;
static_assert(twin_step<compile_options{}>::memory.largest_live <= twin_step<as_recorded>::memory.largest_live);

// A result that reads a parameter nothing in the gradient waits for: it must be read before the update.
struct weighted {
  nn::linear<16, 4> used;
  param<tensor<f32, 64, 16>> shown;
};
struct loss_and_view {
  tensor<f32> loss;
  tensor<f32, 64, 16> shown;
};
constexpr auto with_view = [](weighted const& m, wide_input x) {
  auto const y = m.used(x * m.shown);
  return loss_and_view{sum(y * y), m.shown * 2.0f};
};
template <compile_options O>
using view_step = train_step<weighted, with_view, adamw, compiled_with<O>>;

template <class Step>
std::vector<float> history() {
  executor<Step, reference> run{seed(3)};
  std::vector<float> seen;
  std::vector<float> x(64 * 16);
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) / 13.0f + static_cast<float>(step);
    auto const r = run(x);
    seen.push_back(r.loss);
    for (float v : r.shown) seen.push_back(v);
  }
  return seen;
}

}  // namespace

TEST_CASE("another order changes no result") { CHECK(history<view_step<compile_options{}>>() == history<view_step<as_recorded>>()); }

TEST_CASE("the order chosen keeps less alive") {
  INFO("reordered " << reordered::memory.largest_live << " bytes, as recorded " << recorded::memory.largest_live);
  CHECK(reordered::memory.largest_live < recorded::memory.largest_live);
}
