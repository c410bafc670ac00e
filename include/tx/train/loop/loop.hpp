// A run of training: steps, the line of progress, files of metrics, validation with the best state kept, checkpoints, and going on from them
// bit by bit. Ctrl-C and SIGTERM save. Steps go on while a checkpoint is written; finish(), and `stopped`, come when all is on the disk.
//
//   tx::executor<step, tx::cpu> run{tx::seed(1)};
//   tx::train::shuffled_rows data({.rows = 60'000, .batch = 128}, pixels, labels);
//   auto const result = tx::train::fit(run, data, {tx::train::in_epochs(10, 60'000, 128)},          // <tx/train/loop/fit.hpp>
//                                      {.folder = "runs/first", .checkpoints = {.every = 500}, .validate = [&] { return dev_loss(run); }});
//
// Runs of several phases, or with steps of their own, are a loop's run() for each phase and its finish():
//
//   tx::train::loop l(run, data, options);
//   l.run({{.steps = 1000}}, step);
//   if (l.begin_phase()) run.reset_optimizer();   // not again where a resumed run had begun the second
//   l.run({{.steps = 5000}}, step);
//   l.finish();
#pragma once

#include <tx/core/elements.hpp>
#include <tx/io/run_lock.hpp>
#include <tx/io/stop_signals.hpp>
#include <tx/train/loop/options.hpp>

#include <cmath>

namespace tx::train {

// `Run` is what checkpoints take for one (tx/io/checkpoint.hpp), with read() and write() of its parameters if it is validated, or where something else of
// it is judged, as a moving average is, with kept() and keep() of that.
template <class Run, class Data>
class loop {
 public:
  // Both must outlive it. With options.resume it brings them to where the newest checkpoint was written. Throws io_error where another run
  // is at work in the folder, value_error where a run that begins finds another's files, and what load_checkpoint throws.
  loop(Run& run, Data& data, loop_options options)
      : run_(run), data_(data), options_(in_folder(std::move(options))), report_(options_.report), checkpoints_(options_.checkpoints),
        best_(options_.measure), patience_(options_.patience) {
    if (!options_.folder.empty()) {
      io::ensure_directory(options_.folder);
      lock_.emplace(options_.folder);
    }
    begin_ = options_.now();
    if (!options_.resume)
      checkpoints_.begin();
    else if (options_.or_begin && !checkpoints_.some()) {
      report_.forget();
      checkpoints_.forget();
    } else
      restore();
    report_.open(options_.resume ? std::optional(step_) : std::nullopt);
  }
  loop(Run& run, loop_options options)
    requires std::same_as<Data, no_place const>
      : loop(run, nowhere, std::move(options)) {}

  // Runs a phase, or what a resumed run has left of it: nothing of those before the one that it was in. step(moment) does one step and returns a step_told.
  // Throws stopped after a signal.
  template <class Step>
  void run(phase const& p, Step&& step) {
    if (passed_ < phase_) return;
    pace way(p.lasts);
    way.restore(std::exchange(resumed_steps_, 0));
    std::int64_t const first = step_ - done_;
    fixed_steps_ = way.fixed_steps();
    if (way.steps() > 0) report_.total(first + way.steps(), step_);
    while (!patience_.over()) {
      double const spent = elapsed() - from_, share = way.share(done_, spent);
      if (share >= 1) break;
      if (way.measure(done_, spent)) {
        fixed_steps_ = way.fixed_steps();
        report_.total(first + way.steps(), step_);
      }
      one_step(step, {step_, done_, way.steps(), way.share(done_, spent)});
      if (p.validations.due(done_, share, validated_)) validate();
      // What is saved after the last step has seen the validation at its end too.
      if (p.validations.at_end && validated_step_ != step_ && way.share(done_, elapsed() - from_) >= 1) validate();
      save_if_asked();
    }
    if (p.validations.at_end && validated_step_ != step_) validate();
    result_.stopped_early = patience_.over();
  }

  // What follows is the next phase, from its first step on. Returns false where the run that goes on had begun it before.
  bool begin_phase() {
    if (passed_++ < phase_) return false;
    ++phase_;
    done_ = validated_ = 0;
    from_ = elapsed();
    patience_.begin_anew();
    return true;
  }

  // Looks how good the run is now: whether it is the best so far.
  bool validate() {
    validated_step_ = step_;
    check_numbers();
    if (from_first(options_.validate ? 1 : 0) == 0) {
      if (options_.improved) options_.improved();
      return true;
    }
    double const value = from_first(options_.validate ? options_.validate() : 0);
    write({{"dev_" + options_.measure.name, value}, {"seconds", elapsed()}});
    report_.note("step " + std::to_string(step_) + ": dev " + options_.measure.label + ' ' + io::format_number(value));
    bool const better = best_.offer(value, step_, [&] { return kept(); });
    patience_.seen(better);
    if (better && options_.improved) options_.improved();
    if (better && checkpoints_.of_the_best()) checkpoints_.save_best(run_, step_, state());
    return better;
  }

  // Into the files of metrics, beside what the loop writes.
  void write(std::initializer_list<io::metric> values) { report_.write(step_, std::span(values.begin(), values.size())); }
  void note(std::string const& text) { report_.note(text); }

  // Ends the run with the best state in it. Throws value_error where the run that goes on was in a phase that nobody has begun.
  loop_result finish() {
    if (passed_ < phase_)
      throw value_error("loop: the saved run was in its phase " + std::to_string(phase_ + 1) + ", this one is in " + std::to_string(passed_ + 1) + ". FIX: begin_phase() between all phases, also where a run is resumed");
    report_.finish();
    checkpoints_.end(run_, step_, [&] { return state(); });
    if constexpr (validated)
      if (best_.known()) keep(best_.parameters());
    result_.steps = step_;
    result_.seconds = elapsed();
    result_.best = best_.value();
    result_.best_step = best_.step();
    return result_;
  }

  std::int64_t step() const { return step_; }
  double elapsed() const { return options_.now() - begin_; }
  // Checkpoints that were damaged, and so left out when the run was resumed.
  std::vector<std::string> const& left_out() const { return left_out_; }

 private:
  // Of ranks that divide a run: what the first one has, as all of them have to read and save where one does.
  double from_first(double value) const {
    if constexpr (io::detail::divided_run<Run>)
      if (io::detail::is_divided(run_)) return run_.from_first(value);
    return value;
  }

  // What is judged, and so the best of it: the parameters, or what the run says is kept of it, as a moving average.
  auto kept() const {
    if constexpr (requires { run_.kept(); }) return run_.kept();
    else return run_.read();
  }
  template <class Values>
  void keep(Values const& values) {
    if constexpr (requires { run_.keep(values); }) run_.keep(values);
    else run_.write(values);
  }

  static constexpr no_place nowhere{};
  static constexpr bool validated = requires(Run& run) { run.write(run.read()); };
  static auto element() {
    if constexpr (validated)
      return typename std::remove_cvref_t<decltype(std::declval<Run&>().read())>::value_type{};
    else
      return float{};
  }

  static loop_options in_folder(loop_options o) {
    if (o.validate && !validated) throw value_error("loop: a run without read() and write() cannot keep its best state. FIX: these two, or no validate");
    if (!o.folder.empty()) {
      if (o.checkpoints.folder.empty()) o.checkpoints.folder = o.folder / "checkpoints";
      if (o.report.metrics.empty()) o.report.metrics = o.folder / "metrics.jsonl";
    }
    o.check();
    return o;
  }

  template <class Step>
  void one_step(Step& step, moment const& m) {
    double const start = options_.now();
    step_told const told = step(m);
    ++step_;
    ++done_;
    if (!std::isfinite(told.loss))
      throw value_error("step " + std::to_string(step_) + ": the loss is no number any more. FIX: a lower rate of learning; tx::finite_guard names the op");
    report_.step(step_, told, options_.now() - start, elapsed());
  }

  // A step's loss may be the last number of a run: what it updates need be none any more, and no measure tells that of parameters.
  void check_numbers() const {
    if constexpr (validated) {
      auto parameters = kept();
      using number = typename decltype(parameters)::value_type;
      auto const check = [&](std::string const& name, dtype type, auto const& of) {
        auto const bytes = std::as_bytes(std::span(of));
        auto const count = static_cast<std::int64_t>(bytes.size()) / size_of(type);
        if (first_not_finite(type, bytes.data(), count, false) < count)
          throw value_error("step " + std::to_string(step_) + ": " + name + " is NaN. FIX: a lower rate of learning; tx::finite_guard names the op");
      };
      if constexpr (requires { run_.tensors_of(std::span(parameters)); })
        for (auto const& t : run_.tensors_of(std::span(parameters))) {
          if constexpr (requires { t.type; }) check("parameter " + t.name, t.type, t.data);
          else check("parameter " + t.name, dtype_v<number>, t.data);
        }
      else check("a parameter", dtype_v<number>, parameters);
    }
  }

  // A save that has failed is told of by the next, so there is one at once.
  void save_if_asked() {
    int const signal = options_.agreed ? options_.agreed(signals_.received()) : signals_.received();
    if (signal != 0 || checkpoints_.due(step_) || checkpoints_.failed()) checkpoints_.save(run_, step_, state());
    if (signal == 0) return;
    checkpoints_.wait();
    throw stopped(signal, step_, std::string(signal == SIGINT ? "SIGINT" : "SIGTERM") + " after step " + std::to_string(step_) +
                                     (checkpoints_.wanted() ? "; the state is saved, and " + options_.resume_by + " goes on from it" : "; nothing is saved"));
  }

  // Everything that the steps to come depend on.
  to_save state() const {
    to_save out;
    out.put("step", step_);
    out.put("phase", phase_);
    out.put("done", done_);
    out.put("steps", fixed_steps_);
    out.put("validated", validated_);
    out.put("validated_step", validated_step_);
    out.put("from", from_);
    out.put("elapsed", elapsed());
    best_.save(out);
    patience_.save(out);
    report_.save(out);
    for (auto const& [name, value] : options_.common) out.put(name, value);
    if constexpr (has_place<Data>) data_.save(out);
    return out;
  }

  // A run may be made longer, so a schedule that the program has set is the one that holds. All other settings are those of the saved run.
  auto load() {
    if constexpr (requires { run_.settings.schedule; }) {
      auto const set = run_.settings.schedule;  // as it was before
      auto from = checkpoints_.load(run_);
      if (set != std::remove_cvref_t<decltype(set)>{}) run_.settings.schedule = set;
      return from;
    } else {
      return checkpoints_.load(run_);
    }
  }

  void restore() {
    auto const from = load();
    left_out_ = from.skipped;
    saved const in(from.position, from.extra);
    if (in.has("done") && !in.has("phase")) throw format_error(from.path.string() + " was saved by an earlier version, which did not say in which phase. FIX: begin anew");
    for (auto const& [name, value] : options_.common) {
      auto const before = in.value<std::string>(name);
      if (before != value)
        throw value_error(name + " is not what the saved run had (" + before + ", now " + value + "). FIX: resume with the same options and files");
    }
    step_ = in.value("step", from.step);
    phase_ = in.value<std::int64_t>("phase", 0);
    done_ = in.value("done", from.step);
    resumed_steps_ = in.value<std::int64_t>("steps", 0);
    validated_ = in.value<std::int64_t>("validated", 0);
    validated_step_ = in.value<std::int64_t>("validated_step", -1);
    from_ = in.value("from", 0.0);
    begin_ = options_.now() - in.value("elapsed", 0.0);
    if constexpr (validated) best_.restore(in, run_.read().size());
    patience_.restore(in);
    if constexpr (has_place<Data>) data_.restore(in);
    report_.restore(in, step_);
    checkpoints_.go_on_from(from, step_);
  }

  Run& run_;
  Data& data_;
  loop_options options_;
  std::optional<io::run_lock> lock_;
  io::stop_signals signals_;
  train::report report_;
  train::checkpoints checkpoints_;
  best_state<decltype(element())> best_;
  train::patience patience_;
  double begin_ = 0, from_ = 0;                            // on the clock; when the phase began, from then on
  std::int64_t step_ = 0;                                  // of all phases
  std::int64_t phase_ = 0, passed_ = 0;                    // the one that the run is in; those that begin_phase() has been told of
  std::int64_t done_ = 0, validated_ = 0;                  // steps and validations of this one
  std::int64_t fixed_steps_ = 0, resumed_steps_ = 0;       // that it has
  std::int64_t validated_step_ = -1;                       // of the last validation
  std::vector<std::string> left_out_;
  loop_result result_;
};

// Without data, or with batches that are a function of the step.
template <class Run>
loop(Run&, loop_options) -> loop<Run, no_place const>;

}  // namespace tx::train
