// bench_plan: what the compiler has planned for a BERT-base step (8 x 128) and a two-tower step, fused and not. Nothing is run.
#include <tx/nn/sequence_classifier.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <cstdio>

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

}  // namespace

int main() {
  std::printf("%-30s %8s %8s %8s %8s %10s %10s %10s %6s\n", "", "kernels", "calls", "run", "loops", "activ. MB", "grad. MB", "arena MB", "/live");
  show<bert<>>("BERT-base 8 x 128");
  show<bert<tx::compiled_with<unfused>>>("  unfused");
  show<twin<>>("two towers, 64 x (16 + 64)");
  show<twin<tx::compiled_with<unfused>>>("  unfused");
}
