// Adafactor's states, a number for each row and column: how little memory they take, that they come back from checkpoints bit by bit, that no other
// optimizer takes them for its own, and that what looks at runs knows them.
#include "../../io/temp_folder.hpp"
#include "../small_net.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/inspect/finite_guard.hpp>
#include <tx/inspect/outline.hpp>
#include <tx/io/checkpoint_writer.hpp>
#include <tx/nn/bert_encoder.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/adafactor.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;
using Catch::Contains;

using momentum = adafactor_with<adafactor_options{.clip = 0.5, .beta1 = 0.75, .relative = false}>;

// What takes memory in a model: layers in a repeat.
struct config {
  static constexpr int layers = 4, hidden = 64, heads = 2, ffn = 128;
};
struct deep {
  nn::bert_encoder<config> encoder;
};
constexpr auto deep_loss = [](deep const& m, tensor<float, 2, 8, 64> x) {
  auto const y = m.encoder(x);
  return mean(y * y);
};
template <class Optimizer>
using deep_step = train_step<deep, deep_loss, Optimizer>;
static_assert(deep_step<adafactor>::memory.optimizer * 30 < deep_step<adamw>::memory.optimizer);
static_assert(deep_step<adafactor>::memory.peak < deep_step<adamw>::memory.peak - deep_step<adamw>::memory.optimizer * 9 / 10);
static_assert(deep_step<momentum>::memory.optimizer < deep_step<adamw>::memory.optimizer * 6 / 10);

template <class Optimizer>
using step = train_step<small::net<float>, small::loss<float>, Optimizer>;
using block = parameter_block<small::net<float>, cpu>;
static_assert(block::bytes_for(step<momentum>::states) == step<momentum>::memory.parameters + step<momentum>::memory.optimizer);

// Memory that only copies reach.
struct far : reference {
  static void clear(std::byte* p, std::int64_t count) { __builtin_memset(p, 0, static_cast<std::size_t>(count)); }
  static void upload(std::byte* to, std::byte const* from, std::int64_t count) { __builtin_memcpy(to, from, static_cast<std::size_t>(count)); }
  static void download(std::byte* to, std::byte const* from, std::int64_t count) { __builtin_memcpy(to, from, static_cast<std::size_t>(count)); }
};

template <class Run>
std::vector<float> losses(Run& run, int first, int steps) {
  run.settings["learning_rate"] = 0.05f;
  std::vector<float> all;
  for (int t = first; t < first + steps; ++t) all.push_back(run(small::batch<float>(t)).loss);
  return all;
}
template <class Run>
auto blocks_of(Run const& run) {
  std::vector<std::vector<float>> all;
  for (int k = 0; k <= run.states(); ++k) all.push_back(run.read(k));
  return all;
}

template <class Optimizer, class Backend>
void check_resumed() {
  temp_folder folder;
  executor<step<Optimizer>, Backend> whole{seed(7)}, again{seed(8)}, later{seed(9)};
  losses(whole, 0, 10);
  io::save_checkpoint(folder / "front", whole);
  io::checkpoint_writer writer;
  writer.save(folder / "back", whole);
  auto const before = blocks_of(whole);
  auto const second = losses(whole, 10, 10);
  losses(again, 3, 2);
  io::load_checkpoint(folder / "front", again);
  CHECK(blocks_of(again) == before);
  CHECK(losses(again, 10, 10) == second);
  CHECK(blocks_of(again) == blocks_of(whole));
  writer.wait();
  io::load_checkpoint(folder / "back", later);
  CHECK(blocks_of(later) == before);
}

}  // namespace

TEST_CASE("a run of Adafactor that is resumed continues bit by bit", "[adafactor]") {
  check_resumed<adafactor, cpu>();
  check_resumed<momentum, far>();
}

TEST_CASE("Adafactor's states are no other optimizer's", "[adafactor]") {
  temp_folder folder;
  executor<step<adafactor>, cpu> run{seed(1)};
  losses(run, 0, 2);
  io::save_checkpoint(folder.path, run);
  executor<step<momentum>, cpu> other{seed(2)};
  executor<step<adamw>, cpu> adam{seed(2)};
  auto const before = blocks_of(other);
  CHECK_THROWS_WITH(io::load_checkpoint(folder.path, other), Contains("holds states of the optimizer 'adafactor(power 0.8, epsilon1 1e-30)'; the run's is 'adafactor(") && Contains("FIX: "));
  CHECK_THROWS_AS(io::load_checkpoint(folder.path, adam), format_error);
  CHECK(blocks_of(other) == before);
  CHECK_THROWS_WITH((executor<step<momentum>, cpu>{run}), Contains("keeps no optimizer state to share"));
  CHECK_THROWS_WITH((executor<step<adamw>, cpu>{run}), Contains("are those of the optimizer 'adafactor("));
}

TEST_CASE("memory that is laid out for other states is refused", "[adafactor]") {
  block two{seed(1), 2}, right{seed(1), step<adafactor>::states}, more{seed(1), step<momentum>::states};
  CHECK_THROWS_WITH((executor<step<adafactor>, cpu>{two}), Contains("laid out otherwise than the step's") && Contains("FIX: parameter_block(seed, step::states)"));
  CHECK(two.identity == nullptr);
  CHECK_THROWS_WITH((executor<step<adamw>, cpu>{right}), Contains("laid out otherwise"));
  executor<step<adafactor>, cpu> a{right}, b{more}, own{seed(1)};
  auto const wanted = losses(own, 0, 5);
  CHECK(losses(a, 0, 5) == wanted);
  CHECK(losses(b, 0, 5) == wanted);
  CHECK_THROWS_AS((block{std::span<std::byte>(), step<adafactor>::states}), shape_error);
}

TEST_CASE("an average of weights beside Adafactor's states, and no predictions with these", "[adafactor]") {
  using smooth = averaged<adafactor>;
  static_assert(smooth::states == 3 && smooth::block == 3 && smooth::whole_tensors);
  using infer = function<small::loss<float>, small::net<float>>;
  executor<step<smooth>, cpu> run{seed(3)};
  losses(run, 0, 1);
  CHECK(std::ranges::equal(run.elements(smooth::block), run.elements()));  // of one step
  executor<infer, cpu> with_average{run, {.block = smooth::block}};
  CHECK(with_average.elements().data() == run.elements(smooth::block).data());
  CHECK_THROWS_WITH((executor<infer, cpu>{run, {.block = 1}}), Contains("block 1 has no number for each parameter. FIX: "));
}

TEST_CASE("outlines and guards know Adafactor's states", "[adafactor]") {
  bool columns = false;
  for (auto const& v : outline_of<step<adafactor>>().values) columns = columns || v.name == "state 1 of layers.*.mix";
  CHECK(columns);
  executor<step<adafactor>, cpu> run{seed(3)};
  losses(run, 0, 2);
  auto const before = blocks_of(run);
  finite_guard guard(run);
  auto x = small::batch<float>(3);
  x[4] = std::nanf("");
  CHECK_THROWS_AS(run(x), not_finite_error);
  CHECK(blocks_of(run) == before);
  run.tensors(2)[1].data[3] = std::nanf("");
  CHECK_THROWS_WITH(run(small::batch<float>(3)), Contains("the optimizer's state 1 of layers.1.mix, element 3"));
}
