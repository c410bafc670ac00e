// A run that is saved, killed and resumed continues bit by bit: here half of it is thrown away and done again by another executor.
#include <tx/backends/cpu.hpp>
#include <tx/io/checkpoint.hpp>
#include <tx/tx.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

struct net {
  tx::nn::linear<16, 32> hidden;
  tx::nn::linear<32, 4> out;
  constexpr auto operator()(auto const& x) const { return out(tx::dropout(tx::gelu(hidden(x)))); }
};
inline constexpr auto loss = [](net const& m, tx::tensor<float, 8, 16> x, tx::tensor<tx::i32, 8> y) { return tx::cross_entropy(m(x), y); };
using step = tx::train_step<net, loss, tx::adamw, tx::clip_gradient>;
using run_type = tx::executor<step, tx::cpu>;

// Steps `first` to `end` of the data; a checkpoint after every tenth.
void train(run_type& run, int first, int end, std::filesystem::path const& folder) {
  std::vector<float> x(8 * 16);
  std::vector<tx::i32> y(8);
  for (int i = first; i < end; ++i) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>((k * 7 + static_cast<std::size_t>(i) * 13) % 23) / 23;
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = static_cast<tx::i32>((k + static_cast<std::size_t>(i)) % 4);
    run(x, y);
    if ((i + 1) % 10 == 0) tx::io::save_checkpoint(folder, run, {{"batch", i + 1}});  // complete on the disk, or as if never begun
  }
}

int main() {
  std::filesystem::path const folder = "resumed_run";  // where the program runs
  std::filesystem::remove_all(folder);
  run_type whole{tx::seed(3)};
  train(whole, 0, 40, folder / "whole");

  {
    run_type killed{tx::seed(3)};
    train(killed, 0, 27, folder / "killed");  // seven steps after its last checkpoint
  }
  run_type resumed{tx::seed(0)};
  auto const from = tx::io::load_checkpoint(folder / "killed", resumed);  // the newest complete one: weights, optimizer, step, seed, settings
  int const batch = tx::io::value_of<int>(from.position, "batch");
  std::printf("resumed at batch %d\n", batch);
  train(resumed, batch, 40, folder / "killed");

  bool const same = std::ranges::equal(whole.elements(), resumed.elements()) && std::ranges::equal(whole.elements(1), resumed.elements(1));
  std::printf("%s\n", same ? "the same bits" : "other bits");
  std::filesystem::remove_all(folder);
  return batch == 20 && same ? 0 : 1;
}
