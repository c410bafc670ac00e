// Instantiates every program of the network. Compiled for each kind of device.
#include "engine.hpp"
#include "model.hpp"

#include "../command_line/run_of.hpp"

#include <tx/backends/chosen.hpp>
#include <tx/io/parameters.hpp>
#include <tx/tx.hpp>

#include <algorithm>
#include <array>

namespace gpt {
namespace {

using step = command_line::step_of_all<network<>, loss<batch>, tx::adamw, tx::clip_gradient, tx::mixed<tx::bf16>>;
using foretell_program = tx::function<loss<batch>, network<>>;

class compiled_trainer final : public command_line::run_of<trainer, compiled_trainer> {
 public:
  explicit compiled_trainer(engine_options const& o) : step_(o), foretells_(step_, o) {}

  double train(std::span<std::int32_t const> bytes, schedule const& s) override {
    step_.settings["learning_rate"] = static_cast<float>(s.rate);
    step_.settings.schedule = {.shape = tx::decay_shape::cosine, .warmup = std::min<std::int64_t>(50, s.steps / 10), .total = s.steps, .end = 0.05};
    return static_cast<double>(static_cast<float>(step_(bytes).loss));
  }
  double foretell(std::span<std::int32_t const> bytes) override { return static_cast<double>(static_cast<float>(foretells_(bytes).value)); }
  auto& step() const { return step_; }

 private:
  mutable command_line::runner<gpt::step> step_;
  command_line::runner<foretell_program> foretells_;
};

command_line::maker<trainer> const trains{command_line::engine_names, [](engine_options const& o) -> std::unique_ptr<trainer> { return std::make_unique<compiled_trainer>(o); }};

#if !defined(TX_OF_RANKS)  // one process writes
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

command_line::maker<writer, std::filesystem::path const&, bool> const writes{
    command_line::engine_names, [](engine_options const& o, std::filesystem::path const& weights, bool full) -> std::unique_ptr<writer> {
      if (full) return std::make_unique<without_cache>(o, weights);
      return std::make_unique<with_cache>(o, weights);
    }};
#endif

}  // namespace
}  // namespace gpt
