// bench_encode --model tiny|twin|minilm [--batch 1] [--seq 16] [--threads 1] [--runs 500]: latency of one pass of an encoder without
// training, mean over the tokens, random weights, new ids each time. One JSON line: p50 and p99 in milliseconds. With --check FOLDER it
// times nothing: it writes its weights there and prints ids and their vector.
#include <tx/backends/cpu.hpp>
#include <tx/io/parameters.hpp>
#include <tx/nn/bert.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {

template <int Layers, int Hidden, int Heads, int Ffn>
struct config {
  static constexpr int layers = Layers, hidden = Hidden, heads = Heads, ffn = Ffn, vocabulary = 30522, positions = 512, types = 2;
};
template <class Config>
using model = tx::nn::bert<Config, tx::nn::no_pooler>;
template <class Config, int Batch, int Seq>
constexpr auto encode = [](model<Config> const& m, tx::tensor<tx::i32, Batch, Seq> ids) {
  return tx::reshape<Batch, Config::hidden>(tx::mean<1>(m(ids)));
};

struct options {
  std::string model = "minilm";
  int batch = 1, seq = 16, threads = 1, runs = 500;
  std::string check{};
};

template <class Values>
void print(char const* name, Values const& values, char const* end) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.8g", i == 0 ? "" : ", ", static_cast<double>(values[i]));
  std::printf("]%s", end);
}

template <class Config, int Batch, int Seq>
void run(options const& o) {
  using function = tx::function<encode<Config, Batch, Seq>, model<Config>>;
  tx::executor<function, tx::cpu> encoder{tx::seed(0), {.threads = o.threads}};
  std::mt19937 random{1};
  std::vector<tx::i32> ids(Batch * Seq);
  if (!o.check.empty()) {
    for (auto& id : ids) id = static_cast<tx::i32>(random() % Config::vocabulary);
    tx::io::save_parameters(o.check + "/model.safetensors", encoder.tensors());
    std::printf("{");
    print("ids", ids, ", ");
    print("vector", encoder(ids).value, "}\n");
    return;
  }
  std::vector<double> ms;
  double sum = 0;  // of the results, so that none is left out
  for (int i = -30; i < o.runs; ++i) {
    for (auto& id : ids) id = static_cast<tx::i32>(random() % Config::vocabulary);
    auto const start = std::chrono::steady_clock::now();
    auto const y = encoder(ids).value;
    double const passed = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    sum += static_cast<double>(y[0]);
    if (i >= 0) ms.push_back(passed);
  }
  std::sort(ms.begin(), ms.end());
  auto const percentile = [&](double p) { return ms[static_cast<std::size_t>(p * static_cast<double>(ms.size()))]; };
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf("{\"peer\": \"tx\", \"model\": \"%s\", \"batch\": %d, \"seq\": %d, \"threads\": %d, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
              "\"peak_bytes\": %lld, \"planned_bytes\": %lld, \"sum\": %.4f}\n",
              o.model.c_str(), Batch, Seq, o.threads, percentile(0.5), percentile(0.99), static_cast<long long>(use.ru_maxrss) * 1024,
              static_cast<long long>(function::memory.arena + tx::layout<model<Config>>::size * 4), sum);
}

struct entry {
  char const* model;
  int batch, seq;
  void (*run)(options const&);
};
template <int Batch, int Seq, int... Sizes>
constexpr entry encoder(char const* name) {
  return {name, Batch, Seq, run<config<Sizes...>, Batch, Seq>};
}
constexpr entry entries[] = {
    encoder<1, 16, 2, 128, 2, 512>("tiny"),
    encoder<1, 16, 6, 512, 8, 512>("twin"),
    encoder<1, 16, 6, 384, 12, 1536>("minilm"),
};

}  // namespace

int main(int argc, char** argv) {
  options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const key = argv[i];
    if (key == "--model") o.model = argv[i + 1];
    else if (key == "--batch") o.batch = std::atoi(argv[i + 1]);
    else if (key == "--seq") o.seq = std::atoi(argv[i + 1]);
    else if (key == "--threads") o.threads = std::atoi(argv[i + 1]);
    else if (key == "--check") o.check = argv[i + 1];
    else if (key == "--runs") o.runs = std::max(1, std::atoi(argv[i + 1]));
    else {
      std::fprintf(stderr, "bench_encode: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  for (entry const& e : entries) {
    if (e.model != o.model || e.batch != o.batch || e.seq != o.seq) continue;
    e.run(o);
    return 0;
  }
  std::fprintf(stderr, "bench_encode: no model %s of %d x %d is compiled in; there are:\n", o.model.c_str(), o.batch, o.seq);
  for (entry const& e : entries) std::fprintf(stderr, "  --model %s --batch %d --seq %d\n", e.model, e.batch, e.seq);
  return 2;
}
