// Ranks that compute a part of each product: they train what one rank does, but for rounding, drop the same numbers, and are the same on all of them each time.
#include "../divided.hpp"

#include <tx/dist/tensor_parallel.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>

using namespace divided;

namespace {

struct config {
  static constexpr int layers = 2, hidden = 16, heads = 4, ffn = 24, vocabulary = 30, positions = 8, types = 2;
};
constexpr int texts = 3, places = 6, labels = 4;
using ids = tensor<i32, texts, places>;
constexpr auto told = [](nn::bert_classifier<config, labels> const& m, ids x, tensor<i32, texts> y) { return cross_entropy(m(x), y); };
template <class... Options>
using bert = train_step<nn::bert_classifier<config, labels>, told, adamw, Options...>;

// Of a step's nodes, how many of each kind.
template <class Step>
int count_of(char const* name) {
  graph g{};
  Step::record(g);
  int count = 0;
  for (int id = 0; id < g.size(); ++id) count += std::string(g[id].op->name) == name;
  return count;
}

struct texts_of {
  std::vector<i32> x, y;
  explicit texts_of(int step) {
    for (int i = 0; i < texts * places; ++i) x.push_back((i * 7 + step * 3) % 29 + 1);
    for (int t = 0; t < texts; ++t) y.push_back((t + step) % labels);
  }
};

template <class Run>
trained<float> trained_on_texts(Run& run, int steps = 6) {
  run.settings["learning_rate"] = 0.01f;
  trained<float> out;
  for (int s = 0; s < steps; ++s) {
    texts_of const b(s);
    out.told.push_back(static_cast<double>(run(b.x, b.y).loss));
  }
  for (int k = 0; k <= run.states(); ++k) out.blocks.push_back(run.read(k));
  return out;
}
template <class Step>
auto by_ranks(int ranks) {
  return on_ranks(ranks, [](dist::local& rank) {
    executor<Step, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    return trained_on_texts(run);
  });
}
template <class Step>
trained<float> by_one() {
  executor<Step, cpu> run{seed(3), {.threads = 1}};
  return trained_on_texts(run);
}

void check_trained_near(trained<float> const& got, trained<float> const& wanted, double near, double apart) {
  REQUIRE(got.told.size() == wanted.told.size());
  for (std::size_t k = 0; k < got.told.size(); ++k) CHECK(got.told[k] == Approx(wanted.told[k]).epsilon(near));
  REQUIRE(got.blocks[0].size() == wanted.blocks[0].size());
  std::size_t far = 0;  // where a gradient is rounding alone, Adam's step is of any sign
  for (std::size_t i = 0; i < got.blocks[0].size(); ++i) far += !(std::abs(got.blocks[0][i] - wanted.blocks[0][i]) <= apart);
  CHECK(far * 50 <= got.blocks[0].size());
}
void check_all_the_same(std::vector<trained<float>> const& ranks, std::vector<trained<float>> const& again) {
  for (auto const* all : {&ranks, &again})
    for (auto const& of_rank : *all) {
      CHECK(of_rank.told == ranks[0].told);
      for (std::size_t k = 0; k < of_rank.blocks.size(); ++k)
        CHECK(std::memcmp(of_rank.blocks[k].data(), ranks[0].blocks[k].data(), ranks[0].blocks[k].size() * sizeof(float)) == 0);
    }
}

}  // namespace

TEST_CASE("layers and heads are divided, with one sum forward and one backward for each pair of layers") {
  // Two layers, the last peeled as its head reads one token, and the head's own pair: attention and feed-forward of each.
  CHECK(count_of<bert<>>("sum_over_ranks") == 0);
  int const sums = count_of<bert<tensor_parallel<2>>>("sum_over_ranks");
  CHECK(sums == 5 + 6);  // backward the last layer's queries have one of their own, as they are of fewer places than keys
  CHECK(count_of<bert<tensor_parallel<4>>>("sum_over_ranks") == sums);
}

TEST_CASE("two ranks with parts of the products of a BERT train what one does, with dropout") {
  auto const one = by_one<bert<clip_gradient>>();
  CHECK(one.told.front() != one.told.back());
  auto const two = by_ranks<bert<clip_gradient, tensor_parallel<2>>>(2);
  check_trained_near(two[0], one, 1e-5, 1e-4);
  check_all_the_same(two, by_ranks<bert<clip_gradient, tensor_parallel<2>>>(2));
}

TEST_CASE("a program that scores is divided too") {
  static constexpr auto scores = [](nn::bert_classifier<config, labels> const& m, ids x) { return m(x); };
  texts_of const b(0);
  executor<function<scores, nn::bert_classifier<config, labels>>, cpu> one{seed(3), {.threads = 1}};
  auto const wanted = one(b.x).value;
  auto const got = on_ranks(2, [&](dist::local& rank) {
    executor<function<scores, nn::bert_classifier<config, labels>, tensor_parallel<2>>, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    auto const& v = run(b.x).value;
    return std::vector<float>(v.begin(), v.end());
  });
  CHECK(got[0] == got[1]);
  for (std::size_t i = 0; i < got[0].size(); ++i) CHECK(got[0][i] == Approx(wanted[i]).epsilon(1e-5));
}
