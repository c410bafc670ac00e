// Instantiates every program of the network. Compiled for each kind of device.
#include "engine.hpp"
#include "model.hpp"

#include "../command_line/processes.hpp"

#include <tx/backends/chosen.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/io/parameters.hpp>
#include <tx/tx.hpp>

#include <algorithm>
#include <array>

namespace gpt {
namespace {

template <class... Options>
using step_with = tx::train_step<network<>, loss<batch>, tx::adamw, tx::clip_gradient, tx::mixed<tx::bf16>, Options...>;
#if defined(TX_FOR_CUDA) || defined(TX_FOR_HIP)
using step = step_with<>;
using train_backend = tx::chosen_backend;
#else
using step = step_with<tx::data_parallel<>>;  // as many ranks as there are processes, which may be one
using train_backend = tx::distributed<tx::chosen_backend, command_line::processes::communicator>;
#endif
using foretell_program = tx::function<loss<batch>, network<>>;

class compiled_trainer final : public trainer {
 public:
  explicit compiled_trainer(engine_options const& o, auto&... ranks) : step_{tx::seed(o.seed), ranks..., {.threads = o.threads}}, foretells_{step_, {.threads = o.threads}} {}

  double train(std::span<std::int32_t const> bytes, schedule const& s) override {
    step_.settings["learning_rate"] = static_cast<float>(s.rate);
    step_.settings.schedule = {.shape = tx::decay_shape::cosine, .warmup = std::min<std::int64_t>(50, s.steps / 10), .total = s.steps, .end = 0.05};
    return static_cast<double>(static_cast<float>(step_(bytes).loss));
  }
  double foretell(std::span<std::int32_t const> bytes) override { return static_cast<double>(static_cast<float>(foretells_(bytes).value)); }

  std::vector<float> read(int k) const override { return step_.read(k); }
  void write(std::span<float const> values, int k) override { step_.write(values, k); }
  std::vector<named_tensor> tensors_of(std::span<float> copy, int k) const override {
    std::vector<named_tensor> out;
    for (auto const& t : step_.tensors_of(copy, k)) out.push_back({t.name, {t.dims.dim, t.dims.dim + t.dims.rank}, t.data});
    return out;
  }
  int states() const override { return step_.states(); }
  std::int64_t steps_run() const override { return step_.steps_run(); }
  std::uint64_t seed() const override { return step_.seed(); }
  void restore(std::int64_t steps, std::uint64_t seed) override { step_.restore(steps, seed); }

 private:
  tx::executor<step, train_backend> step_;
  tx::executor<foretell_program, train_backend> foretells_;
};

// The logits of the byte behind one, which is at a place of the text: the keys and values of those before it are in the cache.
constexpr auto next_byte = [](network<cache> const& m, tx::tensor<tx::i32, 1, 1> byte, tx::tensor<tx::i32> place) {
  return tx::reshape<config::bytes>(m.next(byte, place));
};
// The same of all bytes of a text, and of what lies behind its end.
constexpr auto all_bytes = [](network<> const& m, tx::tensor<tx::i32, 1, config::context> bytes) { return m(bytes); };

template <class Run>
void load(Run& run, std::filesystem::path const& weights) {
  auto all = run.read();
  auto tensors = run.tensors_of(std::span(all));
  std::erase_if(tensors, [](auto const& t) { return t.is_state; });  // a cache is no part of the weights
  tx::io::load_parameters(weights, tensors, {.finite = true});
  run.write(all);
}

class with_cache final : public writer {
 public:
  with_cache(engine_options const& o, std::filesystem::path const& weights) : run_(tx::seed(0), {.threads = o.threads}) { load(run_, weights); }
  std::span<float const> behind(std::string const& text) override {
    while (true) {
      auto const logits = run_(std::array{static_cast<tx::i32>(static_cast<unsigned char>(text[static_cast<std::size_t>(place_)]))}, std::array{place_});
      if (static_cast<std::size_t>(++place_) == text.size()) return {logits.value.begin(), logits.value.end()};
    }
  }

 private:
  tx::executor<tx::function<next_byte, network<cache>>, tx::chosen_backend> run_;
  tx::i32 place_ = 0;
};
class without_cache final : public writer {
 public:
  without_cache(engine_options const& o, std::filesystem::path const& weights) : run_(tx::seed(0), {.threads = o.threads}) { load(run_, weights); }
  std::span<float const> behind(std::string const& text) override {
    std::array<tx::i32, config::context> bytes{};
    for (std::size_t i = 0; i < text.size(); ++i) bytes[i] = static_cast<unsigned char>(text[i]);
    auto const logits = run_(bytes);
    return {logits.value.begin() + (text.size() - 1) * config::bytes, config::bytes};
  }

 private:
  tx::executor<tx::function<all_bytes, network<>>, tx::chosen_backend> run_;
};

}  // namespace

std::unique_ptr<trainer> TX_ON_CHOSEN(make_trainer)(engine_options const& o, [[maybe_unused]] command_line::processes& ranks) {
#if defined(TX_FOR_CUDA) || defined(TX_FOR_HIP)
  return std::make_unique<compiled_trainer>(o);
#else
  return std::make_unique<compiled_trainer>(o, ranks.all());
#endif
}
std::unique_ptr<writer> TX_ON_CHOSEN(make_writer)(engine_options const& o, std::filesystem::path const& weights, bool full) {
  if (full) return std::make_unique<without_cache>(o, weights);
  return std::make_unique<with_cache>(o, weights);
}

}  // namespace gpt
