// Instantiates every program of the trainer: one file, so that they share their kernels.
#include "engine.hpp"

#include TWINBERT_MODEL_HEADER

#include <tx/backends/cpu.hpp>
#include <tx/inspect/profile.hpp>
#include <tx/io/chrome_trace.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <algorithm>
#include <optional>

namespace twinbert {
namespace detail {

inline constexpr int encode_batch = 32;
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

template <bool Layers>
using step = tx::train_step<compiled_model, loss_of<Layers>, tx::adamw, tx::clip_gradient>;
template <class Step>
using runner = tx::executor<Step, tx::cpu>;

// A model compiled without layers has one program of each kind.
inline constexpr bool has_layers = config::layers > 0;

struct no_program {
  no_program(auto const&, tx::run_options) {}
};

// One program for each tower. A shared tower gives a query the same vector with a document's padding as with its own.
template <bool Layers>
struct text_encoders {
  runner<tx::function<document_vectors<Layers>, compiled_model>> document;
  std::conditional_t<config::shared, no_program, runner<tx::function<query_vectors<Layers>, compiled_model>>> query;

  text_encoders(auto const& parameters, tx::run_options o) : document(parameters, o), query(parameters, o) {}

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

template <class Crossing>
constexpr char const* crossing_name = std::is_same_v<Crossing, tx::nn::cosine> ? "cosine" : "residual";
template <class Pooler>
constexpr char const* pooler_name = std::is_same_v<Pooler, tx::nn::cls_pooler> ? "cls" : "weighted";

template <class Input>
constexpr int letters_of = 0;
template <int Letters>
constexpr int letters_of<tx::nn::tri_letter<Letters>> = Letters;

template <class Step>
float run_step(runner<Step>& run, auto const& queries, auto const& documents, auto const& labels, step_settings const& s,
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
  tx::exec::kernel_log log;
  run.profile(trace.empty() ? nullptr : &log);
  float const told = run(queries, documents, labels).loss;
  run.profile(nullptr);
  if (!trace.empty()) tx::io::write_trace(trace, tx::profile_of<Step>(log));
  return told;
}

}  // namespace detail

using namespace detail;

struct engine::programs {
  explicit programs(engine_options const& o)
      : layers(o.layers && has_layers), run{o.threads}, bag_step(tx::seed(o.seed), run), crossing(bag_step, run) {}

  bool layers;
  tx::run_options run;
  runner<step<false>> bag_step;
  // As few arenas as the work needs.
  std::optional<runner<step<has_layers>>> full_step;
  std::optional<text_encoders<false>> bag_encoders;
  std::optional<text_encoders<has_layers>> encoders;
  runner<tx::function<scores, compiled_model>> crossing;
};

description const& compiled() {
  static description const d{
      config::layers,
      config::hidden,
      config::heads,
      config::ffn,
      config::vocabulary,
      config::query_words,
      config::document_words,
      letters_of<config::input>,
      config::shared,
      letters_of<config::input> == 0 && std::is_same_v<config::pooler, tx::nn::cls_pooler>,
      loss::labelled,
      !loss::labelled,
      pooler_name<config::pooler>,
      crossing_name<config::crossing>,
      std::is_same_v<config::block, tx::nn::pre_norm> ? "pre-norm" : "post-norm",
      loss::name,
      training::batch,
      training::bag_batch,
      training::document_words,
      encode_batch,
      training::bag_steps,
      training::steps,
      training::group,
      training::rate,
      training::bag_word_rate,
      static_cast<double>(config::word_group::rate),
      static_cast<double>(config::word_group::decay),
      training::dropout,
      training::warmup,
      training::cloze,
  };
  return d;
}

engine::engine(engine_options const& options) : programs_(std::make_unique<programs>(options)) {}
engine::~engine() = default;

float engine::train(std::span<std::int32_t const> queries, std::span<std::int32_t const> documents,
                    std::span<float const> labels, step_settings const& settings, bool layers, std::string const& trace) {
  programs& p = *programs_;
  if (!layers || !p.layers) return run_step(p.bag_step, queries, documents, labels, settings, trace);
  if (!p.full_step) p.full_step.emplace(p.bag_step, p.run);
  return run_step(*p.full_step, queries, documents, labels, settings, trace);
}

void engine::reset_optimizer() {
  programs_->bag_step.reset_optimizer();
}

namespace {

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

}  // namespace

void engine::encode(side s, std::span<std::int32_t const> ids, std::span<float> out) {
  if (!programs_->layers) return encode_bags(s, ids, out);
  if (!programs_->encoders) programs_->encoders.emplace(programs_->bag_step, programs_->run);
  encode_all(*programs_->encoders, s, ids, out);
}

void engine::encode_bags(side s, std::span<std::int32_t const> ids, std::span<float> out) {
  if (!programs_->bag_encoders) programs_->bag_encoders.emplace(programs_->bag_step, programs_->run);
  encode_all(*programs_->bag_encoders, s, ids, out);
}

void engine::score(std::span<float const> queries, std::span<float const> documents, std::span<float> out) {
  std::vector<float> q(std::size_t{vectors::info.count()}), d(std::size_t{vectors::info.count()});
  for (std::size_t at = 0; at < out.size(); at += encode_batch) {
    std::size_t const count = std::min<std::size_t>(encode_batch, out.size() - at);
    std::ranges::copy(queries.subspan(at * config::hidden, count * config::hidden), q.begin());
    std::ranges::copy(documents.subspan(at * config::hidden, count * config::hidden), d.begin());
    auto const result = programs_->crossing(q, d);
    std::ranges::copy_n(result.value.begin(), static_cast<std::ptrdiff_t>(count),
                        out.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

std::vector<named_tensor> engine::tensors(int k) const {
  std::vector<named_tensor> out;
  for (auto const& t : programs_->bag_step.tensors(k)) {
    if (!programs_->layers && t.name.find(".encoder.") != std::string::npos) continue;
    out.push_back({t.name, {t.dims.dim, t.dims.dim + t.dims.rank}, t.data});
  }
  return out;
}

std::span<float> engine::parameters() { return programs_->bag_step.elements(); }
std::vector<float> engine::read() { return {parameters().begin(), parameters().end()}; }
void engine::write(std::span<float const> values) { std::ranges::copy(values, parameters().begin()); }
int engine::states() const { return programs_->bag_step.states(); }
std::int64_t engine::steps_run() const { return programs_->bag_step.steps_run(); }
std::uint64_t engine::seed() const { return programs_->bag_step.seed(); }
void engine::restore(std::int64_t steps, std::uint64_t seed) { programs_->bag_step.restore(steps, seed); }

}  // namespace twinbert
