// Ranks that divide a table of words, and the classes that a loss is over: what they train, and what each keeps.
#include "heads.hpp"

#include <tx/nn/embedding.hpp>
#include <tx/ops/argmax.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/train/options.hpp>

using namespace divided;

namespace {

constexpr int words = 48, texts = 3, places = 4;

// Words that are looked up and foretold by one table, with heads in between.
struct speaker {
  nn::embedding<words, 8> table;
  nn::embedding<places, 8> of_places;
  repeat<2, heads> body;
  param<tensor<float, words>> bias;
};
using ids = tensor<int, texts, places>;
constexpr auto foretold = [](speaker const& m, ids x) {
  auto const y = m.body(m.table(x) + reshape<1, places, 8>(m.of_places.first<places>()));
  return matmul(reshape<texts * places, 8>(y), transpose(m.table.weight)) + m.bias;
};
constexpr auto loss_of_words = [](speaker const& m, ids x, ids next) { return cross_entropy(foretold(m, x), reshape<texts * places>(next), label_options{.ignore_index = -100, .label_smoothing = 0.1}); };
constexpr auto best_words = [](speaker const& m, ids x) { return argmax<-1>(foretold(m, x)); };
template <class... Options>
using speaks = train_step<speaker, loss_of_words, sgd, Options...>;

template <class Run>
std::vector<float> trained_words(Run& run) {
  run.settings["learning_rate"] = 0.5f;
  run.settings.set("dropout", 0.2f);
  run.settings.set("clip_norm", 0.5f);
  std::vector<float> told;
  for (int s = 0; s < 4; ++s) {
    std::vector<int> x, next;
    for (int k = 0; k < texts * places; ++k) x.push_back((k * 7 + s * 5) % words), next.push_back(k % 5 == 3 ? -100 : (k * 11 + s) % words);
    told.push_back(run(x, next).loss);
  }
  auto const all = run.read();
  told.insert(told.end(), all.begin(), all.end());
  return told;
}
template <class Step>
auto by_two() {
  return on_ranks(2, [](dist::local& rank) {
    executor<Step, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    return trained_words(run);
  });
}
template <class Step>
auto by_one() {
  executor<Step, cpu> run{seed(3), {.threads = 1}};
  return trained_words(run);
}

}  // namespace

TEST_CASE("a table of words and a loss over them are divided, and train as on one rank") {
  auto const one = by_one<speaks<>>();
  CHECK(one[0] != one[3]);
  auto const two = by_two<speaks<tensor_parallel<2>>>();
  CHECK(two[0] == two[1]);
  check_near(two[0], one, 1e-4, 2e-6);
}

TEST_CASE("halves, clipping and parts of runs beside divided words") {
  using options_of_one = speaks<mixed<bf16>, clip_gradient, accumulate_runs<2>>;
  auto const two = by_two<speaks<mixed<bf16>, clip_gradient, accumulate_runs<2>, tensor_parallel<2>>>();
  CHECK(two[0] == two[1]);
  check_near(two[0], by_one<options_of_one>(), 2e-2, 2e-3);
}

TEST_CASE("of divided words each rank keeps half, and none has all logits") {
  using one = speaks<>;
  using two = speaks<tensor_parallel<2>>;
  // Half of the words, of four matrices of 64 and of two of 96 in each block.
  constexpr std::int64_t halves = (words * 8 + 2 * (4 * 64 + 2 * 96)) / 2 * std::int64_t{sizeof(float)};
  CHECK(two::memory.parameters <= one::memory.parameters - halves);
  graph g{};
  g.training = true;
  trace<speaker, loss_of_words>(g);
  dist::divide_products(g, 2);
  int whole = 0, own = 0;
  for (int id = 0; id < g.size(); ++id) {
    whole += g.info(id).count() == texts * places * words && is_float(g.info(id).type);
    own += g.info(id).count() == texts * places * words / 2 && g[id].op->kind == op_kind::product;
  }
  CHECK(whole == 0);
  CHECK(own == 1);
}

// Of up to four places, of which a run has fewer.
struct bounded_speaker {
  nn::embedding<words, 8> table;
  nn::linear<8, 4> between;
  nn::linear<4, words> out;
};
constexpr auto bounded_loss = [](bounded_speaker const& m, tensor<int, 2, dyn<4>> x, tensor<int, 2, dyn<4>> next) { return cross_entropy(m.out(tanh(m.between(m.table(x)))), next); };

TEST_CASE("runs of fewer places than planned have the losses of one rank") {
  auto const losses = [](auto& run) {
    run.settings["learning_rate"] = 0.5f;
    std::vector<float> told;
    for (int n : {4, 3, 1, 4}) {
      std::vector<int> x, next;
      for (int k = 0; k < 2 * n; ++k) x.push_back((k * 7 + n) % words), next.push_back((k * 11 + 3) % words);
      told.push_back(run(x, next).loss);
    }
    return told;
  };
  executor<train_step<bounded_speaker, bounded_loss, sgd>, cpu> alone{seed(3), {.threads = 1}};
  auto const wanted = losses(alone);
  auto const got = on_ranks(2, [&](dist::local& rank) {
    executor<train_step<bounded_speaker, bounded_loss, sgd, tensor_parallel<2>>, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    return losses(run);
  });
  CHECK(got[0] == got[1]);
  check_near(got[0], wanted, 1e-5, 1e-7);
  graph g{};
  trace<bounded_speaker, bounded_loss>(g);
  dist::divide_products(g, 2);
  int gathered = 0;
  for (int id = 0; id < g.size(); ++id) gathered += g[id].op == &all_gather_info;  // the largest logits
  CHECK(gathered == 1);
}

TEST_CASE("a program that wants all logits has them, of the table's rows that ranks gather") {
  using two = speaks<tensor_parallel<2>>;
  auto const told = on_ranks(2, [](dist::local& rank) {
    executor<two, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    trained_words(run);
    executor<function<best_words, speaker, kept_as<two>>, distributed<cpu, dist::local>> best{run, {.threads = 1}};
    executor<function<best_words, speaker>, cpu> alone{seed(3), {.threads = 1}};
    alone.write(run.read());
    std::vector<int> x(texts * places);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<int>(k * 5) % words;
    auto const a = best(x).value, b = alone(x).value;
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  });
  CHECK(told == std::vector<int>{true, true});
}
