// Fusion, told by the compiler: which kernels a graph becomes, and their types.
#include <tx/backends/reference.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/ops/abs.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

using namespace tx;

namespace {

using matrix = tensor<f32, 32, 64>;
using vector = tensor<f32, 64>;

// ---- a three-op expression: its gradient graph, and the type its kernel has -------------------------------------------

constexpr auto three_ops = [](matrix x, vector b) { return tanh(x + b) * x; };
using three = function<three_ops>::program<>;
static_assert(three::kernels.size() == 1 && three::calls.size() == 1);

using exec::access;
using exec::form;
using three_kernel = exec::fused<
    true, exec::ins<exec::in<dtype::f32, access::contiguous>, exec::in<dtype::f32, access::contiguous>>,
    exec::lets<exec::let<rules::add, dtype::f32, form::map, false, 0, 1>, exec::let<rules::tanh, dtype::f32, form::map, true, 2>,
               exec::let<rules::mul, dtype::f32, form::map, false, 3, 0>>,
    exec::outs<exec::out<4, dtype::f32, form::map, false>>>;
static_assert(std::is_same_v<exec::kernel_of<three, 0>, three_kernel>);

// d/dx sum(tanh(x)): one op of the forward pass is reused, the gradient is 1 - y^2.
struct one_weight {
  param<tensor<f32, 64>> w;
};
constexpr auto names_of_gradient = [] {
  graph g{};
  one_weight m{};
  bind_parameters(m, g);
  int const loss = var(sum(tanh(m.w))).id;
  vec<int> const d = gradients(g, loss, vec<int>{m.w.id});
  bounded_array<std::uint32_t, 16> ops{};
  for (int i = loss + 1; i <= d[0]; ++i)
    if (g[i].op->kind == op_kind::elementwise) ops.items[ops.count++] = g[i].op->key;
  return ops;
}();
static_assert(names_of_gradient.count == 3);
static_assert(names_of_gradient[0] == mul_info.key && names_of_gradient[1] == sub_info.key && names_of_gradient[2] == mul_info.key);

// ---- a normalisation that nobody foresaw ------------------------------------------------------------------------------

// Divides by the root of the mean square plus the largest magnitude; scales.
struct odd_norm {
  param<tensor<f32, 64>, init::ones> scale;
  constexpr auto operator()(auto const& x) const {
    auto const spread = sqrt(mean<-1>(x * x) + 1e-6) + max<-1>(abs(x)) * 0.1;
    return x / spread * scale;
  }
};
constexpr auto odd_forward = [](odd_norm const& m, matrix x) { return m(x); };
static_assert(function<odd_forward, odd_norm>::program<>::calls.size() == 1);

constexpr int kernels_of(graph const& recorded, bool fused = true) { return exec::compile(recorded, cpu_target, {fused}).calls.size(); }

constexpr int odd_gradient_kernels = [] {
  graph g{};
  odd_norm m{};
  bind_parameters(m, g);
  matrix x{&g, emit_leaf(g, parameter_info, matrix::info, attributes{{64, 1}}).id};
  matrix weight{&g, emit_leaf(g, input_info, matrix::info).id};
  int const loss = var(sum(m(x) * weight)).id;
  for (int d : gradients(g, loss, vec<int>{x.id, m.scale.id})) g.outputs.push_back({d});
  return kernels_of(g);
}();
static_assert(odd_gradient_kernels <= 2);

constexpr auto layer_norm_forward = [](matrix x, vector s, vector b) { return layer_norm(x, s, b); };
static_assert(function<layer_norm_forward>::program<>::calls.size() == 1);
constexpr auto softmax_forward = [](matrix x) { return softmax(x); };
static_assert(function<softmax_forward>::program<>::calls.size() == 1);

// ---- epilogues of products --------------------------------------------------------------------------------------------

struct layer {
  param<tensor<f32, 64, 64>> w;
  param<tensor<f32, 64>> b;
};
constexpr auto block = [](layer const& m, matrix x) { return layer_norm(x + gelu(matmul(x, m.w) + m.b), m.b, m.b); };
static_assert(function<block, layer>::program<>::calls.size() == 1);

// ---- whole steps ------------------------------------------------------------------------------------------------------

struct base {
  static constexpr int layers = 12, hidden = 768, heads = 12, ffn = 3072, vocabulary = 30522, positions = 512, types = 2;
};
constexpr auto bert_loss = [](auto const& m, tensor<i32, 8, 128> ids, tensor<i32, 8> y) { return cross_entropy(m(ids), y); };
using bert = train_step<nn::bert_classifier<base, 2>, bert_loss, adamw>;
using bert_unfused = train_step<nn::bert_classifier<base, 2>, bert_loss, adamw, compiled_with<compile_options{.fuse = false}>>;
static_assert(bert::program<>::calls.size() == 82);
static_assert(bert_unfused::program<>::calls.size() == 741);
static_assert(bert::memory.activations <= 700'000'000);
static_assert(bert::memory.arena * 100 <= bert::memory.largest_live * 105);

struct twin : nn::twinbert_config {
  static constexpr int layers = 2, hidden = 128, heads = 4, ffn = 512, vocabulary = 8000, query_words = 16, document_words = 64;
  using input = nn::wordpiece;
};
constexpr auto twin_loss = [](auto const& m, nn::query_ids<twin, 64> q, nn::document_ids<twin, 64> d) {
  return nn::in_batch_softmax_loss(m.query(q), m.document(d));
};
using twin_step = train_step<nn::twinbert<twin>, twin_loss, adamw, clip_gradient>;
using twin_unfused = train_step<nn::twinbert<twin>, twin_loss, adamw, clip_gradient, compiled_with<compile_options{.fuse = false}>>;
static_assert(twin_step::program<>::calls.size() == 128);
static_assert(twin_unfused::program<>::calls.size() == 621);
static_assert(twin_step::memory.arena * 100 <= twin_step::memory.largest_live * 105);

}  // namespace

TEST_CASE("kernels of a step, fused and not") {
  CHECK(bert::program<>::calls.size() * 5 < bert_unfused::program<>::calls.size());
  CHECK(twin_step::program<>::calls.size() * 4 < twin_unfused::program<>::calls.size());
}
