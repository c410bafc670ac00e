// The programs of vectors that are trained by pairs of texts: a step with the batch's other texts for negatives, and the vectors.
#include TX_BERT_MODEL_HEADER

#include "encoder_alone.hpp"
#include "packed_texts.hpp"

#include <tx/nn/losses.hpp>

namespace bert {
namespace TX_ON_CHOSEN(detail) {

using embedding_network = tuned<encoder_alone>;
inline constexpr int both_sides = 2 * model::batch;  // texts of a step: the first of each pair, then the second
using pair_tokens = per_token<both_sides * model::train_longest>;
using pair_batch = tx::text::packed_batch<both_sides, model::train_longest, both_sides * model::train_longest>;

template <int Longest>
constexpr auto vectors_of(embedding_network const& m, auto const& ids, auto const& positions, auto const& o, auto const&... types) {
  auto const hidden = tx::unwrapped(m).encoder.body.template packed<Longest>(ids, positions, o, types...);
  if constexpr (model::contrast_first) return first_of(hidden, o);
  else return mean_of(hidden, o);
}
constexpr auto loss_of_vectors(auto const& vectors) {
  auto const first = tx::slice<0, 0, model::batch>(vectors);
  return tx::nn::in_batch_softmax_loss(first, tx::slice<0, model::batch, model::batch>(vectors));
}
inline constexpr auto contrast = [] {
  if constexpr (typed)
    return [](auto const& m, pair_tokens ids, pair_tokens positions, offsets<both_sides> o, pair_tokens types) {
      return loss_of_vectors(vectors_of<model::train_longest>(m, ids, positions, o, types));
    };
  else
    return [](auto const& m, pair_tokens ids, pair_tokens positions, offsets<both_sides> o) {
      return loss_of_vectors(vectors_of<model::train_longest>(m, ids, positions, o));
    };
}();
inline constexpr auto contrasted = [] {
  if constexpr (typed)
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o, asked_tokens types) {
      return vectors_of<model::longest>(m, ids, positions, o, types);
    };
  else
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o) { return vectors_of<model::longest>(m, ids, positions, o); };
}();
using contrastive_programs = head_programs<contrastive, tuned_step<embedding_network, contrast>, tx::function<contrasted, embedding_network>>;

class compiled_contrastive final : public contrastive_programs {
 public:
  explicit compiled_contrastive(engine_options const& o) : contrastive_programs(o, true) {}

  float train(std::span<coded_text const> first, std::span<coded_text const> second, step_settings const& s, std::string const& trace) override {
    std::vector<coded_text> texts(first.begin(), first.end());
    texts.insert(texts.end(), second.begin(), second.end());
    return learned<typed>(step(), batch_, texts, s, trace);
  }
  std::vector<float> embed(std::span<coded_text const> texts) override {
    return ask([&](auto& program) { return said_of<typed>(texts, program, [](judged_batch const& b) { return b.texts() * model::config::hidden; }); });
  }
  bool first_token() const override { return model::contrast_first; }

 private:
  pair_batch batch_{};
};

command_line::maker<contrastive> const here_contrastive{command_line::engine_names, [](engine_options const& o) -> std::unique_ptr<contrastive> { return std::make_unique<compiled_contrastive>(o); }};

}  // namespace detail
}  // namespace bert
