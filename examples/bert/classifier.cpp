// The programs of a model with a head for whole texts: a step of training, and the head's logits.
#include "packing.hpp"

#include TX_BERT_MODEL_HEADER

#include <tx/backends/cpu.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/mse.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/step.hpp>

#include <optional>

namespace bert {
namespace detail {

using network = tx::nn::sequence_classifier<model::family, model::config, model::labels>;
inline constexpr bool typed = model::config::types > 1;
inline constexpr int judged = 32;  // texts whose logits are computed together
inline constexpr int judged_tokens = judged * model::train_longest > model::longest ? judged * model::train_longest : model::longest;

template <int Tokens>
using per_token = tx::tensor<tx::i32, tx::dyn<Tokens>>;
template <int Texts>
using offsets = tx::tensor<tx::i32, Texts + 1>;
using targets = tx::tensor<tx::f32, model::batch>;
using step_tokens = per_token<model::batch * model::train_longest>;

constexpr auto loss_of(auto const& logits, targets const& wanted) {
  if constexpr (model::labels == 1) return tx::mse(tx::reshape<model::batch>(logits), wanted);
  else return tx::cross_entropy(logits, tx::cast<tx::i32>(wanted));
}
// Without types of tokens where the model has none, as programs take all their arguments.
inline constexpr auto loss = [] {
  if constexpr (typed)
    return [](network const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, step_tokens types, targets wanted) {
      return loss_of(m.packed<model::train_longest>(ids, positions, o, types), wanted);
    };
  else
    return [](network const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, targets wanted) {
      return loss_of(m.packed<model::train_longest>(ids, positions, o), wanted);
    };
}();
inline constexpr auto judge = [] {
  using tokens = per_token<judged_tokens>;
  if constexpr (typed)
    return [](network const& m, tokens ids, tokens positions, offsets<judged> o, tokens types) { return m.packed<model::longest>(ids, positions, o, types); };
  else
    return [](network const& m, tokens ids, tokens positions, offsets<judged> o) { return m.packed<model::longest>(ids, positions, o); };
}();

using step_program = tx::train_step<network, loss, tx::adamw>;
template <class Program>
using runner = tx::executor<Program, tx::cpu>;
using step_batch = tx::text::packed_batch<model::batch, model::train_longest, model::batch * model::train_longest>;
using judged_batch = tx::text::packed_batch<judged, model::longest, judged_tokens>;

class compiled_classifier final : public run_of<classifier, compiled_classifier> {
 public:
  compiled_classifier(std::uint64_t seed, tx::run_options const& o, bool trains) {
    if (trains) step_.emplace(tx::seed(seed), o);
    if (step_) judge_.emplace(*step_, o);  // of the step's parameters
    else judge_.emplace(tx::seed(seed), o);
  }

  float train(std::span<coded_text const> texts, std::span<float const> wanted, step_settings const& s, std::string const& trace) override {
    batch_.clear();
    for (coded_text const& t : texts) batch_.add(t.ids, t.types);
    return traced_step<step_program>(*step_, s, trace, [&] { return static_cast<float>(run_packed<typed>(*step_, batch_, wanted).loss); });
  }
  std::vector<float> logits(std::span<coded_text const> texts) override {
    std::vector<float> out;
    for_each_batch<judged_batch>(texts, [&](judged_batch const& b) {
      auto const& v = run_packed<typed>(*judge_, b).value;
      out.insert(out.end(), v.begin(), v.begin() + b.texts() * model::labels);
    });
    return out;
  }
  std::vector<named_tensor> tensors(int k) const override { return step_ ? plain(step_->tensors(k)) : plain(judge_->tensors()); }
  auto& step() const { return *step_; }

 private:
  mutable std::optional<runner<step_program>> step_;
  std::optional<runner<tx::function<judge, network>>> judge_;
  step_batch batch_{};
};

}  // namespace detail

std::unique_ptr<classifier> make_classifier(std::uint64_t seed, int threads, bool trains) {
  return std::make_unique<detail::compiled_classifier>(seed, tx::run_options{threads}, trains);
}

}  // namespace bert
