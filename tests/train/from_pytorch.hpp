// Compiled training steps from weights of tests/parity/data, whose files are described in tests/parity, and how far from PyTorch's losses
// those of a TwinBERT are.
#pragma once

#include <tx/backends/cpu.hpp>
#include <tx/io/parameters.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include "../furthest.hpp"

#include <catch2/catch.hpp>

namespace {

std::string data(std::string const& name) { return TX_TEST_DIR "/../parity/data/" + name + ".safetensors"; }

template <class T>
std::vector<T> numbers(tx::io::safetensors const& file, std::string const& name) {
  tx::io::tensor_info const* const t = file.find(name);
  REQUIRE(t != nullptr);
  REQUIRE(t->type == tx::dtype_v<T>);
  std::vector<T> v(t->bytes.size() / sizeof(T));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}

template <class Crossing>
struct tiny_twin : tx::nn::twinbert_config {
  static constexpr int layers = 2, hidden = 32, heads = 4, ffn = 64, vocabulary = 200, query_words = 6, document_words = 12;
  using input = tx::nn::wordpiece;
  using crossing = Crossing;
};
template <class C>
constexpr auto twin_loss = [](auto const& m, tx::nn::query_ids<C, 8> q, tx::nn::document_ids<C, 8> d, tx::tensor<tx::f32, 8> label) {
  return tx::nn::logistic_loss(m(q, d), label);
};

template <class Step>
tx::executor<Step, tx::cpu> like_pytorch(std::string const& initial) {
  tx::executor<Step, tx::cpu> run{tx::seed(0)};
  run.settings.set("dropout", 0);
  run.settings["learning_rate"] = 1e-3f;
  tx::io::load_parameters(data(initial), run.tensors());
  return run;
}

// The largest distance from PyTorch's losses over 200 steps.
template <class Crossing, class... Options>
double train_twin(std::string const& name) {
  using config = tiny_twin<Crossing>;
  using step = tx::train_step<tx::nn::twinbert<config>, twin_loss<config>, tx::adamw, Options...>;
  auto run = like_pytorch<step>(name + ".initial");
  auto const batches = tx::io::safetensors::read(data("twinbert.batches"));
  auto const queries = numbers<tx::i32>(batches, "query");
  auto const documents = numbers<tx::i32>(batches, "document");
  auto const labels = numbers<tx::f32>(batches, "label");
  auto const wanted = numbers<tx::f64>(tx::io::safetensors::read(data(name + ".losses")), "losses_f64");
  REQUIRE(wanted.size() == 200);
  double furthest = 0;
  for (std::size_t s = 0; s < wanted.size(); ++s) {
    std::size_t const b = s % 20;
    float const loss = run(std::span(queries).subspan(b * 48, 48), std::span(documents).subspan(b * 96, 96), std::span(labels).subspan(b * 8, 8)).loss;
    keep_furthest(furthest, std::abs(static_cast<double>(loss) - wanted[s]));
  }
  return furthest;
}

}  // namespace
