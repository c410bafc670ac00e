// Vocabularies of any number of words and ranks, by one table and by two, and programs beside their steps.
#include "../words.hpp"

#include <tx/ops/argmax.hpp>

using namespace divided;

namespace {

constexpr int many = 29;
using tied = word_model<many, 3, true>;
using by_three = step_of_words<tied, near_adamw, tensor_parallel<3>>;
template <class Step>
using running = executor<Step, distributed<cpu, dist::local>>;

constexpr auto best_words = [](tied const& m, word_ids x) { return argmax<-1>(m.logits(x)); };
constexpr auto likeliest = [](tied const& m, word_ids x) { return max<-1>(softmax<-1>(m.logits(x))); };

template <int Words, int Width, bool Tied, int... Ranks>
void check_vocabulary() {
  CAPTURE(Words, Tied);
  using net = word_model<Words, Width, Tied>;
  auto const one = words_by_one<Words, step_of_words<net, near_adamw>>();
  (check_words(words_by_ranks<Words, step_of_words<net, near_adamw, tensor_parallel<Ranks>>>(Ranks), one), ...);
}

}  // namespace

TEST_CASE("words by one table, and by two, are divided among any number of ranks") {
  check_vocabulary<29, 3, true, 2, 3, 4>();
  check_vocabulary<101, 8, false, 2, 3, 4>();
  check_vocabulary<7, 3, true, 4>();
  check_vocabulary<5, 2, false, 4>();  // two, two, one and none
  check_vocabulary<1029, 3, true, 2>();  // 520 and 509
}

TEST_CASE("programs beside such a step see the words that there are") {
  auto const told = on_ranks(3, [](dist::local& rank) {
    running<by_three> run{seed(3), rank, {.threads = 1}};
    trained_words<many>(run);
    auto all = run.read();
    for (auto const& v : parameters_of<tied>())
      if (v.name == "bias") std::fill_n(all.begin() + v.offset, many, -50.0f);  // what is behind the last word would be the likeliest
    run.write(all);
    executor<function<best_words, tied>, cpu> best_alone{seed(0), {.threads = 1}};
    executor<function<likeliest, tied>, cpu> alone{seed(0), {.threads = 1}};
    best_alone.write(all);
    alone.write(all);
    executor<function<best_words, tied, kept_as<by_three>>, distributed<cpu, dist::local>> best{run, {.threads = 1}};
    executor<function<likeliest, tied, kept_as<by_three>>, distributed<cpu, dist::local>> kept{run, {.threads = 1}};
    executor<function<likeliest, tied, tensor_parallel<3>>, distributed<cpu, dist::local>> parts{seed(0), rank, {.threads = 1}};
    parts.write(all);
    std::vector<int> const x{0, 28, 3, 27, 28, 5};
    auto const& a = best(x).value;
    auto const& b = best_alone(x).value;
    bool same = run.read() == all && std::equal(a.begin(), a.end(), b.begin(), b.end());
    auto const& wanted = alone(x).value;
    auto const near = [&](auto const& got) { return std::equal(got.begin(), got.end(), wanted.begin(), wanted.end(), [](float p, float q) { return std::abs(p - q) < 1e-6f; }); };
    same = near(kept(x).value) && same;
    return near(parts(x).value) && same;
  });
  CHECK(told == std::vector<int>(3, true));
}
