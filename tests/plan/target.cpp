// One step planned for several targets: what differs is what they say, and results are the same.
#include "../furthest.hpp"
#include "../small_kernels.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/cuda/target.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/attention.hpp>
#include <tx/nn/layer_norm.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/mse.hpp>
#include <tx/ops/square.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

struct net {
  tx::nn::linear<6, 20> in;
  tx::nn::layer_norm<20> norm;
  tx::nn::linear<20, 3> out;
  constexpr auto operator()(auto const& x) const { return out(tx::gelu(norm(in(x)))); }
};
constexpr auto loss = [](net const& m, tx::tensor<float, 10, 6> x, tx::tensor<float, 10, 3> y) { return tx::mse(m(x), y); };
using step = tx::train_step<net, loss, tx::adamw>;

// The reference's kernels, on what is planned for the made-up target.
struct elsewhere : tx::reference {
  static constexpr tx::target const& target = small_kernels;
};

static_assert(step::program<small_kernels>::calls.size() > step::program<>::calls.size());
static_assert([] {  // a product's kernel holds nothing else
  using program = step::program<small_kernels>;
  for (auto const& k : program::kernels)
    if (k.lets > 4 || (k.kind == tx::exec::kernel_kind::gemm && k.lets > 0)) return false;
  return true;
}());
static_assert(step::memory_on<small_kernels>.parameters == step::memory.parameters);
static_assert(step::memory_on<small_kernels>.workspace != step::memory.workspace);
static_assert(step::memory_on<tx::cuda_target>.workspace != step::memory.workspace);
static_assert(step::memory_on<tx::cpu_target>.arena == step::memory.arena);

template <class Backend>
std::vector<double> trained(std::vector<double>& losses) {
  tx::executor<step, Backend> run{tx::seed(3)};
  std::vector<float> x(60), y(30);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) * 0.25f - 0.5f;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i % 5) * 0.5f - 1;
  for (int s = 0; s < 10; ++s) losses.push_back(static_cast<double>(static_cast<float>(run(x, y).loss)));
  auto const all = run.read();
  return {all.begin(), all.end()};
}

}  // namespace

namespace {

// A made-up target that has a kernel for attention, with scratch of its own.
inline constexpr tx::target attends_whole = [] {
  tx::target to = small_kernels;
  to.name = "attends whole";
  to.runs_attention = [](tx::attention_shape const& a) { return a.keys > 4 && a.type == tx::dtype::f32; };
  to.whole_scratch = [](tx::op_info const& op, tx::exec::call const&, tx::exec::operand_ref const* operands) {
    return op.multiplied > 0 ? std::int64_t{1} << 20 : std::int64_t{64} * operands[0].extent[1];
  };
  return to;
}();
struct attending : tx::reference {
  static constexpr tx::target const& target = attends_whole;
};

struct attentive {
  tx::nn::self_attention<8, 2> attention;
  tx::nn::linear<8, 3> out;
};
template <int Places>
constexpr auto attentive_loss = [](attentive const& m, tx::tensor<float, 4, Places, 8> x, tx::tensor<bool, 4, Places> mask) {
  return tx::mean(tx::square(m.out(m.attention(x, mask)) - 0.5));
};
template <int Places>
using attentive_step = tx::train_step<attentive, attentive_loss<Places>, tx::adamw>;

template <class Program>
int calls_of(char const* op) {
  int calls = 0;
  for (auto const& c : Program::calls) {
    tx::op_info const* const of = Program::kernels[c.kernel].op;
    calls += of != nullptr && std::string_view(of->name) == op;
  }
  return calls;
}
using long_step = attentive_step<6>;
using short_step = attentive_step<4>;

template <class Backend>
std::vector<double> losses_of() {
  tx::executor<long_step, Backend> run{tx::seed(3)};
  run.settings["dropout"] = 0.3f;
  std::vector<float> x(4 * 6 * 8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) * 0.25f - 0.5f;
  bool mask[24];
  for (int i = 0; i < 24; ++i) mask[i] = i % 5 != 3;
  std::vector<double> losses;
  for (int s = 0; s < 5; ++s) losses.push_back(static_cast<double>(static_cast<float>(run(x, std::span<bool const>(mask)).loss)));
  return losses;
}

}  // namespace

TEST_CASE("a target that has a kernel for attention runs it where it says so, with its scratch and the same random numbers") {
  CHECK(calls_of<long_step::program<attends_whole>>("attention") == 1);
  CHECK(calls_of<long_step::program<attends_whole>>("attention_gradient") == 1);
  CHECK(calls_of<short_step::program<attends_whole>>("attention") == 0);
  CHECK(calls_of<long_step::program<small_kernels>>("attention") == 0);
  CHECK(calls_of<long_step::program<>>("attention") == 0);
  CHECK(long_step::memory_on<attends_whole>.workspace == std::int64_t{1} << 20);
  CHECK(long_step::memory_on<small_kernels>.workspace < std::int64_t{1} << 20);
  auto const whole = losses_of<attending>(), written_out = losses_of<elsewhere>(), cpu = losses_of<tx::cpu>();
  CHECK(distance(whole, written_out) < 1e-6);
  CHECK(distance(whole, cpu) < 1e-6);
  CHECK(whole.front() > whole.back());
}

TEST_CASE("rows of a multiple of the columns that a target says have kernels of their own, all others one") {
  constexpr auto twice = [](tx::tensor<float, 4, 24> x) { return x + x; };
  constexpr auto of_any = [](tx::tensor<float, 4, tx::dyn<24>> x) { return x + x; };
  auto const has_whole = [](auto source, std::int64_t columns) {
    tx::target to = small_kernels;
    to.whole_columns = columns;
    tx::exec::lowered const l = decltype(source)::lower(to);
    REQUIRE(l.kernels.size() == 1);
    return l.kernels[0].columns == tx::exec::whole_columns;
  };
  tx::function<twice>::source const fixed{};
  CHECK(has_whole(fixed, 8));
  CHECK(has_whole(fixed, 1));
  CHECK(!has_whole(fixed, 16));
  CHECK(!has_whole(fixed, 0));
  CHECK(!has_whole(tx::function<of_any>::source{}, 8));
  CHECK(tx::cpu_target.has_whole_columns(768));
  CHECK(!tx::cuda_target.has_whole_columns(770));
}

namespace {

// What the type of the only kernel says of its columns, on a target with whole columns of 8, rows that begin at multiples of 16 bytes, and kernels for up to so many columns.
template <auto F>
int columns_of(std::int64_t known) {
  tx::target to = small_kernels;
  to.whole_columns = 8;
  to.whole_bytes = 16;
  to.known_columns = known;
  tx::exec::lowered const l = tx::function<F>::source::lower(to);
  REQUIRE(l.kernels.size() == 1);
  return l.kernels[0].columns;
}
template <int... D>
using floats = tx::tensor<float, D...>;
constexpr auto from_8 = [](floats<4, 40> x) { return tx::slice<1, 8, 24>(x) * 2; };
constexpr auto from_2 = [](floats<4, 40> x) { return tx::slice<1, 2, 24>(x) * 2; };
constexpr auto rows_of_41 = [](floats<4, 41> x) { return tx::slice<1, 0, 24>(x) * 2; };
constexpr auto shares = [](floats<4, 24> x) { return x / tx::sum<1>(x); };
constexpr auto shares_of_turned = [](floats<2, 3, 24> x) {
  auto const y = tx::transpose<1, 0, 2>(x);
  return y / tx::sum<2>(y);
};

}  // namespace

TEST_CASE("rows that begin at no multiple of a target's bytes have the kernel of any columns") {
  CHECK(columns_of<from_8>(0) == tx::exec::whole_columns);
  CHECK(columns_of<from_2>(0) == tx::exec::any_columns);
  CHECK(columns_of<rows_of_41>(0) == tx::exec::any_columns);
  tx::bound_table bounds{};
  bounds.most[1] = 512;
  tx::factors const once = tx::factors::once(1);
  CHECK(tx::exec::whole_part(tx::proportional(512 * 64, once), bounds) == 64);
  CHECK(tx::exec::whole_part(tx::proportional(512, once), bounds) == 1);
  CHECK(tx::exec::whole_part(tx::proportional(512 * 512 * 3, once + once), bounds) == 3);
  CHECK(tx::exec::whole_part(tx::exactly(48), bounds) == 48);
}

TEST_CASE("a kernel is for its number of columns where the target has such, something is made of a row, and rows lie at one distance") {
  CHECK(columns_of<shares>(24) == 24);
  CHECK(columns_of<shares>(16) == tx::exec::whole_columns);
  CHECK(columns_of<shares>(0) == tx::exec::whole_columns);
  CHECK(columns_of<from_8>(24) == tx::exec::whole_columns);
  CHECK(columns_of<shares_of_turned>(24) == tx::exec::whole_columns);
}

TEST_CASE("a step planned for two targets gives the same numbers") {
  std::vector<double> there, here;
  auto const a = trained<elsewhere>(there);
  auto const b = trained<tx::reference>(here);
  CHECK(distance(there, here) < 1e-6);
  CHECK(distance(a, b) < 1e-6);
  CHECK(here.front() > here.back());
}
