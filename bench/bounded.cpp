// bench_bounded [--model minilm|base] [--what encode|train] [--threads 1] [--rounds 9] [--most 1.1]: a batch of 8 texts of 60 tokens in a program planned for up to
// 32 texts of up to 512, and in one compiled for just that batch, in turns. One JSON line: the medians in milliseconds, and the median of the
// ratios of neighbours. Exit status 1 where that is above --most.
#include <tx/backends/cpu.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/run/view.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

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
using minilm = config<6, 384, 12, 1536>;
using base = config<12, 768, 12, 3072>;

constexpr int texts = 8, tokens = 60;
constexpr auto most_texts = tx::dyn<32, 1>, most_tokens = tx::dyn<512, 2>;

template <class Config>
using model = tx::nn::bert_classifier<Config, 2>;
template <class Config, auto B, auto S>
constexpr auto logits = [](model<Config> const& m, tx::tensor<tx::i32, B, S> ids, tx::tensor<tx::i32, B, S> mask) { return m(ids, mask); };
template <class Config, auto B, auto S>
constexpr auto loss = [](model<Config> const& m, tx::tensor<tx::i32, B, S> ids, tx::tensor<tx::i32, B, S> mask, tx::tensor<tx::i32, B> labels) {
  return tx::cross_entropy(m(ids, mask), labels);
};

struct options {
  std::string model = "minilm", what = "encode";
  int threads = 1, rounds = 9;
  double most = 1.1;
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// Each is a function that runs its program once. How much longer the bounded one takes.
template <class Bounded, class Fixed>
double compare(options const& o, Bounded&& bounded, Fixed&& fixed) {
  auto const seconds = [](auto& f) {
    auto const start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<double> a, b, ratio;
  for (int round = -2; round < o.rounds; ++round) {
    double const x = seconds(bounded), y = seconds(fixed);
    if (round < 0) continue;
    a.push_back(x), b.push_back(y), ratio.push_back(x / y);
  }
  std::printf("{\"model\": \"%s\", \"what\": \"%s\", \"threads\": %d, \"bounded_ms\": %.2f, \"fixed_ms\": %.2f, \"ratio\": %.3f}\n", o.model.c_str(),
              o.what.c_str(), o.threads, 1e3 * median(a), 1e3 * median(b), median(ratio));
  return median(ratio);
}

template <class Config>
double run(options const& o) {
  std::mt19937 random{1};
  std::vector<tx::i32> ids(texts * tokens), mask(ids.size(), 1), labels(texts);
  for (auto& id : ids) id = static_cast<tx::i32>(random() % Config::vocabulary);
  for (auto& label : labels) label = static_cast<tx::i32>(random() % 2);
  tx::array_view<tx::i32 const> seen{{2, {texts, tokens}, {tokens, 1}}, ids.data()};
  tx::run_options const with{.threads = o.threads};
  if (o.what == "encode") {
    tx::executor<tx::function<logits<Config, most_texts, most_tokens>, model<Config>>, tx::cpu> bounded{tx::seed(0), with};
    tx::executor<tx::function<logits<Config, texts, tokens>, model<Config>>, tx::cpu> fixed{tx::seed(0), with};
    return compare(o, [&] { bounded(seen, mask); }, [&] { fixed(ids, mask); });
  }
  tx::executor<tx::train_step<model<Config>, loss<Config, most_texts, most_tokens>, tx::adamw>, tx::cpu> bounded{tx::seed(0), with};
  tx::executor<tx::train_step<model<Config>, loss<Config, texts, tokens>, tx::adamw>, tx::cpu> fixed{tx::seed(0), with};
  return compare(o, [&] { bounded(seen, mask, labels); }, [&] { fixed(ids, mask, labels); });
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const name = argv[i], value = argv[i + 1];
    if (name == "--model") o.model = value;
    else if (name == "--what") o.what = value;
    else if (name == "--threads") o.threads = std::atoi(value.c_str());
    else if (name == "--rounds") o.rounds = std::atoi(value.c_str());
    else if (name == "--most") o.most = std::atof(value.c_str());
    else return std::fprintf(stderr, "bench_bounded: no option %s\n", argv[i]), 2;
  }
  if ((o.model != "minilm" && o.model != "base") || (o.what != "encode" && o.what != "train") || o.rounds < 1)
    return std::fprintf(stderr, "bench_bounded: --model minilm|base, --what encode|train, --rounds of at least 1\n"), 2;
  return (o.model == "base" ? run<base>(o) : run<minilm>(o)) > o.most;
}
