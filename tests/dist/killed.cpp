// Processes that train one model and are killed, stopped or out of disk at random moments: the others end with an error, and as many others, dividing the model otherwise, go
// on to the bits of a run that nothing happened to.
#include "../io/temp_folder.hpp"
#include "../net/group.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/io/parameters.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/loop/loop.hpp>
#include <tx/train/step.hpp>

#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <random>

using namespace tx;
using namespace std::chrono_literals;

namespace {

constexpr int shards = 4, rows = 2, width = 8, all_steps = 40;
struct layer {
  param<tensor<float, width, width>, init::normal<1, 3>> w;
  param<tensor<float, width>> b;
  constexpr auto operator()(auto const& x) const { return tanh(matmul(dropout(x, 0.1f), w) + b); }
};
struct model {
  repeat<3, layer> body;
  param<tensor<float, width, 3>, init::normal<1, 2>> last;
};
constexpr auto loss = [](model const& m, tensor<float, rows, width> x) {
  auto const y = matmul(m.body(x), m.last);
  return mean(y * y);
};
// Each number of ranks divides the model in its own way.
template <int Ranks>
using step_of = train_step<model, loss, adamw, clip_gradient, data_parallel<Ranks>, virtual_shards<shards / Ranks>, zero<Ranks == 4 ? 3 : Ranks>>;

template <class Run>
double one_step(Run& run, int rank, std::int64_t step) {
  constexpr int count = std::tuple_element_t<0, typename Run::arguments>::dims.dim[0];
  std::vector<float> x;
  for (int i = rank * count * width; i < (rank + 1) * count * width; ++i) x.push_back(static_cast<float>((i * 7 + step * 5) % 13) / 13);
  run.settings["learning_rate"] = 0.05f;
  run.settings.set("clip_norm", 0.1f);
  return static_cast<double>(run(x).loss);
}

// What a rank's process does, until it has come to the end or is ended.
template <int Ranks>
void train(int rank, int port, std::filesystem::path const& folder) {
  dist::sockets connections(net::place_of(rank, Ranks, port), {.joining = 5s, .patience = 2s});
  net::all all(connections);
  executor<step_of<Ranks>, distributed<cpu, net::all>> run{seed(3), all, {.threads = 1}};
  train::loop_options o;
  o.report.line = false;
  o.resume = o.or_begin = true;
  o.checkpoints = {.folder = folder / "checkpoints", .every = 3, .reads_only = rank != 0};
  all.barrier();
  train::loop l(run, o);
  l.run({{.steps = all_steps}}, [&](train::moment const& now) -> train::step_told {
    ::usleep(1000);
    return {one_step(run, rank, now.step)};
  });
  l.finish();
  auto trained = run.read();
  if (rank == 0) io::save_parameters(folder / "trained.safetensors", run.tensors_of(std::span(trained)));
}

pid_t started(int rank, int ranks, int port, std::filesystem::path const& folder) {
  pid_t const child = ::fork();
  if (child != 0) return child;
  for (int const s : {SIGINT, SIGTERM}) std::signal(s, SIG_DFL);  // not the test framework's
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    if (ranks == 1) train<1>(rank, port, folder);
    if (ranks == 2) train<2>(rank, port, folder);
    if (ranks == 4) train<4>(rank, port, folder);
  } catch (std::exception const& e) {
    std::ofstream(folder / ("error" + std::to_string(rank))) << e.what();
    ::_exit(1);
  }
  ::_exit(0);
}

constexpr int running = -1;

struct rank_process {
  pid_t id;
  int end = running;  // then its exit code, or 1000 and the signal

  int look() {
    int status = 0;
    if (end == running && ::waitpid(id, &status, WNOHANG) == id) end = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    return end;
  }
};

enum class accident { killed, stopped, disk_full };

// Events until as many have happened as are wanted, and the run has come to its end.
struct hardships {
  int happened[3] = {}, finished = 0;
  int late = 0;        // undisturbed attempts that a busy machine kept waiting for longer than their patience
  double longest = 0;  // seconds from an event until the others had ended
};

hardships suffer(int wanted, std::uint32_t seed, std::vector<float> const& undisturbed) {
  temp_folder folder;
  std::mt19937 random(seed);
  hardships out;
  auto const begun = std::chrono::steady_clock::now();
  for (int attempt = 0;; ++attempt) {
    auto const so_far = out.happened[0] + out.happened[1] + out.happened[2];
    bool const disturbed = so_far < wanted;
    int const ranks = 1 << random() % 3, port = net::free_port();
    std::vector<rank_process> all;
    for (int r = 0; r < ranks; ++r) all.push_back({started(r, ranks, port, folder.path)});
    auto const any = [&](auto const& is) { return std::ranges::any_of(all, [&](rank_process& p) { return is(p.look()); }); };
    auto const wait_ms = disturbed ? random() % 250 : 0;
    for (unsigned ms = 0; ms < wait_ms && any([](int end) { return end == running; }); ++ms) ::usleep(1000);

    auto const what = static_cast<accident>(random() % 3);
    std::size_t const victim = what == accident::disk_full ? 0 : random() % all.size();  // the first alone writes
    bool const hit = disturbed && all[victim].look() == running;
    auto const event = std::chrono::steady_clock::now();
    if (hit) {
      if (what == accident::disk_full) {
        rlimit const none{64, 64};
        ::prlimit(all[victim].id, RLIMIT_FSIZE, &none, nullptr);
      } else {
        ::kill(all[victim].id, what == accident::killed ? SIGKILL : SIGSTOP);
      }
    }
    auto const others_run = [&] {
      for (std::size_t r = 0; r < all.size(); ++r)
        if (!(hit && what == accident::stopped && r == victim) && all[r].look() == running) return true;
      return false;
    };
    auto const seconds_since = [](auto from) { return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count(); };
    while (others_run() && seconds_since(event) < 60) ::usleep(1000);
    CAPTURE(attempt, ranks, static_cast<int>(what), victim, hit);
    bool const hangs = others_run();
    if (hit) out.longest = std::max(out.longest, seconds_since(event));
    for (auto& p : all)
      if (p.look() == running) ::kill(p.id, SIGKILL);
    while (any([](int end) { return end == running; })) ::usleep(1000);
    REQUIRE_FALSE(hangs);
    if (hit) ++out.happened[static_cast<int>(what)];
    for (std::size_t r = 0; r < all.size(); ++r) {
      bool const own_error = all[r].end == 0 || all[r].end == 1, ended = hit && r == victim && all[r].end == 1000 + SIGKILL;
      CHECK((own_error || ended));
    }
    if (!disturbed && any([](int end) { return end != 0; })) ++out.late;
    REQUIRE(out.late < 4);
    if (std::ranges::all_of(all, [](rank_process const& p) { return p.end == 0; })) {  // to its end, whatever was before
      ++out.finished;
      parameter_block<model, cpu> trained(tx::seed(0), 0);
      io::load_parameters(folder / "trained.safetensors", trained.tensors());
      auto const got = trained.read();
      std::string unlike;
      for (auto const& v : parameters_of<model>())
        if (!std::equal(got.begin() + v.offset, got.begin() + v.offset + v.info.count(), undisturbed.begin() + v.offset)) unlike += v.name + ' ';
      CHECK(unlike == "");
      if (!disturbed) return out;
      std::filesystem::remove_all(folder.path);
      std::filesystem::create_directory(folder.path);
    }
    REQUIRE(seconds_since(begun) < 900);
  }
}

std::vector<float> undisturbed() {
  executor<train_step<model, loss, adamw, clip_gradient, virtual_shards<shards>>, cpu> run{seed(3), {.threads = 1}};
  for (int s = 0; s < all_steps; ++s) one_step(run, 0, s);
  return run.read();
}

}  // namespace

TEST_CASE("ranks that are killed, stopped or out of disk go on as any number of others") {
  auto const h = suffer(6, 17, undisturbed());
  CHECK(h.finished >= 1);
  CHECK(h.longest < 10);
}

TEST_CASE("sixty accidents of ranks at random moments", "[.slow]") {
  auto const h = suffer(60, 5, undisturbed());
  CAPTURE(h.happened[0], h.happened[1], h.happened[2], h.finished);
  CHECK(h.longest < 10);
  for (int const n : h.happened) CHECK(n >= 10);
  CHECK(h.finished >= 2);
}
