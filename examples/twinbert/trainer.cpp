#include "trainer.hpp"

#include <tx/io/metrics.hpp>
#include <tx/io/progress.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace twinbert {
namespace {

using seconds = std::chrono::duration<double>;

// The share of the full rate after `done` of the way: up in a line, then down along a cosine.
double schedule(double done, double warmup) {
  if (done < warmup) return done / warmup;
  return 0.5 * (1 + std::cos(3.141592653589793 * std::min(1.0, (done - warmup) / (1 - warmup))));
}

class run {
 public:
  run(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs, std::span<tx::text::pair const> dev,
      training_options const& o, std::string const& metrics_file, std::function<void()> const& keep)
      : engine_(e),
        tokenizer_(t),
        dev_(dev),
        options_(o),
        keep_(keep),
        batches_(t, pairs, o.seed, o.augment),
        log_(metrics_file) {}

  outcome operator()() {
    begin_ = clock::now();
    if (options_.layers && options_.bag_steps > 0) {
      phase(options_.bag_steps, 0, false);
      bag_.assign(engine_.parameters().begin(), engine_.parameters().end());
      engine_.reset_optimizer();  // what it gathered was for another model
    }
    phase(options_.steps, options_.seconds, options_.layers);
    if (!bag_.empty() && !dev_.empty()) blend();
    if (progress_) progress_->finish();
    if (!best_.empty()) std::ranges::copy(best_, engine_.parameters().begin());
    result_.steps = step_;
    result_.seconds = elapsed();
    return result_;
  }

 private:
  using clock = std::chrono::steady_clock;

  double elapsed() const { return seconds(clock::now() - begin_).count(); }

  // Steps of one kind under one schedule; of the time left, progress knows what this phase takes.
  void phase(std::int64_t steps, double limit, bool layers) {
    double const from = elapsed();
    bool const last_phase = layers == options_.layers;
    batches_.resize(batch(layers));
    std::int64_t const first = step_;
    std::int64_t validated = 0;
    if (limit <= 0) progress_.emplace(first + steps, first);
    for (std::int64_t i = 0; limit > 0 || i < steps; ++i) {
      double const spent = elapsed() - from;
      double const done = limit > 0 ? spent / limit : static_cast<double>(i) / static_cast<double>(steps);
      if (done >= 1) break;
      if (limit > 0 && i == 20)  // the number of steps is a guess by now
        progress_.emplace(first + static_cast<std::int64_t>(20 * limit / spent), step_);
      double const begun = limit > 0 ? done : done + 0.5 / static_cast<double>(steps);
      if (options_.group > 1 && i == steps / 2 && !layers) group();
      one_step(schedule(begun, options_.warmup), layers);
      // The rate falls towards the end: states before the last half are never the best.
      auto const due = static_cast<std::int64_t>((2 * done - 1) * static_cast<double>(options_.validations));
      if (last_phase && due > validated) {
        validated = due;
        validate();
      }
    }
    if (last_phase) validate();
  }

  void group() {
    auto const ids = batches_.all_documents();
    std::vector<float> vectors(batches_.pairs() * static_cast<std::size_t>(compiled().hidden));
    engine_.encode_bags(side::document, ids, vectors);
    batches_.group(std::move(vectors), options_.group);
  }

  static int batch(bool layers) { return layers ? compiled().batch : compiled().bag_batch; }

  // States on the line from the bag of words to the last one generalise better than either end where the second phase
  // began from the first (Wortsman et al., arXiv 2109.01903).
  void blend() {
    std::vector<float> const last(engine_.parameters().begin(), engine_.parameters().end());
    for (float const share : {0.25f, 0.5f, 0.75f}) {
      std::span<float> const now = engine_.parameters();
      for (std::size_t i = 0; i < now.size(); ++i) now[i] = bag_[i] + share * (last[i] - bag_[i]);
      validate();
    }
  }

  std::string at_step() const { return std::string("step ").append(std::to_string(step_)).append(": "); }

  void one_step(double share, bool layers) {
    auto const start = clock::now();
    step_settings const s{options_.rate * share, layers ? options_.word_rate : options_.bag_word_rate,
                          options_.decay,        options_.word_decay,
                          options_.dropout,      options_.clip};
    batches_.next();
    float const loss = engine_.train(batches_.queries(), batches_.documents(), batches_.labels(), s, layers);
    ++step_;
    // Speeds count what steps take, not validation; they and the loss are smoothed over about 20 steps.
    double const keep = std::max(0.0, std::min(0.95, 1 - 1.0 / static_cast<double>(step_)));
    loss_ = keep * loss_ + (1 - keep) * static_cast<double>(loss);
    spent_ = keep * spent_ + (1 - keep) * seconds(clock::now() - start).count();
    tokens_ = keep * tokens_ + (1 - keep) * static_cast<double>(batches_.tokens());
    if (!std::isfinite(loss)) throw tx::value_error(at_step() + "the loss is no number any more; try a lower --rate");
    report(static_cast<double>(loss), s.rate, batch(layers));
  }

  void report(double loss, double rate, int batch) {
    double const pairs = batch / spent_;
    double const tokens = tokens_ / spent_;
    if (progress_)
      progress_->update(step_, {{"loss", loss_}, {"pairs/s", pairs}, {"tokens/s", tokens}, {"rate", rate}});
    if (step_ % 10 != 0 && step_ != 1) return;
    log_.write({{"step", step_},
                {"loss", loss},
                {"rate", rate},
                {"pairs_per_second", pairs},
                {"tokens_per_second", tokens},
                {"seconds", elapsed()}});
  }

  void validate() {
    if (dev_.empty()) return keep_();
    quality const q = evaluate(engine_, tokenizer_, dev_, false);
    log_.write({{"step", step_}, {"dev_auc", q.auc}, {"seconds", elapsed()}});
    if (progress_) progress_->note(at_step() + "dev AUC " + tx::io::format_number(q.auc));
    if (!best_.empty() && q.value() <= result_.best.value()) return;
    result_.best = q;
    result_.best_step = step_;
    best_.assign(engine_.parameters().begin(), engine_.parameters().end());
    keep_();
  }

  engine& engine_;
  tokenizer const& tokenizer_;
  std::span<tx::text::pair const> dev_;
  training_options const& options_;
  std::function<void()> const& keep_;
  batches batches_;
  tx::io::metrics_log log_;
  std::optional<tx::io::progress> progress_;
  clock::time_point begin_;
  std::int64_t step_ = 0;
  double loss_ = 0, spent_ = 0, tokens_ = 0;
  std::vector<float> bag_, best_;
  outcome result_;
};

}  // namespace

outcome train(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs, std::span<tx::text::pair const> dev,
              training_options const& o, std::string const& metrics_file, std::function<void()> const& keep) {
  return run(e, t, pairs, dev, o, metrics_file, keep)();
}

}  // namespace twinbert
