// bench_saves [--steps N] [--every N] [--rounds N] [--threads N] [--folder PATH]: what saving costs a run of training whose checkpoints have
// 113 MB. The same steps without saves, with saves that they wait for, and with saves in the background, in turns; a JSON line for each, with the
// fastest run and the medians of steps and pauses over all rounds. Beside the clock's seconds it tells those of processors, which other programs
// disturb less. The folder, which is made and removed, tells which disk is measured.
#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/loop/loop.hpp>
#include <tx/train/step.hpp>

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int rows = 128, width = 1024, wide = 4096;
struct network {
  tx::nn::linear<width, wide> up;
  tx::nn::linear<wide, width> down;
  tx::nn::linear<width, width> out;
  constexpr auto operator()(auto const& x) const { return out(tx::tanh(down(tx::tanh(up(x))))); }
};
constexpr auto loss = [](network const& m, tx::tensor<float, rows, width> x, tx::tensor<tx::i32, rows> y) { return tx::cross_entropy(m(x), y); };
using step = tx::train_step<network, loss, tx::adamw>;

struct options {
  std::int64_t steps = 250, every = 100;
  int rounds = 3, threads = 2;
  std::filesystem::path folder = "bench_saves.checkpoints";
};

using times = std::vector<double>;
double least(times const& of) { return *std::ranges::min_element(of); }
double median(times of) {
  if (of.empty()) return 0;
  std::ranges::sort(of);
  return of[of.size() / 2];
}

enum mode { none, foreground, background };
constexpr char const* names[] = {"none", "foreground", "background"};

// Seconds, of one run, save or step each. The first save of a run also allocates the snapshot.
struct measured {
  times whole, busy, first_pause, pauses, busy_pauses, steps, while_writing, end;
};

double seconds(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double now() { return seconds(CLOCK_MONOTONIC); }
double busy() { return seconds(CLOCK_PROCESS_CPUTIME_ID); }
double own_busy() { return seconds(CLOCK_THREAD_CPUTIME_ID); }

template <class Run>
void measure(Run& run, options const& o, mode m, measured& out) {
  std::filesystem::remove_all(o.folder);
  std::vector<float> x(rows * width);
  std::vector<tx::i32> y(rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1000) / 500 - 1;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<tx::i32>(i * 131 % width);
  tx::train::loop_options how{.report = {.line = false}};
  if (m != none)
    how.checkpoints = {.folder = o.folder, .every = o.every, .at_end = tx::train::at_end::remove, .background = m == background};
  tx::train::loop l(run, how);
  auto const saving = o.folder / ".saving";
  double const begin = now(), busy_begin = busy();
  double ended = begin, busy_ended = 0;
  l.run({{.steps = o.steps}}, [&](tx::train::moment const& at) -> tx::train::step_told {
    double const start = now(), busy_start = own_busy();
    if (at.step > 0 && at.step % o.every == 0) {
      (at.step == o.every ? out.first_pause : out.pauses).push_back(start - ended);
      if (at.step > o.every) out.busy_pauses.push_back(busy_start - busy_ended);
    }
    bool const writing = std::filesystem::exists(saving);
    auto const value = static_cast<double>(float(run(x, y).loss));
    ended = now();
    busy_ended = own_busy();
    (writing ? out.while_writing : out.steps).push_back(ended - start);
    return {value};
  });
  double const done = now();
  out.whole.push_back(done - begin);
  out.busy.push_back(busy() - busy_begin);
  l.finish();
  out.end.push_back(now() - done);
  std::filesystem::remove_all(o.folder);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const key = argv[i];
    if (key == "--steps") o.steps = std::max(1, std::atoi(argv[i + 1]));
    else if (key == "--every") o.every = std::max(1, std::atoi(argv[i + 1]));
    else if (key == "--rounds") o.rounds = std::max(1, std::atoi(argv[i + 1]));
    else if (key == "--threads") o.threads = std::atoi(argv[i + 1]);
    else if (key == "--folder") o.folder = argv[i + 1];
    else {
      std::fprintf(stderr, "bench_saves: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  if (std::filesystem::exists(o.folder)) {
    std::fprintf(stderr, "bench_saves: %s is there already. FIX: another --folder\n", o.folder.c_str());
    return 2;
  }
  tx::executor<step, tx::cpu> run{tx::seed(0), {.threads = o.threads}};
  run.settings["learning_rate"] = 1e-4f;
  std::size_t bytes = 0;
  for (int k = 0; k <= run.states(); ++k)
    for (auto const& t : run.tensors(k)) bytes += t.data.size_bytes();
  measured all[3], warm;
  measure(run, {.steps = 10, .folder = o.folder}, none, warm);
  for (int round = 0; round < o.rounds; ++round)
    for (int i = 0; i < 3; ++i) {
      auto const m = static_cast<mode>((round + i) % 3);
      measure(run, o, m, all[m]);
    }
  for (int m = 0; m < 3; ++m) {
    measured const& r = all[m];
    auto const ms = [&](times const& of) { return m == none ? 0 : 1e3 * median(of); };
    std::printf("{\"saves\": \"%s\", \"checkpoint_mb\": %.0f, \"threads\": %d, \"steps\": %lld, \"every\": %lld, \"seconds\": %.3f, \"over_none\": %.4f, "
                "\"busy_seconds\": %.3f, \"busy_over_none\": %.4f, \"step_ms\": %.1f, \"first_pause_ms\": %.1f, \"pause_ms\": %.1f, \"busy_pause_ms\": %.1f, "
                "\"step_while_writing_ms\": %.1f, \"end_ms\": %.1f}\n",
                names[m], static_cast<double>(bytes) / 1e6, o.threads, static_cast<long long>(o.steps), static_cast<long long>(o.every), least(r.whole),
                least(r.whole) / least(all[none].whole), least(r.busy), least(r.busy) / least(all[none].busy), 1e3 * median(r.steps), ms(r.first_pause),
                ms(r.pauses), ms(r.busy_pauses), ms(r.while_writing), ms(r.end));
  }
}
