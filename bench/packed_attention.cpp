// bench_packed_attention [--threads N] [--rounds N] [--dtype f32|bf16]: attention forward and backward, 12 heads of 64, of texts of unequal length:
// packed, and each padded to the longest, by turns; milliseconds, the least of all rounds. `work` is the sum of squared lengths over that of as
// many texts of the longest: what packed attention should take of the time of padded. Arenas in megabytes.
#include <tx/backends/cpu.hpp>
#include <tx/nn/attend_packed.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/value_and_grad.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace tx;

constexpr int heads = 12, head = 64, width = heads * head;

// Lengths of texts, from the shortest to the longest in equal steps.
template <int Texts, int Shortest, int Longest>
struct lengths {
  static constexpr int texts = Texts, longest = Longest;
  static constexpr int of(int t) { return Texts == 1 ? Longest : Shortest + (Longest - Shortest) * t / (Texts - 1); }
  static constexpr int tokens = [] {
    int n = 0;
    for (int t = 0; t < Texts; ++t) n += of(t);
    return n;
  }();
  static constexpr double work = [] {
    double n = 0;
    for (int t = 0; t < Texts; ++t) n += double(of(t)) * of(t);
    return n / (double(Texts) * Longest * Longest);
  }();
};

template <class L>
struct packed_texts_of {
  param<tensor<f32, L::tokens, width>> q, k, v;
};
template <class L>
struct padded_texts_of {
  param<tensor<f32, L::texts, L::longest, width>> q, k, v;
};
template <class T, class L>
constexpr auto of_packed = [](packed_texts_of<L> const& m, tensor<i32, L::texts + 1> offsets) {
  return sum(cast<f32>(nn::attend_packed<heads>(cast<T>(m.q), cast<T>(m.k), cast<T>(m.v), nn::texts_at<L::longest>(offsets))));
};
template <class T, class L>
constexpr auto of_padded = [](padded_texts_of<L> const& m, tensor<bool, L::texts, L::longest> there) {
  auto const apart = [](auto const& x) { return transpose<0, 2, 1, 3>(reshape<L::texts, L::longest, heads, head>(cast<T>(x))); };
  return sum(cast<f32>(nn::attend(apart(m.q), apart(m.k), apart(m.v), there)));
};

struct settings {
  int threads = 2, rounds = 5;
  std::string dtype = "f32";
};

double milliseconds_of(auto const& f) {
  auto const start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

template <class T, class L>
void row(settings const& s) {
  executor<value_and_grad<of_packed<T, L>, packed_texts_of<L>>, cpu> packed{seed(1), {.threads = s.threads}};
  executor<value_and_grad<of_padded<T, L>, padded_texts_of<L>>, cpu> padded{seed(1), {.threads = s.threads}};
  std::vector<i32> offsets{0};
  auto const there = std::make_unique<bool[]>(std::size_t{L::texts} * L::longest);
  for (int t = 0; t < L::texts; ++t) {
    offsets.push_back(offsets.back() + L::of(t));
    std::fill_n(there.get() + t * L::longest, L::of(t), true);
  }
  double ms[2] = {1e9, 1e9};
  for (int round = 0; round < s.rounds; ++round) {
    ms[0] = std::min(ms[0], milliseconds_of([&] { packed(offsets); }));
    ms[1] = std::min(ms[1], milliseconds_of([&] { padded(std::span<bool const>(there.get(), std::size_t{L::texts} * L::longest)); }));
  }
  double const mega = 1. / (1 << 20);
  std::printf("%3d texts of %3d to %4d: packed %9.2f, padded %9.2f, ratio %5.2f, work %5.2f; %8.1f and %8.1f MB\n", L::texts, L::of(0), L::longest, ms[0], ms[1],
              ms[0] / ms[1], L::work, double(decltype(packed)::arena_bytes) * mega, double(decltype(padded)::arena_bytes) * mega);
  std::fflush(stdout);
}

template <class T>
void table(settings const& s) {
  row<T, lengths<32, 8, 512>>(s);
  row<T, lengths<64, 4, 64>>(s);
  row<T, lengths<4, 256, 2048>>(s);
  row<T, lengths<8, 512, 512>>(s);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const what = argv[i];
    if (what == "--threads") s.threads = std::atoi(argv[i + 1]);
    else if (what == "--rounds") s.rounds = std::max(1, std::atoi(argv[i + 1]));
    else if (what == "--dtype") s.dtype = argv[i + 1];
    else {
      std::fprintf(stderr, "bench_packed_attention: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  if (s.dtype == "bf16") table<bf16>(s);
  else table<f32>(s);
}
