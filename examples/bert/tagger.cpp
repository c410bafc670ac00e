// The programs of a model with a head for each token: a step of training, and the head's logits.
#include TX_BERT_MODEL_HEADER

#include "packed_texts.hpp"

#include <tx/nn/token_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>

namespace bert {
namespace TX_ON_CHOSEN(detail) {

using tagging_network = tuned<tx::nn::token_classifier<model::family, model::config, model::tags>, tx::names<"classifier.*">>;
inline constexpr tx::label_options first_pieces{.ignore_index = no_label};

inline constexpr auto tagging_loss = [] {
  if constexpr (typed)
    return [](auto const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, step_tokens types, step_tokens labels) {
      return tx::cross_entropy(tx::unwrapped(m).template packed<model::train_longest>(ids, positions, o, types), labels, first_pieces);
    };
  else
    return [](auto const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, step_tokens labels) {
      return tx::cross_entropy(tx::unwrapped(m).template packed<model::train_longest>(ids, positions, o), labels, first_pieces);
    };
}();
inline constexpr auto tagging = [] {
  if constexpr (typed)
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o, asked_tokens types) {
      return tx::unwrapped(m).template packed<model::longest>(ids, positions, o, types);
    };
  else
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o) { return tx::unwrapped(m).template packed<model::longest>(ids, positions, o); };
}();
using tagger_programs = head_programs<tagger, tuned_step<tagging_network, tagging_loss>, tx::function<tagging, tagging_network>>;

class compiled_tagger final : public tagger_programs {
 public:
  using tagger_programs::tagger_programs;

  float train(std::span<coded_text const> texts, std::span<std::int32_t const> labels, step_settings const& s, std::string const& trace) override {
    return learned<typed>(step(), batch_, texts, s, trace, labels);
  }
  std::vector<float> logits(std::span<coded_text const> texts) override {
    return ask([&](auto& program) { return said_of<typed>(texts, program, [](judged_batch const& b) { return b.tokens() * model::tags; }); });
  }

 private:
  step_batch batch_{};
};

command_line::maker<tagger, bool> const here_tagger{command_line::engine_names, [](engine_options const& o, bool trains) -> std::unique_ptr<tagger> { return std::make_unique<compiled_tagger>(o, trains); }};

}  // namespace detail
}  // namespace bert
