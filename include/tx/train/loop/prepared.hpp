// Batches that threads prepare while steps run, so that a step does not wait for its batch.
#pragma once

#include <tx/io/work_ahead.hpp>
#include <tx/train/loop/saved.hpp>

#include <utility>

namespace tx::train {

// A source of batches in two parts: what a batch is of, which is drawn in order, and the batch, which any thread makes.
//   typename Source::place  where it is: a value with save(to_save&) const
//   typename Source::job, Source::batch
//   place_now(), go_to(place), place_in(saved const&) const   which throws for a place that there is not
//   draw() -> job           the next one; moves the place
//   make(job const&, batch&) const   may run at the same time as itself and as draw()
template <class Source>
concept source_in_parts = requires(Source& source, Source const& same, typename Source::place place, typename Source::job job, typename Source::batch batch, saved const& in, to_save& out) {
  place.save(out);
  { same.place_now() } -> std::convertible_to<typename Source::place>;
  { same.place_in(in) } -> std::convertible_to<typename Source::place>;
  source.go_to(place);
  { source.draw() } -> std::convertible_to<typename Source::job>;
  same.make(job, batch);
};

//   tx::train::prepared batches(source, {.threads = 2, .ahead = 8});
//   auto const& b = batches.next();
//
// The batches are those of the source, whatever the number of threads, and so is the place that is saved: that of the batches which next() has returned,
// not of those which wait. What a thread throws comes out of the next() that would have returned its batch.
template <source_in_parts Source>
class prepared {
 public:
  // Threads begin with the first next(), so that a run which is resumed prepares nothing in vain.
  explicit prepared(Source source, io::work_ahead_options const& o = {}) : source_(std::move(source)), options_(o), place_(source_.place_now()) {}
  prepared(prepared const&) = delete;
  prepared& operator=(prepared const&) = delete;

  // The next batch, valid until the one after it.
  typename Source::batch const& next() {
    if (!work_) begin();
    auto const& batch = *work_->next();  // sources do not end
    place_ = work_->job().after;
    return batch;
  }

  // What threads change of it is not to be looked at once next() has been called.
  Source const& source() const { return source_; }

  void save(to_save& out) const { place_.save(out); }
  void restore(saved const& in) {
    work_.reset();  // while threads draw, the source is theirs
    place_ = source_.place_in(in);
  }

 private:
  struct placed_job {
    typename Source::job job;
    typename Source::place after;
  };

  void begin() {
    source_.go_to(place_);
    work_.emplace(
        [this]() -> std::optional<placed_job> {
          auto job = source_.draw();
          return placed_job{std::move(job), source_.place_now()};
        },
        [this](placed_job const& j, typename Source::batch& to) { std::as_const(source_).make(j.job, to); }, options_);
  }

  Source source_;
  io::work_ahead_options options_;
  typename Source::place place_;
  std::optional<io::work_ahead<placed_job, typename Source::batch>> work_;
};

}  // namespace tx::train
