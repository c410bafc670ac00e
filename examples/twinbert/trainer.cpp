#include "trainer.hpp"

#include <tx/io/checkpoint.hpp>
#include <tx/io/metric_sinks.hpp>
#include <tx/io/metrics.hpp>
#include <tx/io/progress.hpp>
#include <tx/io/stop_signals.hpp>
#include <tx/io/tensorboard.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace twinbert {
namespace {

using seconds = std::chrono::duration<double>;

// The share of the full rate after `done` of the way: up in a line, then down along a cosine.
double schedule(double done, double warmup) {
  if (done < warmup) return done / warmup;
  return 0.5 * (1 + std::cos(3.141592653589793 * std::min(1.0, (done - warmup) / (1 - warmup))));
}

// A saved tensor; none where there is no such.
template <class T>
std::vector<T> elements(tx::io::safetensors const& file, char const* name) {
  tx::io::tensor_info const* const t = file.find(name);
  if (t == nullptr) return {};
  if (t->type != tx::dtype_v<T>)
    throw tx::format_error(std::string("the saved tensor ") + name + " is of another type");
  std::vector<T> out(t->bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), t->bytes.data(), t->bytes.size());
  return out;
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
        metrics_file_(metrics_file),
        batches_(t, pairs, o.seed, o.augment) {}

  outcome operator()() {
    begin_ = clock::now();
    if (options_.resume) restore();
    sinks_.emplace<tx::io::metrics_log>(metrics_file_);
    if (!options_.events_folder.empty()) {
      tx::io::event_file_options o;
      if (options_.resume) o.resumed_at = step_ + 1;
      sinks_.emplace<tx::io::event_file>(options_.events_folder, o);
    }
    if (options_.layers && options_.bag_steps > 0 && !last_phase_) {
      phase(options_.bag_steps, 0, false);
      bag_.assign(engine_.parameters().begin(), engine_.parameters().end());
      engine_.reset_optimizer();  // what it gathered was for another model
      done_ = validated_ = 0;
      from_ = elapsed();
    }
    last_phase_ = true;
    phase(options_.steps, options_.seconds, options_.layers);
    if (!bag_.empty() && !dev_.empty()) blend();
    if (progress_) progress_->finish();
    if (!best_.empty()) std::ranges::copy(best_, engine_.parameters().begin());
    result_.steps = step_;
    result_.seconds = elapsed();
    tx::io::remove_checkpoints(options_.state_folder);
    return result_;
  }

 private:
  using clock = std::chrono::steady_clock;

  double elapsed() const { return seconds(clock::now() - begin_).count(); }

  // Steps of one kind under one schedule; of the time left, progress knows what this phase takes.
  void phase(std::int64_t steps, double limit, bool layers) {
    batches_.resize(batch(layers));
    std::int64_t const first = step_ - done_;
    bool guessed = false;
    if (limit <= 0) progress_.emplace(first + steps, step_);
    while (limit > 0 || done_ < steps) {
      std::int64_t const i = done_;
      double const spent = elapsed() - from_;
      double const done = limit > 0 ? spent / limit : static_cast<double>(i) / static_cast<double>(steps);
      if (done >= 1) break;
      if (limit > 0 && i >= 20 && !std::exchange(guessed, true))  // the number of steps, by now
        progress_.emplace(first + static_cast<std::int64_t>(static_cast<double>(i) * limit / spent), step_);
      double const begun = limit > 0 ? done : done + 0.5 / static_cast<double>(steps);
      if (options_.group > 1 && i == steps / 2 && !layers) group();
      one_step(schedule(begun, options_.warmup), layers);
      ++done_;
      // The rate falls towards the end: states before the last half are never the best.
      auto const due = static_cast<std::int64_t>((2 * done - 1) * static_cast<double>(options_.validations));
      if (last_phase_ && due > validated_) {
        validated_ = due;
        validate();
      }
      save_if_asked();
    }
    if (last_phase_) validate();
  }

  void save_if_asked() {
    int const signal = stop_.received();
    if (signal != 0 || (options_.save_every > 0 && step_ % options_.save_every == 0)) save();
    if (signal != 0)
      throw stopped(signal, std::string(signal == SIGINT ? "SIGINT" : "SIGTERM") + " after step " +
                                std::to_string(step_) + "; the state is saved, and --resume goes on from it");
  }

  // Everything that the steps to come depend on.
  void save() const {
    auto const p = batches_.position();
    tx::io::checkpoint_values position;
    auto const put = [&](char const* name, tx::io::checkpoint_value const& value) { position[name] = value; };
    put("last_phase", std::int64_t{last_phase_});
    put("done", done_);
    put("validated", validated_);
    put("step", step_);
    put("from", from_);
    put("elapsed", elapsed());
    put("best_auc", result_.best.auc);
    put("best_step", result_.best_step);
    put("loss", loss_);
    put("spent", spent_);
    put("tokens", tokens_);
    put("random", std::bit_cast<std::int64_t>(p.random));
    put("at", p.at);
    put("metrics", static_cast<std::int64_t>(std::filesystem::file_size(metrics_file_)));
    for (auto const& [option, value] : options_.common) position["--" + option] = value;
    tx::io::save_options o;
    auto const keep = [&](char const* name, auto const& values) {
      using T = typename std::remove_cvref_t<decltype(values)>::value_type;
      if (!values.empty())
        o.extra.push_back(
            {name, tx::dtype_v<T>, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values))});
    };
    keep("order", p.order);
    keep("vectors", p.vectors);
    keep("bag", bag_);
    keep("best", best_);
    tx::io::save_checkpoint(options_.state_folder, engine_, position, o);
  }

  void restore() {
    auto const saved = tx::io::load_checkpoint(options_.state_folder, engine_);
    for (auto const& reason : saved.skipped) std::fprintf(stderr, "left out: %s\n", reason.c_str());
    for (auto const& [option, value] : options_.common) {
      auto const& before = tx::io::value_of<std::string>(saved.position, "--" + option);
      if (before != value)
        throw tx::value_error("--" + option + " is not what the saved run had (" + before + ", now " + value +
                              "). FIX: resume with the same options and files");
    }
    auto const integer = [&](char const* name) { return tx::io::value_of<std::int64_t>(saved.position, name); };
    auto const number = [&](char const* name) { return tx::io::value_of<double>(saved.position, name); };
    last_phase_ = integer("last_phase") != 0;
    done_ = integer("done");
    validated_ = integer("validated");
    step_ = integer("step");
    from_ = number("from");
    begin_ = clock::now() - std::chrono::duration_cast<clock::duration>(seconds(number("elapsed")));
    result_.best.auc = number("best_auc");
    result_.best_step = integer("best_step");
    loss_ = number("loss");
    spent_ = number("spent");
    tokens_ = number("tokens");
    bag_ = elements<float>(saved.extra, "bag");
    best_ = elements<float>(saved.extra, "best");
    for (auto const* const kept : {&bag_, &best_})
      if (!kept->empty() && kept->size() != engine_.parameters().size())
        throw tx::format_error("a saved state is of another model");
    batches_.restore({std::bit_cast<std::uint64_t>(integer("random")), integer("at"),
                      elements<std::int64_t>(saved.extra, "order"), elements<float>(saved.extra, "vectors")},
                     options_.group);
    // Lines of steps that are to come again.
    std::error_code absent;
    auto const length = static_cast<std::uintmax_t>(integer("metrics"));
    if (auto const size = std::filesystem::file_size(metrics_file_, absent); !absent && size > length)
      std::filesystem::resize_file(metrics_file_, length);
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
    bool const traced = last_phase_ && done_ == std::min<std::int64_t>(10, options_.steps - 1);  // past the first, slow ones
    float const loss = engine_.train(batches_.queries(), batches_.documents(), batches_.labels(), s, layers, traced ? options_.profile : "");
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
    sinks_.write(step_, {{"loss", loss},
                         {"rate", rate},
                         {"pairs_per_second", pairs},
                         {"tokens_per_second", tokens},
                         {"seconds", elapsed()}});
  }

  void validate() {
    if (dev_.empty()) return keep_();
    quality const q = evaluate(engine_, tokenizer_, dev_, false);
    sinks_.write(step_, {{"dev_auc", q.auc}, {"seconds", elapsed()}});
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
  std::string const& metrics_file_;
  tx::io::stop_signals stop_;
  batches batches_;
  tx::io::metric_sinks sinks_;
  std::optional<tx::io::progress> progress_;
  clock::time_point begin_;
  bool last_phase_ = false;                // of the two
  std::int64_t done_ = 0, validated_ = 0;  // steps and validations of this phase
  double from_ = 0;                        // when it began
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
