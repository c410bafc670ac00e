// The programs of a model that finds answers in texts: a step of training, and the logits of an answer's first and last token.
#include TX_BERT_MODEL_HEADER

#include "packed_texts.hpp"

#include <tx/nn/answer_loss.hpp>
#include <tx/nn/token_classifier.hpp>

namespace bert {
namespace TX_ON_CHOSEN(detail) {

using answering_network = tuned<tx::nn::question_answering<model::family, model::config>, tx::names<"qa_outputs.*">>;
using token_places = tx::tensor<tx::i32, model::batch>;

inline constexpr auto answering_loss = [] {
  if constexpr (typed)
    return [](auto const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, step_tokens types, token_places first, token_places last) {
      return tx::nn::answer_loss(tx::unwrapped(m).template packed<model::train_longest>(ids, positions, o, types), o, first, last);
    };
  else
    return [](auto const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, token_places first, token_places last) {
      return tx::nn::answer_loss(tx::unwrapped(m).template packed<model::train_longest>(ids, positions, o), o, first, last);
    };
}();
inline constexpr auto answering = [] {
  if constexpr (typed)
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o, asked_tokens types) {
      return tx::unwrapped(m).template packed<model::longest>(ids, positions, o, types);
    };
  else
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o) { return tx::unwrapped(m).template packed<model::longest>(ids, positions, o); };
}();
using answerer_programs = head_programs<answerer, tuned_step<answering_network, answering_loss>, tx::function<answering, answering_network>>;

class compiled_answerer final : public answerer_programs {
 public:
  using answerer_programs::answerer_programs;

  float train(std::span<coded_text const> texts, std::span<std::int32_t const> first, std::span<std::int32_t const> last, step_settings const& s,
              std::string const& trace) override {
    std::int32_t before = 0;  // tokens of the texts before
    for (std::size_t t = 0; t < texts.size(); ++t) {
      first_[t] = before + first[t];
      last_[t] = before + last[t];
      before += static_cast<std::int32_t>(texts[t].ids.size());
    }
    return learned<typed>(step(), batch_, texts, s, trace, first_, last_);
  }
  std::vector<float> logits(std::span<coded_text const> texts) override {
    return ask([&](auto& program) { return said_of<typed>(texts, program, [](judged_batch const& b) { return b.tokens() * 2; }); });
  }

 private:
  step_batch batch_{};
  std::vector<std::int32_t> first_ = std::vector<std::int32_t>(model::batch), last_ = first_;  // among all tokens
};

command_line::maker<answerer, bool> const here_answerer{command_line::engine_names, [](engine_options const& o, bool trains) -> std::unique_ptr<answerer> { return std::make_unique<compiled_answerer>(o, trains); }};

}  // namespace detail
}  // namespace bert
