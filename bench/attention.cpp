// bench_attention [--threads N] [--rounds N] [--dtype f32|bf16] [--rate R]: the attention kernels beside what a program does without them,
// products in bands with softmax in their epilogues, by turns: milliseconds of forward, and of forward with backward, the least of all rounds,
// and the part of the peak of fmas that the kernels reach, measured in the same turns.
//   --clock processor: time on processors instead, which means something for one thread, on a machine that is shared
//   --only TEXTS,TOKENS,HEADS,KEY_HEADS,HEAD,CAUSAL: the kernels on such texts alone, as one line of JSON, for compare/attention.py
#include "fma_chains.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/cpu/attention_backward.hpp>
#include <tx/backends/cpu/attention_finish.hpp>
#include <tx/backends/cpu/attention_forward.hpp>
#include <tx/nn/attend.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/value_and_grad.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace tx;
namespace kernels = tx::backends::cpu;

bool of_processor = false;  // count the process's time on processors: what others do meanwhile then matters less
double now() {
  if (of_processor) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double milliseconds_of(auto const& work) {
  double const start = now();
  work();
  return 1e3 * (now() - start);
}

struct settings {
  int threads = kernels::machine_threads(), rounds = 5;
  float rate = 0;
  std::string dtype = "f32", only{};
};

struct sizes {
  std::int64_t texts, tokens, heads, key_heads, head;
  bool causal;

  // Of two products, counting the pairs of queries and keys that take part.
  double flops() const { return 4. * static_cast<double>(texts * heads * head) * static_cast<double>(tokens * (causal ? tokens + 1 : 2 * tokens) / 2); }
};

template <class T>
class attention {
 public:
  attention(sizes const& of, float rate, int threads)
      : threads_(threads), count_(of.texts * of.tokens * of.heads * of.head), key_count_(count_ / of.heads * of.key_heads),
        forward_bytes_(kernels::attention_scratch_bytes(of.head, dtype_v<T>)), backward_bytes_(kernels::attention_backward_scratch_bytes(of.head, dtype_v<T>)),
        shape_{of.texts, of.tokens, of.tokens, of.heads, of.key_heads, of.head} {
    kernels::thread_pool::shared().prepare(threads);
    std::minstd_rand random(1);
    auto const of_numbers = [&](std::int64_t n) {
      T* const p = reinterpret_cast<T*>(memory(n * static_cast<std::int64_t>(sizeof(T))));
      for (std::int64_t i = 0; i < n; ++i) {
        float const x = static_cast<float>(random() % 2001) / 1000 - 1;
        if constexpr (is_half(dtype_v<T>)) p[i] = T::from(x);
        else p[i] = x;
      }
      return p;
    };
    problem_ = {.sizes = shape_, .q = of_numbers(count_), .k = of_numbers(key_count_), .v = of_numbers(key_count_), .scale = 1 / std::sqrt(static_cast<float>(of.head))};
    problem_.causal = of.causal;
    problem_.dropout.rate = rate;
    auto const of_queries = [&] { return reinterpret_cast<f32*>(memory(of.texts * of.heads * of.tokens * 4)); };
    result_ = {of_numbers(count_), of_queries(), of_queries()};
    auto const of_gradients = [&](std::int64_t n) { return reinterpret_cast<f32*>(memory(n * 4)); };
    gradients_ = {result_.out, result_.greatest, result_.log_sum, of_numbers(count_), of_gradients(count_), of_gradients(key_count_), of_gradients(key_count_), {}};
    scratch_ = memory(kernels::shares * std::max(forward_bytes_, backward_bytes_));
    sums_ = memory(kernels::attention_sums_bytes(shape_, false, dtype_v<T>) + 64);
  }

  // Beside what goes in and comes out.
  std::int64_t bytes() const { return kernels::shares * std::max(forward_bytes_, backward_bytes_) + kernels::attention_sums_bytes(shape_, false, dtype_v<T>) + 2 * shape_.texts * shape_.heads * shape_.queries * 4; }

  void forward() {
    for_all([&](int s) { kernels::attention_forward<T>(s, kernels::shares, problem_, result_, scratch_ + s * forward_bytes_); });
  }
  void backward() {
    for_all([&](int s) { kernels::attention_backward<T>(s, kernels::shares, problem_, gradients_, sums_, scratch_ + s * backward_bytes_); });
    for_all([&](int s) { kernels::attention_backward_finish<T>(s, kernels::shares, problem_, gradients_, sums_, scratch_ + s * backward_bytes_); });
  }

 private:
  std::byte* memory(std::int64_t bytes) {
    blocks_.emplace_back(bytes);
    return blocks_.back().data();
  }
  void for_all(auto const& share) { kernels::for_shares(threads_, 1 << 30, share); }

  int threads_;
  std::int64_t count_, key_count_, forward_bytes_, backward_bytes_;
  kernels::attention_sizes shape_;
  std::vector<exec::bytes<cpu>> blocks_{};
  kernels::attention_problem<T> problem_{};
  kernels::attention_result<T> result_{};
  kernels::attention_gradients<T> gradients_{};
  std::byte *scratch_ = nullptr, *sums_ = nullptr;
};

// What a program records of it without them; of halves with products alone in halves, as training has them.
template <int Texts, int Tokens, int Heads, int Head>
struct operands {
  param<tensor<f32, Texts, Tokens, Heads * Head>> q, k, v;
};
template <class T, int Texts, int Tokens, int Heads, int Head, bool Causal, bool Drops>
constexpr auto mixed_of = [](operands<Texts, Tokens, Heads, Head> const& m) {
  auto const heads = [](auto const& x) { return transpose<0, 2, 1, 3>(reshape<Texts, Tokens, Heads, Head>(cast<T>(x))); };
  auto const scores = matmul(heads(m.q * nn::attention_scale<Head>), transpose(heads(m.k)));
  auto const probabilities = [&] {
    if constexpr (Causal) return softmax(where(less_equal(iota<3>(scores), iota<2>(scores)), scores, masked_score));
    else return softmax(scores);
  }();
  auto const kept = [&] {
    if constexpr (Drops) return dropout(probabilities);
    else return probabilities;
  }();
  return reshape<Texts, Tokens, Heads * Head>(transpose<0, 2, 1, 3>(matmul(cast<T>(kept), heads(m.v))));
};
template <int Texts, int Tokens, int Heads, int Head, bool Causal, bool Drops>
constexpr auto weighed = [](operands<Texts, Tokens, Heads, Head> const& m, tensor<f32, Texts, Tokens, Heads * Head> w) {
  return sum(mixed_of<f32, Texts, Tokens, Heads, Head, Causal, Drops>(m) * w);
};

template <class T, auto F, class Model>
struct gradient_with {
  using type = value_and_grad<F, Model, mixed<T>>;
};
template <auto F, class Model>
struct gradient_with<f32, F, Model> {
  using type = value_and_grad<F, Model>;
};

double peak(int threads) {  // GFLOP/s on every thread
  constexpr int steps = 100000;
  f32 sums[kernels::shares] = {};
  double const ms = milliseconds_of([&] { kernels::for_shares(threads, 1 << 30, [&](int share) { sums[share] = bench::run_fma_chains<f32>(steps); }); });
  asm volatile("" : : "m"(sums));
  return 1e-6 * bench::step_flops<f32> * bench::fma_chains * steps * kernels::shares / ms;
}

template <class T, int Texts, int Tokens, int Heads, int Head, bool Causal, bool Drops>
void row(settings const& s) {
  using model = operands<Texts, Tokens, Heads, Head>;
  using both_ways = typename gradient_with<T, weighed<Texts, Tokens, Heads, Head, Causal, Drops>, model>::type;
  using one_way = function<mixed_of<T, Texts, Tokens, Heads, Head, Causal, false>, model>;
  sizes const of{Texts, Tokens, Heads, Heads, Head, Causal};
  attention<T> kernel(of, s.rate, s.threads);
  executor<one_way, cpu> forward{seed(1), {.threads = s.threads}};
  executor<both_ways, cpu> both{seed(1), {.threads = s.threads}};
  if (Drops) both.settings.set("dropout", s.rate);
  std::vector<f32> const w(static_cast<std::size_t>(Texts) * Tokens * Heads * Head, 0.01f);
  double ms[4] = {1e9, 1e9, 1e9, 1e9}, top = 0;
  for (int round = 0; round < s.rounds; ++round) {
    top = std::max(top, peak(s.threads));
    for (int again = 0; again < 3; ++again) {
      double const mine = milliseconds_of([&] { kernel.forward(); });
      ms[0] = std::min(ms[0], mine);
      ms[1] = std::min(ms[1], milliseconds_of([&] { forward(); }));
      ms[2] = std::min(ms[2], mine + milliseconds_of([&] { kernel.backward(); }));
      ms[3] = std::min(ms[3], milliseconds_of([&] { both(w); }));
    }
  }
  double const mega = 1. / (1 << 20);
  std::printf("%3d x %4d, %2d heads of %3d%s %9.2f %9.2f %6.2f %9.2f %9.2f %6.2f %6.0f %6.0f %8.1f %8.1f\n", Texts, Tokens, Heads, Head, Causal ? ", causal" : "        ", ms[0],
              ms[1], ms[1] / ms[0], ms[2], ms[3], ms[3] / ms[2], of.flops() / ms[0] / top * 1e-4, 3.5 * of.flops() / ms[2] / top * 1e-4,
              static_cast<double>(kernel.bytes()) * mega, static_cast<double>(decltype(both)::arena_bytes) * mega);
  std::fflush(stdout);
}

template <class T, bool Drops>
void table(settings const& s) {
  std::printf("%s, %d threads, dropout %g\n%41s %9s %9s %6s %9s %9s %6s %6s %6s %8s %8s\n", name_of(dtype_v<T>), s.threads, static_cast<double>(s.rate), "", "forward", "bands", "ratio",
              "both", "bands", "ratio", "% peak", "% peak", "MB", "bands");
  row<T, 64, 32, 8, 64, false, Drops>(s);
  row<T, 32, 64, 12, 32, false, Drops>(s);
  row<T, 8, 128, 12, 64, false, Drops>(s);
  row<T, 8, 512, 12, 64, false, Drops>(s);
  row<T, 8, 512, 12, 64, true, Drops>(s);
  row<T, 1, 2048, 12, 64, false, Drops>(s);
  row<T, 1, 2048, 12, 64, true, Drops>(s);
}

template <class T>
void run(settings const& s) {
  if (s.only.empty()) return s.rate > 0 ? table<T, true>(s) : table<T, false>(s);
  sizes of{};
  int causal = 0;
  if (std::sscanf(s.only.c_str(), "%ld,%ld,%ld,%ld,%ld,%d", &of.texts, &of.tokens, &of.heads, &of.key_heads, &of.head, &causal) != 6) {
    std::fputs("bench_attention: --only TEXTS,TOKENS,HEADS,KEY_HEADS,HEAD,CAUSAL\n", stderr);
    std::exit(2);
  }
  of.causal = causal != 0;
  attention<T> kernel(of, s.rate, s.threads);
  double forward = 1e9, backward = 1e9;
  for (int i = 0; i < s.rounds; ++i) {
    forward = std::min(forward, milliseconds_of([&] { kernel.forward(); }));
    backward = std::min(backward, milliseconds_of([&] { kernel.backward(); }));
  }
  std::printf("{\"forward_ms\": %.4f, \"backward_ms\": %.4f, \"bytes\": %ld}\n", forward, backward, static_cast<long>(kernel.bytes()));
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const what = argv[i];
    if (what == "--threads") s.threads = std::atoi(argv[i + 1]);
    if (what == "--rounds") s.rounds = std::max(1, std::atoi(argv[i + 1]));
    if (what == "--dtype") s.dtype = argv[i + 1];
    if (what == "--rate") s.rate = static_cast<float>(std::atof(argv[i + 1]));
    if (what == "--clock") of_processor = std::string(argv[i + 1]) == "processor";
    if (what == "--only") s.only = argv[i + 1];
  }
  if (s.dtype == "bf16") run<bf16>(s);
  else run<f32>(s);
}
