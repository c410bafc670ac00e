// Every program of the trainer behind an engine, for a backend and further options of its steps. Included where they are instantiated alone: engine.cpp for each
// kind of device, engine_of_ranks.cpp for several processes.
#pragma once

#include "engine.hpp"

#include TWINBERT_MODEL_HEADER
#include "../command_line/run_of.hpp"
#include "../command_line/step_trace.hpp"

#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <algorithm>
#include <optional>

namespace twinbert {
namespace detail {

using compiled_model = tx::nn::twinbert<config>;
using loss = training::loss;
static_assert(loss::labelled || std::is_same_v<config::crossing, tx::nn::cosine>,
              "twinbert: the in-batch softmax compares by cosine. FIX: `using crossing = tx::nn::cosine;`");
static_assert(training::document_words <= config::document_words && config::query_words <= config::document_words,
              "twinbert: config::document_words is below training::document_words or config::query_words");

template <auto Batch, int Words>
using ids = config::input::ids<Batch, Words>;
using vectors = tx::tensor<tx::f32, encode_batch, config::hidden>;

// The vector of a text. Without the encoder the pooler sees the words themselves.
template <bool Layers, side S>
constexpr auto encode_text(auto const& model, auto const& text) {
  if constexpr (Layers) {
    if constexpr (S == side::query)
      return model.query(text);
    else
      return model.document(text);
  } else {
    auto const bag = [&](auto const& tower) { return tower.pooler(tower.embeddings(text), config::input::mask(text)); };
    if constexpr (config::shared)
      return bag(model.towers.both);
    else if constexpr (S == side::query)
      return bag(model.towers.query);
    else
      return bag(model.towers.document);
  }
}

template <bool Layers>
inline constexpr int batch = Layers ? training::batch : training::bag_batch;
template <bool Layers>
inline constexpr auto loss_of = [](auto const& model, ids<batch<Layers>, config::query_words> q,
                                   ids<batch<Layers>, training::document_words> d,
                                   tx::tensor<tx::f32, batch<Layers>> labels) {
  auto const query = encode_text<Layers, side::query>(model, q);
  return loss::of(model, query, encode_text<Layers, side::document>(model, d), labels);
};
template <bool Layers>
inline constexpr auto query_vectors = [](auto const& model, ids<tx::dyn<encode_batch>, config::query_words> x) {
  return encode_text<Layers, side::query>(model, x);
};
template <bool Layers>
inline constexpr auto document_vectors = [](auto const& model, ids<tx::dyn<encode_batch>, config::document_words> x) {
  return encode_text<Layers, side::document>(model, x);
};
inline constexpr auto scores = [](auto const& model, vectors q, vectors d) { return loss::score(model, q, d); };

template <bool Layers, class... Options>
using step = tx::train_step<compiled_model, loss_of<Layers>, tx::adamw, tx::clip_gradient, Options...>;

// A model compiled without layers has one program of each kind.
inline constexpr bool has_layers = config::layers > 0;

struct no_program {
  no_program(auto const&, tx::run_options) {}
};

// One program for each tower. A shared tower gives a query the same vector with a document's padding as with its own.
template <bool Layers, class Backend>
struct text_encoders {
  tx::executor<tx::function<document_vectors<Layers>, compiled_model>, Backend> document;
  std::conditional_t<config::shared, no_program, tx::executor<tx::function<query_vectors<Layers>, compiled_model>, Backend>> query;

  text_encoders(auto const& parameters, tx::run_options o) : document(parameters, o), query(parameters, o) {}
  text_encoders(text_encoders const&) = delete;
  text_encoders& operator=(text_encoders const&) = delete;

  // ids: [texts, words, slots], at most encode_batch texts, `words` as the program takes them
  std::span<float const> operator()([[maybe_unused]] side s, std::span<std::int32_t const> ids) {
    auto const vectors_of = [&](auto& program) {
      auto const& v = program(ids).value;
      return std::span<float const>(v.begin(), v.end());
    };
    if constexpr (!config::shared) {
      if (s == side::query) return vectors_of(query);
    }
    return vectors_of(document);
  }
};

template <class Step, class Backend>
float run_step(tx::executor<Step, Backend>& run, auto const& queries, auto const& documents, auto const& labels, step_settings const& s,
               std::string const& trace) {
  run.settings["learning_rate"] = static_cast<float>(s.rate);
  run.settings.set("dropout", static_cast<float>(s.dropout));
  run.settings.set("clip_norm", static_cast<float>(s.clip));
  for (int g = 0; g < tx::layout<compiled_model>::groups.size(); ++g) {
    auto& group = run.settings.groups[static_cast<std::size_t>(g)];
    if (tx::layout<compiled_model>::groups[g].key == tx::detail::type_key<config::word_group>())
      group = {static_cast<float>(s.word_rate), static_cast<float>(s.word_decay)};
    else if (group.decay > 0)
      group.decay = static_cast<float>(s.decay);
  }
  command_line::step_trace<Step, Backend> const traced(run, trace);
  float const told = run(queries, documents, labels).loss;
  traced.write();
  return told;
}

// Texts of a side, `encode_batch` at a time, brought to as many words as the program takes.
void encode_all(auto& encoders, side s, std::span<std::int32_t const> ids, std::span<float> out) {
  auto const& d = compiled();
  auto const given = static_cast<std::size_t>(d.words(s) * d.slots());
  auto const taken = static_cast<std::size_t>(d.words(config::shared ? side::document : s) * d.slots());
  auto const hidden = static_cast<std::size_t>(d.hidden);
  std::size_t const texts = ids.size() / given;
  std::vector<std::int32_t> padded(taken * encode_batch);
  for (std::size_t at = 0; at < texts; at += encode_batch) {
    std::size_t const count = std::min<std::size_t>(encode_batch, texts - at);
    std::ranges::fill(padded, d.empty());
    for (std::size_t i = 0; i < count; ++i)
      std::ranges::copy(ids.subspan((at + i) * given, given), padded.data() + i * taken);
    std::ranges::copy(encoders(s, std::span(padded).first(count * taken)), out.data() + at * hidden);
  }
}

template <class Backend, class... Options>
class engine_on : public command_line::run_of<engine, engine_on<Backend, Options...>> {
  using base = command_line::run_of<engine, engine_on>;

 public:
  // ranks: the communicator of a backend that has one
  explicit engine_on(engine_options const& o, bool layers, auto&... ranks)
      : layers_(layers && has_layers), run_{o.threads}, bag_step_(tx::seed(o.seed), ranks..., run_), crossing_(bag_step_, run_) {}

  engine_on(engine_on const&) = delete;
  engine_on& operator=(engine_on const&) = delete;

  float train(std::span<std::int32_t const> queries, std::span<std::int32_t const> documents, std::span<float const> labels, step_settings const& settings, bool layers,
              std::string const& trace) override {
    if (!layers || !layers_) return run_step(bag_step_, queries, documents, labels, settings, trace);
    if (!full_step_) full_step_.emplace(bag_step_, run_);
    return run_step(*full_step_, queries, documents, labels, settings, trace);
  }
  void reset_optimizer() override { bag_step_.reset_optimizer(); }

  void encode(side s, std::span<std::int32_t const> ids, std::span<float> out) override {
    if (!layers_) return encode_bags(s, ids, out);
    if (!encoders_) encoders_.emplace(bag_step_, run_);
    encode_all(*encoders_, s, ids, out);
  }
  void encode_bags(side s, std::span<std::int32_t const> ids, std::span<float> out) override {
    if (!bag_encoders_) bag_encoders_.emplace(bag_step_, run_);
    encode_all(*bag_encoders_, s, ids, out);
  }
  void score(std::span<float const> queries, std::span<float const> documents, std::span<float> out) override {
    std::vector<float> q(std::size_t{vectors::info.count()}), d(std::size_t{vectors::info.count()});
    for (std::size_t at = 0; at < out.size(); at += encode_batch) {
      std::size_t const count = std::min<std::size_t>(encode_batch, out.size() - at);
      std::ranges::copy(queries.subspan(at * config::hidden, count * config::hidden), q.begin());
      std::ranges::copy(documents.subspan(at * config::hidden, count * config::hidden), d.begin());
      auto const result = crossing_(q, d);
      std::ranges::copy_n(result.value.begin(), static_cast<std::ptrdiff_t>(count), out.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  command_line::held_tensors held(int k) const override {
    auto all = base::held(k);
    leave_out(all.tensors);
    return all;
  }
  std::vector<named_tensor> tensors_of(std::span<float> copy, int k) const override {
    auto all = base::tensors_of(copy, k);
    leave_out(all);
    return all;
  }
  auto& step() const { return bag_step_; }

 private:
  template <class Step>
  using runner = tx::executor<Step, Backend>;

  // Of the encoder, where that takes no part.
  void leave_out(std::vector<named_tensor>& tensors) const {
    if (!layers_) std::erase_if(tensors, [](named_tensor const& t) { return t.name.find(".encoder.") != std::string::npos; });
  }

  bool layers_;
  tx::run_options run_;
  mutable runner<detail::step<false, Options...>> bag_step_;
  // As few arenas as the work needs.
  std::optional<runner<detail::step<has_layers, Options...>>> full_step_;
  std::optional<text_encoders<false, Backend>> bag_encoders_;
  std::optional<text_encoders<has_layers, Backend>> encoders_;
  runner<tx::function<scores, compiled_model>> crossing_;
};

}  // namespace detail
}  // namespace twinbert
