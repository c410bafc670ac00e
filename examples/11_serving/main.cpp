// Inference for several threads at the same time, on one set of parameters: all in memory that the program owns, so tx allocates nothing.
// Arguments are views of that memory too, and a result goes to another library as a DLPack tensor.
#include <tx/backends/cpu.hpp>
#include <tx/run/dlpack.hpp>
#include <tx/tx.hpp>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

struct scorer {
  tx::nn::linear<32, 64> hidden;
  tx::nn::linear<64, 8> out;
  constexpr auto operator()(auto const& x) const { return tx::softmax(out(tx::gelu(hidden(x)))); }
};
inline constexpr auto score = [](scorer const& m, tx::tensor<float, tx::dyn<16>, 32> x) { return m(x); };

using server = tx::executor<tx::function<score, scorer>, tx::cpu>;
using weights = tx::parameter_block<scorer, tx::cpu>;

constexpr int workers = 4;
alignas(tx::memory_alignment) std::byte room[weights::bytes_for(0)];  // and no states: they are not trained
alignas(tx::memory_alignment) std::byte arenas[workers][server::arena_bytes];
static_assert(sizeof room + sizeof arenas < tx::MiB(1));

// Requests as they come: up to 16 rows, feature by feature, where tx would have them row by row.
struct request {
  std::int64_t rows;
  std::vector<float> features;  // [32, rows]
  tx::array_view<float const> view() const { return {{2, {rows, 32}, {1, rows}}, features.data()}; }
};
request arrived(int k) {
  request r{1 + k % 16, {}};
  for (std::int64_t i = 0; i < 32 * r.rows; ++i) r.features.push_back(static_cast<float>((i * 7 + k * 5) % 19) / 19);
  return r;
}

int main() {
  weights const shared{tx::seed(0), 0, room};

  std::vector<float> best(64);  // of each request, the first row's highest score
  std::vector<std::thread> pool;
  for (int t = 0; t < workers; ++t)
    pool.emplace_back([&, t] {
      server run{shared, {.threads = 1, .arena = arenas[t]}};  // reads the parameters, as any number of executors may
      for (int k = t; k < 64; k += workers) {
        auto const scores = run(arrived(k).view()).value;
        best[static_cast<std::size_t>(k)] = *std::max_element(scores.begin(), scores.begin() + 8);
      }
    });
  for (std::thread& t : pool) t.join();

  server alone{shared};
  bool same = true;
  for (int k = 0; k < 64; ++k) {
    auto const scores = alone(arrived(k).view()).value;
    same = same && best[static_cast<std::size_t>(k)] == *std::max_element(scores.begin(), scores.begin() + 8);
  }
  std::printf("%d threads, %zu KB of parameters, %zu KB for each thread: %s\n", workers, sizeof room >> 10, sizeof arenas[0] >> 10,
              same ? "the same bits" : "other bits");

  auto const result = alone(arrived(7).view()).value;              // [8, 8], until the next run
  auto handed = tx::dlpack::copy_of(tx::view_of(result));          // a DLManagedTensor: handed.release() to who takes it
  auto const theirs = tx::dlpack::borrow<float const>(*handed);    // as another library sees it; or tx a tensor of that library's
  std::vector<float> mine(8 * 8);
  tx::copy_elements(theirs, tx::array_view<float>{{2, {8, 8}, {1, 8}}, mine.data()});  // turned, on the way
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < 8; ++j) same = same && mine[j * 8 + i] == result[i * 8 + j];
  return same ? 0 : 1;
}
