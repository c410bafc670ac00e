// Runs that are started before results of earlier ones are taken: each hands back its own.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <numeric>
#include <vector>

namespace {

constexpr int rows = 3, width = 4;

struct net {
  tx::nn::linear<width, width> layer;
};
constexpr auto loss = [](net const& m, tx::tensor<float, rows, width> x) {
  auto const y = m.layer(x);
  return tx::mean(y * y);
};
using step = tx::train_step<net, loss, tx::adamw>;
constexpr auto doubled = [](tx::tensor<float, tx::dyn<4, 1>, 2> x) { return x * 2.0; };

// A backend of a device whose memory the host does not reach: here it is the host's all the same, and copies are counted.
struct far : tx::reference {
  static inline int uploads = 0, downloads = 0, waits = 0;
  struct moment {
    void note() {}
    void wait() { ++waits; }
  };
  static constexpr tx::target on_its_own = [] {
    tx::target t = tx::reference::target;
    t.has_own_memory = true;
    return t;
  }();
  static constexpr tx::target const& target = on_its_own;
  static std::byte* allocate_on_host(std::int64_t count) { return tx::reference::allocate(count); }
  static void release_on_host(std::byte* p, std::int64_t count) { tx::reference::release(p, count); }
  static void clear(std::byte* to, std::int64_t count) { std::fill_n(to, count, std::byte{}); }
  static void upload(std::byte* to, std::byte const* from, std::int64_t count) { std::copy_n(from, count, to); }
  static void download(std::byte* to, std::byte const* from, std::int64_t count) { std::copy_n(from, count, to); }
  static void upload_ahead(std::byte* to, std::byte const* from, std::int64_t count) { upload(to, from, count), ++uploads; }
  static void download_later(std::byte* to, std::byte const* from, std::int64_t count) { download(to, from, count), ++downloads; }
};

std::vector<float> batch(int number) {
  std::vector<float> x(rows * width);
  std::iota(x.begin(), x.end(), static_cast<float>(number));
  return x;
}

std::vector<float> elements(auto result) {
  std::vector<float> all;
  tx::for_each_result(result, [&](auto const& t) { for (float x : tx::elements_of(t)) all.push_back(x); });
  return all;
}

template <class Backend>
void check_a_step_late() {
  tx::executor<step, Backend> one{tx::seed(5)}, late{tx::seed(5)};
  std::vector<float> wanted, got;
  for (int i = 0; i < 6; ++i) wanted.push_back(one(batch(i)).loss);
  late.start(batch(0));
  for (int i = 1; i < 6; ++i) {
    late.start(batch(i));
    CHECK(late.under_way() == 2);
    got.push_back(late.finish().loss);
  }
  got.push_back(late.finish().loss);
  CHECK(got == wanted);
  CHECK(late.steps_run() == 6);
  CHECK(late.read() == one.read());
}

}  // namespace

TEST_CASE("results a step late are those of each run") {
  check_a_step_late<tx::cpu>();
  check_a_step_late<tx::reference>();
  check_a_step_late<far>();
}

TEST_CASE("a run sends what it needs in one copy, and waits once") {
  tx::executor<step, far> run{tx::seed(5)};
  far::uploads = far::downloads = far::waits = 0;
  run(batch(1));
  run(batch(2));
  CHECK(far::uploads == 2);
  CHECK(far::downloads == 2);
  CHECK(far::waits == 2);
}

TEST_CASE("tensors of runs under way have their own extents and elements", "[bounded]") {
  tx::executor<tx::function<doubled>, tx::cpu> run;
  std::vector<float> const three{1, 2, 3, 4, 5, 6}, one{7, 8};
  run.start(three);
  run.start(one);
  auto const first = run.finish();
  CHECK(elements(first) == std::vector<float>{2, 4, 6, 8, 10, 12});
  auto const second = run.finish();
  CHECK(elements(second) == std::vector<float>{14, 16});
  CHECK(elements(first) == std::vector<float>{2, 4, 6, 8, 10, 12});  // until the next start
}

TEST_CASE("what is started and taken in another order is refused") {
  tx::executor<step, tx::cpu> run{tx::seed(5)};
  CHECK_THROWS_WITH(run.finish(), Catch::Matchers::Contains("no run was started"));
  run.start(batch(0));
  CHECK_THROWS_WITH(run(batch(1)), Catch::Matchers::Contains("finish() before a run that hands back its own"));
  run.start(batch(1));
  CHECK_THROWS_WITH(run.start(batch(2)), Catch::Matchers::Contains("two runs were started"));
  CHECK(run.steps_run() == 2);
  run.finish();
  run.finish();
  CHECK_NOTHROW(run(batch(2)));
}

namespace {

// Stops runs in the middle.
struct breaking : tx::exec::observer {
  bool breaks = false;
  void before_kernel(tx::exec::frame const&, tx::exec::call const&) override {}
  void after_kernel(tx::exec::frame const&, tx::exec::call const&) override {
    if (breaks) throw tx::value_error("stopped");
  }
};

}  // namespace

TEST_CASE("a run that fails in the middle leaves the results of the one before as they were") {
  constexpr auto both = [](tx::tensor<float, rows, width> x) { return x * 2.0; };
  tx::executor<tx::function<both>, tx::cpu> run;
  breaking stop;
  run.observe(stop);
  run.start(batch(1));
  stop.breaks = true;
  CHECK_THROWS_WITH(run.start(batch(50)), "stopped");
  stop.breaks = false;
  run.start(batch(7));
  auto const first = run.finish();
  CHECK(elements(first)[0] == 2);
  CHECK(elements(run.finish())[0] == 14);
  run.end_observing(stop);
}

TEST_CASE("a run that is refused leaves those under way as they are") {
  tx::executor<step, tx::cpu> one{tx::seed(5)}, run{tx::seed(5)};
  float const wanted = one(batch(0)).loss;
  run.start(batch(0));
  CHECK_THROWS_AS(run.start(std::vector<float>(2)), tx::shape_error);
  CHECK(run.under_way() == 1);
  CHECK(static_cast<float>(run.finish().loss) == wanted);
}
