// bench_plan: what the compiler has planned for a BERT-base step (8 x 128) and a two-tower step, fused and not. Nothing is run.
// bench_plan --target cuda [--device h100|h200]: kernels of a BERT-base step of 128 x 128 in bf16, planned for a device with cuBLASLt, and the time that
// they take there at least (tx/inspect/roofline.hpp): calls, milliseconds of all of them, TFLOP and GB of one, GB that it moves.
#include <tx/backends/cuda/kernel_cost.hpp>
#include <tx/inspect/roofline.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace {

constexpr tx::compile_options unfused{.fuse = false};

constexpr auto bert_loss = [](auto const& m, tx::tensor<tx::i32, 8, 128> ids, tx::tensor<tx::i32, 8> y) { return tx::cross_entropy(m(ids), y); };
template <class... Options>
using bert = tx::train_step<tx::nn::bert_classifier<tx::nn::bert_base, 2>, bert_loss, tx::adamw, Options...>;

struct config : tx::nn::twinbert_config {
  static constexpr int layers = 2, hidden = 128, heads = 4, ffn = 512, vocabulary = 8000, query_words = 16, document_words = 64;
  using input = tx::nn::wordpiece;
};
constexpr auto twin_loss = [](auto const& m, tx::nn::query_ids<config, 64> q, tx::nn::document_ids<config, 64> d) {
  return tx::nn::in_batch_softmax_loss(m.query(q), m.document(d));
};
template <class... Options>
using twin = tx::train_step<tx::nn::twinbert<config>, twin_loss, tx::adamw, tx::clip_gradient, Options...>;

// Calls that a step makes: those of a repeated block as often as it is repeated.
template <class Program>
int calls_of(int region) {
  int calls = 0;
  tx::exec::loop const& l = Program::loops[region];
  for (int i = l.first; i < l.first + l.count; ++i)
    calls += Program::instructions[i].kind == tx::exec::instruction_kind::call ? 1 : calls_of<Program>(Program::instructions[i].index);
  return calls * l.iterations;
}

template <class Step>
void show(char const* name) {
  constexpr tx::exec::memory_use m = Step::memory;
  using program = typename Step::template program<tx::cpu_target>;
  std::printf("%-30s %8d %8d %8d %8d %10.1f %10.1f %10.1f %6.3f\n", name, program::kernels.size(), program::calls.size(), calls_of<program>(0),
              static_cast<int>(program::loops.size()) - 1, static_cast<double>(m.activations) / 1e6, static_cast<double>(m.gradients) / 1e6,
              static_cast<double>(m.arena) / 1e6, static_cast<double>(m.arena) / static_cast<double>(m.largest_live));
}

constexpr auto device_loss = [](auto const& m, tx::tensor<tx::i32, 128, 128> ids, tx::tensor<tx::i32, 128> y) { return tx::cross_entropy(m(ids), y); };
using device_step = tx::train_step<tx::nn::bert_classifier<tx::nn::bert_base, 2>, device_loss, tx::adamw, tx::mixed<tx::bf16>>;

void show_on(tx::device_rates const& device) {
  auto all = tx::costs_of<device_step, tx::cuda_blas_target>(device);
  std::ranges::stable_sort(all, [](auto const& a, auto const& b) { return a.seconds() > b.seconds(); });
  std::printf("%6s %9s %9s %9s %9s  %s\n", "calls", "ms", "GFLOP", "MB", "moved MB", "");
  for (tx::kernel_cost const& k : all)
    std::printf("%6d %9.3f %9.1f %9.1f %9.1f  %.120s\n", static_cast<int>(k.runs), 1e3 * k.seconds(), 1e-9 * (k.matrix_flops + k.other_flops), 1e-6 * k.least_bytes, 1e-6 * k.moved_bytes, k.name.c_str());
  tx::run_cost const n = tx::total_of(all);
  std::printf("\n%s: %.1f ms, %d calls, %.2f TFLOP of which %.2f%% on units for matrices, %.1f GB moved, %.3f of what operands and results are\n", device.name, 1e3 * n.seconds, static_cast<int>(n.calls),
              1e-12 * (n.matrix_flops + n.other_flops), 100 * n.matrix_flops / (n.matrix_flops + n.other_flops), 1e-9 * n.moved_bytes, n.moved_bytes / n.least_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view target = "cpu", device = "h100";
  for (int i = 1; i + 1 < argc; i += 2) (std::string_view(argv[i]) == "--target" ? target : device) = argv[i + 1];
  if (target == "cuda") {
    show_on(device == "h200" ? tx::h200 : tx::h100);
    return 0;
  }
  std::printf("%-30s %8s %8s %8s %8s %10s %10s %10s %6s\n", "", "kernels", "calls", "run", "loops", "activ. MB", "grad. MB", "arena MB", "/live");
  show<bert<>>("BERT-base 8 x 128");
  show<bert<tx::compiled_with<unfused>>>("  unfused");
  show<twin<>>("two towers, 64 x (16 + 64)");
  show<twin<tx::compiled_with<unfused>>>("  unfused");
}
