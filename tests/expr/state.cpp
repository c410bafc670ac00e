// States: what a run reads and what it leaves, in functions and steps, in repeated blocks, shards and parts of a batch.
#include <tx/expr/state.hpp>

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/local.hpp>
#include <tx/io/parameters.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/abs.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/update_at.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

namespace {

using vector = tx::tensor<float, 3>;

// ---- a function --------------------------------------------------------------------------------------------------------

struct counter {
  tx::state<vector> total;
  tx::state<tx::tensor<float>, tx::init::ones> runs;
  tx::state<vector> never_set;
};
struct seen {
  vector before, untouched;
  tx::tensor<float> runs;
};
constexpr auto count = [](counter const& m, vector x) {
  m.total.set(m.total + x);
  m.runs.set(m.runs + 1);
  return seen{m.total, m.never_set, m.runs};  // what was there when the run began
};
constexpr auto look = [](counter const& m) { return m.total * 2; };
using counts = tx::executor<tx::function<count, counter>, tx::cpu>;

std::vector<float> all(auto const& of) { return std::vector<float>(of.begin(), of.end()); }

// ---- a state that becomes another one, and its own elements in another order ---------------------------------------------

struct exchanged {
  tx::state<vector, tx::init::normal<1, 1>> first, second;
};
constexpr auto exchange = [](exchanged const& m, vector x) {
  m.first.set(m.second);
  m.second.set(m.first + x);
  return tx::sum(m.first * m.second);
};
struct shifted {
  tx::state<tx::tensor<float, 4>> window;
};
constexpr auto shift = [](shifted const& m, tx::tensor<float, 1> x) {
  auto const next = tx::concat<0>(tx::slice<0, 1, 3>(m.window), x);
  m.window.set(next);
  return next * 1;
};

// ---- repeated blocks -------------------------------------------------------------------------------------------------

struct layer {
  tx::param<tx::tensor<float, 4, 4>, tx::init::normal<1, 2>> weight;
  tx::state<tx::tensor<float, 4>> mean;
  constexpr auto operator()(auto const& h) const {
    auto const next = tx::tanh(tx::matmul(h, weight)) - mean;
    mean.set(mean * 0.75 + tx::reshape<4>(tx::mean<0>(next)) * 0.25);
    return next;
  }
};
template <int N>
struct stack {
  tx::repeat<N, layer> layers;
};
struct unrolled {
  layer a, b, c;
};
template <int Rows>
using rows = tx::tensor<float, Rows, 4>;
template <int Rows>
constexpr auto loss_of_stack = [](stack<3> const& m, rows<Rows> x) { return tx::mean(m.layers(x)); };
constexpr auto loss_of_unrolled = [](unrolled const& m, rows<6> x) { return tx::mean(m.c(m.b(m.a(x)))); };

// A repeat in a repeat, and one that peels its last block.
struct twice {
  tx::repeat<2, layer> inner;
  constexpr auto operator()(auto const& h) const { return inner(h); }
};
struct nested {
  tx::repeat<2, twice> outer;
};
struct peeled {
  tx::repeat<4, layer, tx::peel::last> layers;
};
struct flat {
  tx::repeat<4, layer> layers;
};
constexpr auto loss_of_nested = [](nested const& m, rows<6> x) { return tx::mean(m.outer(x)); };
constexpr auto loss_of_peeled = [](peeled const& m, rows<6> x) { return tx::mean(m.layers(x)); };
constexpr auto loss_of_flat = [](flat const& m, rows<6> x) { return tx::mean(m.layers(x)); };

std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 5 % 11) * 0.25f - 1;
  return x;
}
template <class Run>
std::vector<float> by_name(Run const& run, std::string const& ending) {
  std::vector<float> found;
  for (auto const& t : run.tensors())
    if (t.name.ends_with(ending)) found.insert(found.end(), t.data.begin(), t.data.end());
  return found;
}
// Three runs of a step from the same weights; then its states.
template <class Step, class Backend = tx::cpu, class... From>
std::vector<float> trained(std::vector<float> const& x, std::vector<float> const& weights) {
  tx::executor<Step, Backend> run{tx::seed(0)};
  std::size_t at = 0;
  for (auto const& t : run.tensors())
    if (t.name.ends_with("weight")) for (float& w : t.data) w = weights[at++];
  REQUIRE(at == weights.size());
  for (int k = 0; k < 3; ++k) run(x);
  return by_name(run, "mean");
}
template <auto Loss, class Model, class... Options>
using step = tx::train_step<Model, Loss, tx::adamw, Options...>;

void close(std::vector<float> const& a, std::vector<float> const& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-6));
}

}  // namespace

TEST_CASE("a state is read as it was and stored when the run ends") {
  counts run{tx::seed(0)};
  auto const first = run(std::array{1.0f, 2.0f, 3.0f});
  CHECK(all(first.before) == std::vector<float>{0, 0, 0});
  CHECK(first.runs == 1);
  auto const second = run(std::array{10.0f, 20.0f, 30.0f});
  CHECK(all(second.before) == std::vector<float>{1, 2, 3});
  CHECK(all(second.untouched) == std::vector<float>{0, 0, 0});
  CHECK(second.runs == 2);

  tx::executor<tx::function<look, counter>, tx::cpu> other{run};  // programs of one model share it
  CHECK(all(other().value) == std::vector<float>{22, 44, 66});

  run.reset_state();
  CHECK(all(other().value) == std::vector<float>{0, 0, 0});
  CHECK(run(std::array{1.0f, 1.0f, 1.0f}).runs == 1);
}

TEST_CASE("states are saved and loaded by name") {
  auto const file = std::filesystem::temp_directory_path() / "tx_state_by_name.safetensors";
  counts run{tx::seed(0)}, other{tx::seed(1)};
  run(std::array{1.0f, 2.0f, 3.0f});
  tx::io::save_parameters(file, run.tensors());
  tx::io::load_parameters(file, other.tensors());
  std::filesystem::remove(file);
  CHECK(all(other(std::array{0.0f, 0.0f, 0.0f}).before) == std::vector<float>{1, 2, 3});
}

TEST_CASE("parameters that are only read are refused to who sets a state, and so is an argument in them") {
  tx::parameter_block<counter, tx::cpu> block{tx::seed(0), 0};
  tx::executor<tx::function<look, counter>, tx::cpu> reader{std::as_const(block)};
  CHECK_THROWS_WITH(reader.reset_state(), Catch::Contains("given to it as const"));
  CHECK_THROWS_WITH((counts{reader}), Catch::Contains("given to it as const"));
  counts run{block};
  CHECK_THROWS_WITH(run(block.elements().first(3)), Catch::Contains("memory that a run writes over"));
}

TEST_CASE("states become each other, and their own elements in another order") {
  tx::executor<tx::function<exchange, exchanged>, tx::cpu> run{tx::seed(3)};
  auto const before = run.tensors();
  auto const first = all(before[0].data), second = all(before[1].data);
  run(std::array{1.0f, 2.0f, 3.0f});
  CHECK(all(before[0].data) == second);
  for (std::size_t i = 0; i < 3; ++i) CHECK(before[1].data[i] == first[i] + static_cast<float>(i + 1));

  tx::executor<tx::function<shift, shifted>, tx::cpu> window{tx::seed(0)};
  for (float x : {1.0f, 2.0f, 3.0f, 4.0f}) window(std::array{x});
  CHECK(all(window(std::array{5.0f}).value) == std::vector<float>{2, 3, 4, 5});
  CHECK(all(window.tensors()[0].data) == std::vector<float>{2, 3, 4, 5});
}

TEST_CASE("a repeated block has a state for each iteration") {
  std::vector<float> const x = numbers(24), weights = [] {
    auto w = numbers(48);
    for (float& v : w) v *= 0.4f;
    return w;
  }();
  auto const wanted = trained<step<loss_of_unrolled, unrolled>>(x, weights);
  CHECK(wanted.size() == 12);
  close(trained<step<loss_of_stack<6>, stack<3>>>(x, weights), wanted);
  close(trained<step<loss_of_stack<6>, stack<3>>, tx::reference>(x, weights), wanted);
  close(trained<step<loss_of_stack<6>, stack<3>, tx::clip_gradient, tx::recompute<100'000>>>(x, weights), wanted);
}

TEST_CASE("states in repeats of repeats, and in one that peels") {
  std::vector<float> const x = numbers(24), weights = [] {
    auto w = numbers(64);
    for (float& v : w) v *= 0.4f;
    return w;
  }();
  auto const wanted = trained<step<loss_of_flat, flat>>(x, weights);
  CHECK(wanted.size() == 16);
  close(trained<step<loss_of_nested, nested>>(x, weights), wanted);
  close(trained<step<loss_of_peeled, peeled>>(x, weights), wanted);
}

TEST_CASE("shards store the mean of what a state becomes in each, parts go on from each other") {
  std::vector<float> x = numbers(24), weights(48, 0.0f);
  for (std::size_t i = 0; i < 48; i += 5) weights[i] = 0.5f;
  // With a rate of nothing the weights stay, so that a part's states can be told from a run's.
  auto const states_after = [&]<class Step>(std::vector<std::vector<float>> const& batches) {
    tx::executor<Step, tx::cpu> run{tx::seed(0)};
    run.settings["learning_rate"] = 0;
    std::size_t at = 0;
    for (auto const& t : run.tensors())
      if (t.name.ends_with("weight")) for (float& w : t.data) w = weights[at++];
    for (auto const& batch : batches) run(batch);
    return by_name(run, "mean");
  };
  std::vector<float> const front(x.begin(), x.begin() + 12), back(x.begin() + 12, x.end());
  using whole = step<loss_of_stack<3>, stack<3>>;
  auto const one = states_after.operator()<whole>({front}), other = states_after.operator()<whole>({back});
  std::vector<float> mean;
  for (std::size_t i = 0; i < one.size(); ++i) mean.push_back((one[i] + other[i]) / 2);
  close(states_after.operator()<step<loss_of_stack<3>, stack<3>, tx::virtual_shards<2>>>({x}), mean);
  close(states_after.operator()<step<loss_of_stack<3>, stack<3>, tx::accumulate<2>>>({x}), states_after.operator()<whole>({front, back}));
}

// ---- a cache: of a state only what is new is written ---------------------------------------------------------------------------

namespace {

template <int Places>
struct cached {
  tx::state<tx::tensor<float, Places, 16>> cache;
};
template <int Places>
constexpr auto remember = [](cached<Places> const& m, tx::tensor<float, 2, 16> x, tx::tensor<tx::i32> at) {
  auto const all = tx::update_at<0>(m.cache, x, at);
  m.cache.set(all);
  return tx::slice_at<0, 3>(all, at);  // what is new, and what came behind it
};
constexpr auto remember_and_compare = [](cached<64> const& m, tx::tensor<float, 2, 16> x, tx::tensor<tx::i32> at) {
  auto const all = tx::update_at<0>(m.cache, x, at);
  m.cache.set(all);
  return tx::sum(tx::abs(all - m.cache));  // the old one is read behind the new one: that is computed elsewhere
};
constexpr auto from_itself = [](cached<64> const& m, tx::tensor<tx::i32> at) {
  auto const all = tx::update_at<0>(m.cache, tx::slice<0, 1, 2>(m.cache), at);
  m.cache.set(all);
  return all * 1;
};
static_assert(tx::function<remember<4096>, cached<4096>>::memory.arena == tx::function<remember<64>, cached<64>>::memory.arena);
static_assert(tx::function<remember<4096>, cached<4096>>::memory.arena < 1024);

}  // namespace

TEST_CASE("a cache is written where it lies") {
  tx::executor<tx::function<remember<64>, cached<64>>, tx::cpu> run{tx::seed(0)};
  std::vector<float> x(32);
  for (int start : {0, 2, 5}) {
    for (std::size_t i = 0; i < 32; ++i) x[i] = static_cast<float>(start * 100) + static_cast<float>(i);
    auto const r = run(x, std::array{start});
    CHECK(std::equal(x.begin(), x.end(), r.value.begin()));
  }
  auto const cache = run.elements();
  for (std::size_t place = 0; place < 64; ++place)
    for (std::size_t j = 0; j < 16; ++j) {
      float const from_start = place < 2 ? 0.0f : place < 4 ? 200.0f : 500.0f;
      float const first = place < 2 ? 0.0f : place < 4 ? 2.0f : 5.0f;
      bool const written = place < 4 || place == 5 || place == 6;
      CHECK(cache[place * 16 + j] == (written ? from_start + (static_cast<float>(place) - first) * 16 + static_cast<float>(j) : 0.0f));
    }
}

TEST_CASE("a cache that is full is refused before anything is written") {
  tx::executor<tx::function<remember<64>, cached<64>>, tx::cpu> run{tx::seed(0)};
  std::vector<float> const x(32, 1.0f);
  auto const refused = [&](int start, std::string const& rule) {
    CHECK_THROWS_WITH(run(x, std::array{start}), Catch::Contains("argument 1 holds " + std::to_string(start) + " at element 0, where a slice or what is written begins; it must be " + rule +
                                                                 " for all of it to lie in its axis. FIX: a start with room behind it; a cache that is full takes no more"));
  };
  refused(-1, "at least 0");
  refused(62, "below 62");  // three are read from there
  refused(63, "below 63");  // two are written
  refused(1000, "below 63");
  for (float v : run.elements()) CHECK(v == 0);
  CHECK_NOTHROW(run(x, std::array{61}));
}

TEST_CASE("a cache that is read behind its new value, or is its own new value") {
  tx::executor<tx::function<remember_and_compare, cached<64>>, tx::cpu> run{tx::seed(0)};
  std::vector<float> const x(32, 2.0f);
  CHECK(run(x, std::array{4}).value == 64);
  CHECK(run(x, std::array{5}).value == 32);
  CHECK(run(x, std::array{4}).value == 0);
  tx::executor<tx::function<from_itself, cached<64>>, tx::cpu> moved{tx::seed(0)};
  for (std::size_t i = 0; i < 64 * 16; ++i) moved.elements()[i] = static_cast<float>(i);
  moved(std::array{2});
  for (std::size_t i = 0; i < 64 * 16; ++i) {
    std::size_t const place = i / 16;
    CHECK(moved.elements()[i] == static_cast<float>(place == 2 || place == 3 ? i - 16 : i));
  }
}
