#include "trainer.hpp"

#include <tx/core/sum_of_bytes.hpp>
#include <tx/train/loop/loop.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace twinbert {
namespace {

// The share of the full rate after `done` of the way: up in a line, then down along a cosine.
double schedule(double done, double warmup) {
  if (done < warmup) return done / warmup;
  return 0.5 * (1 + std::cos(3.141592653589793 * std::min(1.0, (done - warmup) / (1 - warmup))));
}

// What a run is beside the engine: the place in the pairs, which of the two phases it is in, and what the first one left.
struct place {
  batches pairs;
  int group;
  std::size_t parameters;  // of the engine
  bool last_phase = false;
  std::vector<float> bag{};

  void save(tx::train::to_save& out) const {
    out.put("last_phase", last_phase);
    pairs.save(out);
    out.put("bag", bag);
  }
  void restore(tx::train::saved const& in) {
    last_phase = in.value<std::int64_t>("last_phase") != 0;
    bag = in.array<float>("bag");
    if (!bag.empty() && bag.size() != parameters) throw tx::format_error("a saved state is of another model");
    pairs.restore(in, group);
  }
};

class run {
 public:
  run(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs, std::span<tx::text::pair const> dev, training_options const& o)
      : engine_(e),
        tokenizer_(t),
        dev_(dev),
        options_(o),
        place_{batches(t, pairs, o.seed, o.augment, o.share), o.group, e.read().size()},
        loop_(e, place_, with_validation()) {}

  tx::train::loop_result operator()() {
    for (auto const& reason : loop_.left_out()) std::fprintf(stderr, "left out: %s\n", reason.c_str());
    if (options_.layers && options_.bag_steps > 0) {
      if (!place_.last_phase) phase({.steps = options_.bag_steps}, {.at_end = false}, false);
      if (loop_.begin_phase()) {
        place_.bag = engine_.read();
        engine_.reset_optimizer();  // what it gathered was for another model
      }
    }
    place_.last_phase = true;
    bool const timed = options_.seconds > 0;
    phase({.steps = timed ? 0 : options_.steps, .seconds = options_.seconds}, {.count = options_.validations}, options_.layers);
    if (!place_.bag.empty() && !dev_.empty()) blend();
    return loop_.finish();
  }

 private:
  tx::train::loop_options with_validation() {
    auto o = options_.loop;
    o.measure = {.name = "auc", .label = "AUC", .higher_is_better = true};
    if (dev_.empty()) return o;
    auto const measured = [this] { return evaluate(engine_, tokenizer_, dev_, false).value(); };
    if (!options_.from_first) o.validate = measured;
    else o.validate = [this, measured] { return options_.from_first(options_.share.number == 0 ? measured() : 0); };
    return o;
  }

  static int batch(bool layers) { return layers ? compiled().batch : compiled().bag_batch; }

  // Steps of one kind under one schedule.
  void phase(tx::train::length const& lasts, tx::train::validations const& when, bool layers) {
    place_.pairs.resize(batch(layers));
    std::int64_t const steps = place_.last_phase ? options_.steps : options_.bag_steps;
    loop_.run({lasts, when}, [&](tx::train::moment const& now) {
      if (options_.group > 1 && now.done == steps / 2 && !layers) group();
      double const begun = lasts.seconds > 0 ? now.share : now.share + 0.5 / static_cast<double>(steps);
      return one_step(now, schedule(begun, options_.warmup), layers);
    });
  }

  tx::train::step_told one_step(tx::train::moment const& now, double share, bool layers) {
    step_settings const s{options_.rate * share, layers ? options_.word_rate : options_.bag_word_rate,
                          options_.decay,        options_.word_decay,
                          options_.dropout,      options_.clip};
    batches& b = place_.pairs;
    b.next();
    bool const traced = place_.last_phase && now.is_to_profile();
    auto const loss = static_cast<double>(
        engine_.train(b.queries(), b.documents(), b.labels(), s, layers, traced ? options_.profile : ""));
    if (!std::isfinite(loss))
      throw tx::value_error("step " + std::to_string(now.step + 1) + ": the loss is no number any more; try a lower --rate");
    if (options_.check_every > 0 && (now.step + 1) % options_.check_every == 0) options_.check_same(now.step + 1, sum_of_state());
    return {loss, {{"pairs", static_cast<double>(batch(layers) * options_.share.of)}, {"tokens", static_cast<double>(b.tokens())}}, s.rate};
  }

  std::uint64_t sum_of_state() const {
    std::uint64_t sum = tx::sum_of_no_bytes;
    for (int k = 0; k <= engine_.states(); ++k) {
      std::vector<float> const block = engine_.read(k);
      sum = tx::sum_of_bytes(std::as_bytes(std::span(block)), sum);
    }
    return sum;
  }

  void group() {
    auto const ids = place_.pairs.all_documents();
    std::vector<float> vectors(place_.pairs.pairs() * static_cast<std::size_t>(compiled().hidden));
    engine_.encode_bags(side::document, ids, vectors);
    place_.pairs.group(std::move(vectors), options_.group);
  }

  // States on the line from the bag of words to the last one generalise better than either end where the second phase
  // began from the first (Wortsman et al., arXiv 2109.01903).
  void blend() {
    auto const& bag = place_.bag;
    std::vector<float> const last = engine_.read();
    std::vector<float> now(last.size());
    for (float const share : {0.25f, 0.5f, 0.75f}) {
      for (std::size_t i = 0; i < now.size(); ++i) now[i] = bag[i] + share * (last[i] - bag[i]);
      engine_.write(now);
      loop_.validate();
    }
  }

  engine& engine_;
  tokenizer const& tokenizer_;
  std::span<tx::text::pair const> dev_;
  training_options const& options_;
  place place_;
  tx::train::loop<engine, place> loop_;
};

}  // namespace

tx::train::loop_result train(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs, std::span<tx::text::pair const> dev,
                             training_options const& o) {
  return run(e, t, pairs, dev, o)();
}

}  // namespace twinbert
