// Programs of other lengths and neighbours give a text the same vector, bit by bit.
#include "trains.hpp"

#include <tx/step/function.hpp>

namespace {

struct config : tx::nn::twinbert_config {
  static constexpr int layers = 2;
  static constexpr int hidden = 48;
  static constexpr int heads = 4;
  static constexpr int ffn = 40;
  static constexpr int vocabulary = 100;
  static constexpr int query_words = 9;
  static constexpr int document_words = 50;
  using input = tx::nn::wordpiece;
};
using model = tx::nn::twinbert<config>;

constexpr auto alone = [](auto const& m, tx::nn::query_ids<config, 1> x) { return m.query(x); };
constexpr auto beside = [](auto const& m, tx::nn::document_ids<config, 5> x) { return m.document(x); };

}  // namespace

TEST_CASE("a text's vector depends on neither padding nor neighbours") {
  tx::executor<tx::function<alone, model>, tx::cpu> short_program{tx::seed(2), {2}};
  tx::executor<tx::function<beside, model>, tx::cpu> long_program{short_program, {2}};
  std::vector<std::int32_t> text(9), batch(5 * 50);
  for (int words = 1; words <= 9; ++words) {
    for (std::size_t i = 0; i < batch.size(); ++i)
      batch[i] = i % 50 < 7 * (i / 50 + 1) ? 1 + static_cast<std::int32_t>(i * 13 % 99) : 0;
    for (int w = 0; w < 9; ++w) text[static_cast<std::size_t>(w)] = w < words ? 1 + (w * 29 + words) % 99 : 0;
    std::fill_n(batch.begin() + 100, 50, 0);
    std::copy(text.begin(), text.end(), batch.begin() + 100);
    auto const one = short_program(text).value;
    auto const many = long_program(batch).value;
    CHECK(std::vector<float>(one.begin(), one.end()) ==
          std::vector<float>(many.begin() + 2 * 48, many.begin() + 3 * 48));
  }
}
