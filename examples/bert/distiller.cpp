// The programs of a student and its teacher: a step in which the student learns from labels and from the teacher, and what both say of texts.
#include TX_BERT_MODEL_HEADER

#include "tuned.hpp"
#include "whole_texts.hpp"

#include <tx/expr/inference.hpp>
#include <tx/expr/model_walk.hpp>
#include <tx/io/check_config.hpp>
#include <tx/io/pretrained.hpp>
#include <tx/nn/attention_distillation.hpp>
#include <tx/nn/distillation.hpp>

namespace bert {
namespace TX_ON_CHOSEN(detail) {

namespace taught = model::teacher;
using student_network = tx::nn::sequence_classifier<model::family, model::config, model::labels>;
using teacher_network = tx::nn::sequence_classifier<taught::family, taught::config, model::labels>;
inline constexpr bool types_of_either = typed || taught::config::types > 1;

struct pair_of_networks {
  student_network student;
  tx::frozen_module<teacher_network> teacher;  // neither gradient nor states of an optimizer
  std::conditional_t<taught::hidden_states, tx::nn::hidden_projection<model::config::hidden, taught::config::hidden>, tx::nn::hidden_projection<0, 0>> projection;
};

// What f says of packed texts; types of tokens are kept from a model that has none.
template <class Config>
constexpr auto known_to(auto&& f, auto const& ids, auto const& positions, auto const& offsets, auto const&... types) {
  if constexpr (Config::types > 1) return f(ids, positions, offsets, types...);
  else return f(ids, positions, offsets);
}

// logits [batch, labels] of both
constexpr auto loss_from_logits(auto const& student, auto const& teacher, targets const& wanted) {
  auto const hard = tx::setting<"hard_share">(student, 0.5);
  auto const soft = [&] {
    if constexpr (model::labels == 1) return tx::mse(student, tx::stop_gradient(teacher));
    else return tx::nn::distillation_loss(student, teacher, tx::setting<"temperature">(student, 2.0));
  }();
  return loss_of(student, wanted) * hard + soft * (1 - hard);
}
constexpr auto taught_loss(pair_of_networks const& m, targets const& wanted, auto const& ids, auto const& positions, auto const& o, auto const&... types) {
  auto const say = [](auto const& network) {
    return [&](auto const&... x) {
      if constexpr (taught::attention) return network.template packed_with_attention<model::train_longest>(x...);
      else if constexpr (taught::hidden_states) return network.template packed_with_states<model::train_longest>(x...);
      else return network.template packed<model::train_longest>(x...);
    };
  };
  auto const wise = known_to<taught::config>(tx::inference(say(m.teacher.body)), ids, positions, o, types...);  // without dropout
  auto const own = known_to<model::config>(say(m.student), ids, positions, o, types...);
  if constexpr (taught::hidden_states || taught::attention) {
    auto const by_scores = loss_from_logits(own.logits, wise.logits, wanted);
    auto const by_states = [&] {
      if constexpr (taught::hidden_states)
        return by_scores + tx::nn::hidden_state_loss(m.projection(own.hidden_states), wise.hidden_states) * tx::setting<"hidden_weight">(own.logits, 1.0);
      else return by_scores;
    }();
    if constexpr (taught::attention)
      return by_states + tx::nn::self_attention_loss(own.attention, wise.attention, tx::nn::texts_at<model::train_longest>(o)) * tx::setting<"attention_weight">(own.logits, 1.0);
    else return by_states;
  } else {
    return loss_from_logits(own, wise, wanted);
  }
}
inline constexpr auto distillation = [] {
  if constexpr (types_of_either)
    return [](auto const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, step_tokens types, targets wanted) {
      return taught_loss(m, wanted, ids, positions, o, types);
    };
  else
    return [](auto const& m, step_tokens ids, step_tokens positions, offsets<model::batch> o, targets wanted) { return taught_loss(m, wanted, ids, positions, o); };
}();
// What one of them says of texts.
template <class Config, auto Network>
inline constexpr auto asked = [] {
  if constexpr (Config::types > 1)
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o, asked_tokens types) {
      return Network(m).template packed<model::longest>(ids, positions, o, types);
    };
  else
    return [](auto const& m, asked_tokens ids, asked_tokens positions, offsets<judged> o) { return Network(m).template packed<model::longest>(ids, positions, o); };
}();
inline constexpr auto the_student = [](pair_of_networks const& m) -> auto const& { return m.student; };
inline constexpr auto the_teacher = [](pair_of_networks const& m) -> auto const& { return m.teacher.body; };

using distillation_step = step_of<pair_of_networks, distillation, tx::adamw>;

class compiled_distiller final : public run_of<distiller, compiled_distiller> {
 public:
  explicit compiled_distiller(engine_options const& o) : step_(o), student_(step_, o), teacher_(step_, o) {}

  float train(std::span<coded_text const> texts, std::span<float const> wanted, step_settings const& s, std::string const& trace) override {
    step_.settings.set("temperature", static_cast<float>(learns.temperature));
    step_.settings.set("hard_share", static_cast<float>(learns.hard));
    step_.settings.set("hidden_weight", static_cast<float>(learns.hidden));
    step_.settings.set("attention_weight", static_cast<float>(learns.attention));
    return learned<types_of_either>(step_, batch_, texts, s, trace, wanted);
  }
  std::vector<float> logits(std::span<coded_text const> texts) override { return logits_of<typed>(texts, student_); }
  std::vector<float> teacher_logits(std::span<coded_text const> texts) override { return logits_of<(taught::config::types > 1)>(texts, teacher_); }
  std::vector<named_tensor> student(std::span<named_tensor const> all) const override { return below("student.", all); }
  std::vector<named_tensor> teacher(std::span<named_tensor const> all) const override { return below("teacher.", all); }
  bool hidden_states() const override { return taught::hidden_states; }
  bool attention() const override { return taught::attention; }

  void load_teacher(tx::io::model_folder const& folder) override {
    tx::io::check_config<taught::config>(folder, {taught::model_type});
    this->change([&](std::vector<named_tensor> const& tensors) {
      auto const report = tx::io::load_pretrained(folder, teacher(tensors), std::string(taught::family::name.view()));
      if (!report.fresh.empty()) throw tx::format_error(folder.path().string() + " lacks " + report.fresh.front() + called(". FIX: a teacher that was trained for labels, as bert finetune writes it"));
    });
  }
  auto& step() const { return step_; }

 private:
  // The tensors whose names begin so, named by what follows.
  static std::vector<named_tensor> below(std::string_view prefix, std::span<named_tensor const> all) {
    std::vector<named_tensor> out;
    for (named_tensor const& t : all)
      if (t.name.starts_with(prefix)) out.push_back({t.name.substr(prefix.size()), t.shape, t.data});
    return out;
  }

  mutable runner<distillation_step> step_;
  runner<command_line::beside<distillation_step, tx::function<asked<model::config, the_student>, pair_of_networks>>> student_;
  runner<command_line::beside<distillation_step, tx::function<asked<taught::config, the_teacher>, pair_of_networks>>> teacher_;
  step_batch batch_{};
};

command_line::maker<distiller> const here_distiller{command_line::engine_names, [](engine_options const& o) -> std::unique_ptr<distiller> { return std::make_unique<compiled_distiller>(o); }};

}  // namespace detail
}  // namespace bert
