// The programs of a model with a head for whole texts: a step of training, and the head's logits.
#include TX_BERT_MODEL_HEADER

#include "whole_texts.hpp"

namespace bert {
namespace TX_ON_CHOSEN(detail) {

using network = tuned<tx::nn::sequence_classifier<model::family, model::config, model::labels>, sequence_head>;
// Without types of tokens where the model has none, as programs take all their arguments. Of `auto` models, as what is not chosen is compiled else.
inline constexpr auto loss = [] {
  if constexpr (typed)
    return [](auto const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, step_tokens types, targets wanted) {
      return loss_of(tx::unwrapped(m).template packed<model::train_longest>(ids, positions, o, types), wanted);
    };
  else
    return [](auto const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, targets wanted) {
      return loss_of(tx::unwrapped(m).template packed<model::train_longest>(ids, positions, o), wanted);
    };
}();
inline constexpr auto judge = [] {
  if constexpr (typed)
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o, asked_tokens types) {
      return tx::unwrapped(m).template packed<model::longest>(ids, positions, o, types);
    };
  else
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o) { return tx::unwrapped(m).template packed<model::longest>(ids, positions, o); };
}();

using classifier_programs = head_programs<classifier, tuned_step<network, loss>, tx::function<judge, network>>;

class compiled_classifier final : public classifier_programs {
 public:
  using classifier_programs::classifier_programs;

  float train(std::span<coded_text const> texts, std::span<float const> wanted, step_settings const& s, std::string const& trace) override {
    return learned<typed>(step(), batch_, texts, s, trace, wanted);
  }
  std::vector<float> logits(std::span<coded_text const> texts) override {
    return ask([&](auto& program) { return logits_of<typed>(texts, program); });
  }

 private:
  step_batch batch_{};
};

command_line::maker<classifier, bool> const here_classifier{command_line::engine_names, [](engine_options const& o, bool trains) -> std::unique_ptr<classifier> { return std::make_unique<compiled_classifier>(o, trains); }};

}  // namespace detail
}  // namespace bert
