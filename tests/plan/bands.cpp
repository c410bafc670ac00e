// Products that run band by band give what they give all at once, and their values never are in memory whole.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/attention.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

// Longer than twice its heads are wide, so that scores outgrow what they are made of; nothing is a multiple of 16.
constexpr int batch = 5, tokens = 37, width = 24, heads = 2;

struct block {
  tx::nn::self_attention<width, heads> attention;
  constexpr auto operator()(auto const& x, auto const& mask) const { return x + attention(x, mask); }
};
struct model {
  tx::repeat<3, block> layer;
};
template <class T>
constexpr auto loss = [](model const& m, tx::tensor<float, batch, tokens, width> x, tx::tensor<tx::i32, batch, tokens> mask) {
  auto const y = m.layer(x, mask);
  return tx::mean(y * y);
};
template <std::int64_t Bytes>
using in_bands = tx::compiled_with<tx::compile_options{.band_bytes = Bytes}>;
template <std::int64_t Bytes>
using step = tx::train_step<model, loss<float>, tx::adamw, in_bands<Bytes>>;
constexpr std::int64_t whole = std::int64_t{1} << 40;
constexpr std::int64_t scores = 4 * tokens * tokens;  // bytes of one head's

template <class Step>
constexpr int band_loops() {
  int count = 0;
  for (auto const& l : Step::template program<>::loops.items) count += l.band > 0 ? 1 : 0;
  return count;
}
static_assert(band_loops<step<whole>>() == 0);
static_assert(band_loops<step<scores>>() == 2, "forward and backward");
static_assert(step<scores>::memory.gradients + 2 * (batch * heads - 1) * scores < step<whole>::memory.gradients);
static_assert(step<whole>::memory.activations < 3 * 8 * 4 * batch * tokens * width, "scores are not kept for the backward pass");

std::vector<float> inputs() {
  std::vector<float> x(batch * tokens * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 200) / 100 - 1;
  return x;
}
std::vector<tx::i32> mask() {
  std::vector<tx::i32> m(batch * tokens, 1);
  for (std::size_t i = 0; i < 20; ++i) m[i] = 0;
  return m;
}

template <class Step, class Backend>
std::vector<float> trained(int threads = 1) {
  tx::executor<Step, Backend> run{tx::seed(3), tx::run_options{.threads = threads}};
  run.settings["learning_rate"] = 1e-2f;
  run.settings.set("dropout", 0.1f);
  std::vector<float> all;
  for (int i = 0; i < 3; ++i) all.push_back(run(inputs(), mask()).loss);
  auto const weights = run.elements();
  all.insert(all.end(), weights.begin(), weights.end());
  return all;
}

}  // namespace

TEST_CASE("bands change no bit", "[bands]") {
  auto const few = trained<step<7 * scores>, tx::cpu>(2);   // heads at a time, and what is left over
  auto const want = trained<step<whole>, tx::cpu>();
  CHECK(want[2] < want[0]);
  CHECK(few == want);
  CHECK(trained<step<scores>, tx::cpu>() == want);          // a head at a time
}

#if defined(NDEBUG)  // minutes where nothing is optimized
TEST_CASE("another backend runs bands too", "[bands]") {
  auto const want = trained<step<7 * scores>, tx::cpu>();
  auto const got = trained<step<7 * scores>, tx::reference>();
  for (std::size_t i = 0; i < want.size(); ++i) REQUIRE(got[i] == Approx(want[i]).margin(2e-3));
}
#endif

namespace {
constexpr auto encode = [](model const& m, tx::tensor<float, tx::dyn<batch>, tokens, width> x, tx::tensor<tx::i32, tx::dyn<batch>, tokens> mask) {
  return m.layer(x, mask);
};
template <std::int64_t Bytes>
using encoder = tx::function<encode, model, tx::compiled_with<tx::compile_options{.band_bytes = Bytes}>>;
}  // namespace

TEST_CASE("bands of as many texts as there are", "[bands]") {
  tx::executor<encoder<whole>, tx::cpu> at_once{tx::seed(3)};
  tx::executor<encoder<3 * scores>, tx::cpu> in_turn{tx::seed(3)};
  auto const x = inputs();
  auto const m = mask();
  for (std::size_t count : {0u, 1u, 2u, 5u}) {
    std::span<float const> const some(x.data(), count * tokens * width);
    std::span<tx::i32 const> const some_mask(m.data(), count * tokens);
    auto const want = at_once(some, some_mask), got = in_turn(some, some_mask);
    REQUIRE(got.value.size() == some.size());
    for (std::size_t i = 0; i < got.value.size(); ++i) REQUIRE(got.value[i] == want.value[i]);
  }
}

// ---- what is no batch of matrices, and what waits for a loop ----------------------------------------------------------

namespace {
struct gated {
  tx::nn::linear<width, width> left, right;
  constexpr auto operator()(auto const& x) const { return left(x) * right(x); }
};
constexpr auto gate = [](gated const& m, tx::tensor<float, batch, tokens, width> x) { return m(x); };
template <std::int64_t Bytes>
using gates = tx::function<gate, gated, tx::compiled_with<tx::compile_options{.band_bytes = Bytes}>>;
static_assert(band_loops<gates<64>>() == 0, "a product with a weight is one matrix, whatever its epilogue makes of the rows");

// The last product reads what the loop leaves behind; its other side waits from before the loop.
constexpr auto late = [](model const& m, tx::tensor<float, batch, tokens, width> x, tx::tensor<tx::i32, batch, tokens> mask) {
  auto const p = tx::softmax(tx::matmul(x, tx::transpose(x)));
  return tx::matmul(p, m.layer(x, mask));
};
template <std::int64_t Bytes>
using late_product = tx::function<late, model, tx::compiled_with<tx::compile_options{.reorder = false, .band_bytes = Bytes}>>;
}  // namespace

TEST_CASE("rows of texts that a weight multiplies are no bands", "[bands]") {
  tx::executor<gates<64>, tx::cpu> some{tx::seed(1)};
  tx::executor<gates<64>, tx::reference> plain{tx::seed(1)};
  auto const got = some(inputs()), want = plain(inputs());
  for (std::size_t i = 0; i < want.value.size(); ++i) REQUIRE(got.value[i] == Approx(want.value[i]).margin(1e-5));
}

TEST_CASE("a product in bands comes after the loop whose last value it reads", "[bands]") {
  tx::executor<late_product<whole>, tx::cpu> at_once{tx::seed(3)};
  tx::executor<late_product<scores>, tx::cpu> in_turn{tx::seed(3)};
  auto const want = at_once(inputs(), mask()), got = in_turn(inputs(), mask());
  REQUIRE(got.value.size() == want.value.size());
  for (std::size_t i = 0; i < want.value.size(); ++i) REQUIRE(got.value[i] == want.value[i]);
}
