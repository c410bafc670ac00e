// A guard ends a run at the first number that is not finite and says where it was made; a run that it lets through has
// the bits of one without it, and one that it ends changes nothing.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/here.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/inspect/finite_guard.hpp>
#include <tx/expr/state.hpp>
#include <tx/nn/batch_norm.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/where.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace {

using namespace tx;

constexpr float infinite = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();

// 1 stays 1; 1e10 is 1e20 after a block, infinite after two, and infinity less infinity in the third.
struct block {
  param<tensor<float, 8>, init::ones> gain;
  constexpr auto operator()(auto const& h) const { return h * h * gain - (h - 1) * gain; }
};
struct norm {
  param<tensor<float, 8>, init::ones> scale;
  param<tensor<float, 8>, init::zeros> shift;
};
struct net {
  repeat<3, block> layer;
  norm normal;
  param<tensor<float, 8>, init::ones> gate, root;
  nn::linear<8, 8> head;
};

constexpr int log_line = __LINE__ + 8;
// Each argument [N, 8] leads to numbers of one kind: logs of a, a norm without epsilon of n, a repeated block of h, a
// square root of r whose gradient is 0 / 0 at 0, and logs of c where it is positive.
template <int N, class T = tensor<float, N, 8>>
constexpr auto loss = [](net const& m, T a, T n, T h, T r, T c) {
  auto const normal = layer_norm(n, m.normal.scale, m.normal.shift, 0.0);
  auto const rest =
      mean(m.head(normal + dropout(m.layer(h)))) + mean(sqrt(r * m.root)) + mean(where(less(0, c), log(c), 0.0));
  auto const line = here(a);
  return rest + mean(log(a) + m.gate);
};
template <class... Options>
using step = train_step<net, loss<4>, adamw, Options...>;

struct batch {
  std::vector<float> a, n, h, r, c;
  explicit batch(std::size_t rows = 4) {
    for (std::vector<float>* x : {&a, &h, &r, &c}) x->assign(rows * 8, 1.0f);
    for (std::size_t i = 0; i < rows * 8; ++i) n.push_back(std::sin(static_cast<float>(i)));
  }
};
template <class Run>
float run_on(Run& run, batch const& b) {
  return run(b.a, b.n, b.h, b.r, b.c).loss;
}

template <class Run>
std::vector<float> everything(Run& run) {
  std::vector<float> all;
  for (int k : {0, 1, 2}) all.insert(all.end(), run.elements(k).begin(), run.elements(k).end());
  return all;
}
bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

// What a run was ended for, and that it left no trace.
template <class Run>
finite_finding found_in(Run& run, batch const& b, std::string& text) {
  auto const before = everything(run);
  auto const steps = run.steps_run();
  finite_finding found{};
  try {
    run_on(run, b);
    text = "nothing was found";
  } catch (not_finite_error const& e) {
    found = e.found;
    text = e.what();
  }
  CHECK(same_bits(before, everything(run)));
  CHECK(run.steps_run() == steps);
  return found;
}

template <class Backend>
void check_backend() {
  executor<step<>, Backend> run{seed(1)}, unguarded{seed(1)};
  std::string text;
  batch const good;
  finite_guard const guard{run};
  for (int i = 0; i < 3; ++i) CHECK(run_on(run, good) == run_on(unguarded, good));
  CHECK(same_bits(everything(run), everything(unguarded)));

  {
    batch b;
    b.a[13] = -0.25f;
    auto const f = found_in(run, b, text);
    CAPTURE(text);
    CHECK(f.value == "nan");
    CHECK(f.op == "log");
    CHECK(f.layer == "gate");
    CHECK(f.when == step_phase::forward);
    CHECK(f.iteration == -1);
    CHECK(f.file == "finite_guard.cpp");
    CHECK(f.line == log_line);
    CHECK_THAT(text,
               Catch::Contains("nan in the result of log (layer gate, finite_guard.cpp:" + std::to_string(log_line)));
    CHECK_THAT(text,
               Catch::Contains("kernel " + std::to_string(f.number) + " of ") && Catch::Contains("operands: -0.25"));
    CHECK_THAT(text, Catch::Contains("states are as before the step") && Catch::Contains("FIX"));
  }
  {
    batch b;
    for (std::size_t i = 8; i < 16; ++i) b.n[i] = 3;
    auto const f = found_in(run, b, text);
    CAPTURE(text);
    CHECK(f.op == "mul");  // 0 times infinity
    CHECK(f.layer == "normal");
    CHECK(f.line == 0);
    CHECK_THAT(text, Catch::Contains("row 1,") && Catch::Contains("inf"));
  }
  {
    batch b;
    b.h[9] = 1e10f;
    auto const f = found_in(run, b, text);
    CAPTURE(text);
    CHECK(f.op == "sub");
    CHECK(f.iteration == 2);
    CHECK(f.iterations == 3);
    CHECK(f.layer == "layer.2");
    CHECK_THAT(text, Catch::Contains("iteration 2 of 3") && Catch::Contains("operands: inf") &&
                         Catch::Contains("row 1, column 1"));
  }
  {
    batch b;
    b.r[20] = 0;
    auto const f = found_in(run, b, text);
    CAPTURE(text);
    CHECK(f.value == "nan");
    CHECK(f.when == step_phase::backward);
    CHECK((f.op == "mul" || f.op == "div"));
    CHECK(f.layer == "root");
  }
  {
    batch b;
    b.n[5] = none;
    auto const f = found_in(run, b, text);
    CHECK_THAT(text, Catch::Contains("nan in argument 1, element 5"));
    CHECK(f.kernel.empty());
  }
  for (int k : {0, 2}) {
    auto const t = run.tensors(k)[1];  // of the second block
    float const kept = std::exchange(t.data[3], none);
    found_in(run, good, text);
    CHECK_THAT(text, Catch::Contains(k == 0 ? "nan in parameter layer.1.gain, element 3"
                                            : "nan in the optimizer's state 1 of layer.1.gain, element 3"));
    t.data[3] = kept;
  }

  batch masked;  // what is not stored, or made finite again, is legal; so are infinities
  masked.c.assign(32, -1);
  masked.c[4] = -infinite;
  CHECK(run_on(run, masked) == run_on(unguarded, masked));
  CHECK(run_on(run, good) == run_on(unguarded, good));
  CHECK(same_bits(everything(run), everything(unguarded)));
}

}  // namespace

TEST_CASE("the first NaN of a step is found where it is made, on the CPU") { check_backend<cpu>(); }
TEST_CASE("the first NaN of a step is found where it is made, on the reference backend") { check_backend<reference>(); }

TEST_CASE("infinities count where that is asked for") {
  executor<step<>, cpu> run{seed(1)};
  finite_guard const guard{run, {.infinities = true}};
  std::string text;
  batch const good;
  run_on(run, good);
  batch b;
  b.h[9] = 1e10f;
  auto f = found_in(run, b, text);
  CHECK(f.value == "inf");
  CHECK(f.op == "mul");
  CHECK(f.iteration == 1);
  CHECK_THAT(text, Catch::Contains("1e+20"));
  b = good;
  b.c[4] = -infinite;
  found_in(run, b, text);
  CHECK_THAT(text, Catch::Contains("-inf in argument 4, element 4"));

  // Parameters are replaced where they lie: their old values explain the new ones, and are brought back.
  run.settings["learning_rate"] = 3e38f;
  run.settings.groups[0].decay = 1e6f;
  f = found_in(run, good, text);
  CAPTURE(text);
  CHECK(f.when == step_phase::update);
  CHECK_FALSE(f.op.empty());
  CHECK_FALSE(f.layer.empty());
}

TEST_CASE("parameters may be left as a step has made them") {
  executor<step<>, cpu> run{seed(1)};
  finite_guard const guard{run, {.infinities = true, .restore = false}};
  run.settings["learning_rate"] = 3e38f;
  run.settings.groups[0].decay = 1e6f;
  CHECK_THROWS_WITH(run_on(run, batch()), Catch::Contains("updated in part"));
}

TEST_CASE("a guard ends with its life, and goes with a profile") {
  executor<step<>, cpu> run{seed(1)};
  batch bad;
  bad.a[0] = -1;
  exec::kernel_log log;
  {
    finite_guard const guard{run};
    run.profile(&log);
    run_on(run, batch());
    auto const all = log.events.size();
    CHECK(all > 4);
    CHECK_THROWS_AS(run_on(run, bad), not_finite_error);
    CHECK(log.events.size() > all);
    CHECK(log.events.size() < 2 * all);
    run.profile(nullptr);
  }
  CHECK(std::isnan(run_on(run, bad)));
}

TEST_CASE("a guard sees parts of a batch, with products of halves") {
  using in_parts = step<accumulate<2>, mixed<bf16>>;
  executor<in_parts, cpu> run{seed(1)}, unguarded{seed(1)};
  finite_guard const guard{run};
  std::string text;
  batch const good(8);
  for (int i = 0; i < 2; ++i) {
    CHECK(run_on(run, good) == run_on(unguarded, good));
    batch b = good;
    b.a[5 * 8 + 2] = -4;
    auto const f = found_in(run, b, text);
    CHECK(f.op == "log");
    CHECK(f.part == 1);
    CHECK_THAT(text, Catch::Contains("part 1 of the batch") && Catch::Contains("row 1, column 2"));
  }
  CHECK(run_on(run, good) == run_on(unguarded, good));  // no sum of a part is left
  CHECK(same_bits(everything(run), everything(unguarded)));
}

TEST_CASE("of bounded rows those that are there count") {
  constexpr auto roots = [](net const& m, tensor<float, dyn<16>, 8> x) { return log(m.head(x * m.root)); };
  executor<function<roots, net>, cpu> run{seed(1)};
  for (auto const& t : run.tensors())
    if (t.name == "head.bias") std::ranges::fill(t.data, 1.0f);
  std::vector<float> x(16 * 8, 0.0f);
  std::fill(x.begin() + 5 * 8, x.end(), 1e6f);
  auto const y = run(x).value;
  CHECK(std::any_of(y.begin() + 5 * 8, y.end(), [](float v) { return std::isnan(v); }));
  finite_guard const guard{run};
  CHECK_THROWS_WITH(run(x), Catch::Contains("result of log (layer head") && Catch::Contains("row 5,") &&
                                Catch::Contains("parameters are as they were"));
  x.resize(5 * 8);
  for (float v : run(x).value) CHECK(v == 0);
}

namespace {
// The model's own states: a count of runs, and running statistics.
struct with_states {
  tx::nn::linear<4, 3> dense;
  tx::nn::batch_norm<3> norm;
  tx::state<tx::tensor<tx::i32>> seen;
};
using four = tx::tensor<float, 2, 4>;
constexpr auto counted = [](with_states const& m, four x) {
  m.seen.set(m.seen + 1);
  return tx::mean(tx::log(m.norm(m.dense(x)) + tx::sum(x)));
};
constexpr auto only_counts = [](with_states const& m, four x) {
  m.seen.set(m.seen + 1);
  return tx::log(x);
};
}  // namespace

TEST_CASE("a guard brings a model's states back, of programs that train and of others") {
  auto const check = []<class Run>(Run& run) {
    tx::finite_guard const guard(run);
    std::vector<float> good(8), bad(8, -5.0f);
    for (std::size_t i = 0; i < good.size(); ++i) good[i] = 5 + static_cast<float>(i * i % 5);
    run(good);
    auto const before = run.read();
    CHECK_THROWS_WITH(run(bad), Catch::Contains("as before the step"));
    CHECK(run.read() == before);
    CHECK(run.steps_run() == 1);
    run(good);
    CHECK(run.read() != before);
  };
  tx::executor<tx::train_step<with_states, counted, tx::adamw>, tx::cpu> trains{tx::seed(1)};
  check(trains);
  tx::executor<tx::function<only_counts, with_states>, tx::cpu> counts{tx::seed(1)};
  check(counts);
}
