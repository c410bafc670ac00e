#include "../command_line/options.hpp"
#include "commands.hpp"
#include "model.hpp"
#include "sampler.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/io/parameters.hpp>
#include <tx/io/standard_streams.hpp>
#include <tx/tx.hpp>

#include <chrono>
#include <cstdio>

namespace gpt {
namespace {

using command_line::help_text, command_line::option, command_line::options;

// The logits of the byte behind one, which is at a place of the text: the keys and values of those before it are in the cache.
constexpr auto next_byte = [](network<cache> const& m, tx::tensor<tx::i32, 1, 1> byte, tx::tensor<tx::i32> place) {
  return tx::reshape<config::bytes>(m.next(byte, place));
};
// The same of all bytes of a text, and of what lies behind its end.
constexpr auto all_bytes = [](network<> const& m, tx::tensor<tx::i32, 1, config::context> bytes) { return m(bytes); };

template <class Run>
void load(Run& run, std::filesystem::path const& model) {
  auto tensors = run.tensors();
  std::erase_if(tensors, [](auto const& t) { return t.is_state; });  // a cache is no part of the weights
  tx::io::load_parameters(weights_in(model), tensors, {.finite = true});
}

class writer {
 public:
  virtual ~writer() = default;
  // The logits behind a text of which each call has a byte more.
  virtual std::span<float const> behind(std::string const& text) = 0;
};
class with_cache final : public writer {
 public:
  with_cache(std::filesystem::path const& model, int threads) : run_(tx::seed(0), {.threads = threads}) { load(run_, model); }
  std::span<float const> behind(std::string const& text) override {
    while (true) {
      auto const logits = run_(std::array{static_cast<tx::i32>(static_cast<unsigned char>(text[static_cast<std::size_t>(place_)]))}, std::array{place_});
      if (static_cast<std::size_t>(++place_) == text.size()) return {logits.value.begin(), logits.value.end()};
    }
  }

 private:
  tx::executor<tx::function<next_byte, network<cache>>, tx::cpu> run_;
  tx::i32 place_ = 0;
};
class without_cache final : public writer {
 public:
  without_cache(std::filesystem::path const& model, int threads) : run_(tx::seed(0), {.threads = threads}) { load(run_, model); }
  std::span<float const> behind(std::string const& text) override {
    std::array<tx::i32, config::context> bytes{};
    for (std::size_t i = 0; i < text.size(); ++i) bytes[i] = static_cast<unsigned char>(text[i]);
    auto const logits = run_(bytes);
    return {logits.value.begin() + (text.size() - 1) * config::bytes, config::bytes};
  }

 private:
  tx::executor<tx::function<all_bytes, network<>>, tx::cpu> run_;
};

std::vector<option> generate_options() {
  return {{"model", "DIR", "a folder that train wrote"},
          {"prompt", "TEXT", "what the text begins with"},
          {"tokens", "N", "bytes to write (default: what has room, " + std::to_string(config::context) + " with the prompt)"},
          {"temperature", "T", "0: always the likeliest byte; the higher, the more daring (default: 0.8)"},
          {"top-p", "P", "leave out the least likely bytes, which have 1 - P of the chances together (default: 0.95)"},
          {"seed", "S", "same seed, same text (default: 1)"},
          {"full", "", "without a cache: each byte is computed from the whole text before it"},
          {"threads", "N", "(default: as many as the machine runs at once)"},
          {"help", "", "print this"}};
}

}  // namespace

void generate_command(std::span<std::string const> arguments) {
  auto const known = generate_options();
  options const given(arguments, known);
  if (given.has("help")) return tx::io::print(help_text("usage: gpt generate --model DIR --prompt TEXT [option...]", known));
  std::string text = given.text("prompt");
  if (text.empty()) throw tx::value_error("--prompt is empty. FIX: at least one byte");
  auto const room = config::context - static_cast<std::int64_t>(text.size());
  if (room < 0) throw tx::value_error("--prompt has " + std::to_string(text.size()) + " bytes; the model was compiled for " + std::to_string(config::context));
  std::int64_t const tokens = given.integer("tokens", room, 0);
  if (tokens > room)
    throw tx::value_error("--prompt and --tokens are " + std::to_string(static_cast<std::int64_t>(text.size()) + tokens) + " bytes together; the model was compiled for " + std::to_string(config::context));
  sampler draw(given.number("temperature", 0.8, 0, 1e6), given.number("top-p", 0.95, 0, 1), static_cast<std::uint64_t>(given.integer("seed", 1, 0)));
  int const threads = static_cast<int>(given.integer("threads", 0, 0, 1024));
  std::filesystem::path const model = given.text("model");
  std::unique_ptr<writer> write;
  if (given.has("full")) write = std::make_unique<without_cache>(model, threads);
  else write = std::make_unique<with_cache>(model, threads);

  auto const begin = std::chrono::steady_clock::now();
  std::size_t const prompt = text.size();
  for (std::int64_t k = 0; k < tokens; ++k) text += static_cast<char>(draw.next(write->behind(text)));
  auto const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  tx::io::print(text + '\n');
  std::fprintf(stderr, "%zu bytes read, %lld written in %.3f s\n", prompt, static_cast<long long>(tokens), seconds);
}

}  // namespace gpt
