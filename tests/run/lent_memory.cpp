// Parameters, states and arena in memory of the caller's: nothing is allocated, nothing outside it is touched, and no
// bit differs.
#include "allocations.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

namespace {

using namespace tx;

struct net {
  nn::linear<8, 16> hidden;
  nn::linear<16, 5> out;
  constexpr auto operator()(auto const& x) const { return out(gelu(hidden(x))); }
};
constexpr auto loss = [](net const& m, tensor<f32, 4, 8> x, tensor<i32, 4> y) { return cross_entropy(m(x), y); };
constexpr auto predict = [](net const& m, tensor<f32, 8, 8> x) { return m(x); };
using step = train_step<net, loss, adamw, accumulate<2>>;  // so there are sums of gradients too
using inference = function<predict, net>;
using weights = parameter_block<net, cpu>;
using trainer = executor<step, cpu>;
using server = executor<inference, cpu>;

static_assert(trainer::arena_bytes == step::memory.arena);
static_assert(server::arena_bytes == inference::memory.arena);
static_assert(weights::bytes_for(step::states) == step::memory.parameters + step::memory.optimizer);
static_assert(trainer::arena_bytes % memory_alignment == 0 && weights::bytes_for(1) % memory_alignment == 0);

// So many bytes from a multiple of the alignment on, or `over` behind one; all of them, and more before and behind, are
// those of NaNs.
class guarded {
 public:
  explicit guarded(std::int64_t count, std::size_t over = 0)
      : all_(static_cast<std::size_t>(count) + over + 5 * memory_alignment, nan),
        count_(static_cast<std::size_t>(count)) {
    auto const begin = reinterpret_cast<std::uintptr_t>(all_.data());
    first_ = (begin + memory_alignment - 1) / memory_alignment * memory_alignment - begin + 2 * memory_alignment + over;
  }
  std::span<std::byte> bytes() { return std::span(all_).subspan(first_, count_); }
  bool untouched_around() const {
    auto const is_nan = [](std::byte b) { return b == nan; };
    return std::all_of(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_), is_nan) &&
           std::all_of(all_.begin() + static_cast<std::ptrdiff_t>(first_ + count_), all_.end(), is_nan);
  }
  bool holds(void const* p) { return p >= bytes().data() && p < bytes().data() + count_; }

 private:
  static constexpr std::byte nan{0xff};
  std::vector<std::byte> all_;
  std::size_t count_, first_ = 0;
};

struct batch {
  std::vector<f32> x = std::vector<f32>(8 * 8);
  std::vector<i32> y = {0, 1, 2, 3, 4, 0, 1, 2};
  batch() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<f32>((i * 7) % 23) / 23;
  }
};

}  // namespace

TEST_CASE("in memory of the caller's every bit is the same, and no byte around it is touched") {
  batch const b;
  guarded places(weights::bytes_for(step::states)), room(trainer::arena_bytes), small_room(server::arena_bytes);
  weights mine{seed(3), step::states, places.bytes()};
  trainer run{mine, {.threads = 1, .arena = room.bytes()}};
  server look{mine, {.threads = 1, .arena = small_room.bytes()}};
  trainer own{seed(3), {.threads = 1}};
  server own_look{own, {.threads = 1}};
  for (int i = 0; i < 5; ++i) {
    CHECK(static_cast<f32>(run(b.x, b.y).loss) == static_cast<f32>(own(b.x, b.y).loss));
    CHECK(std::ranges::equal(look(b.x).value, own_look(b.x).value));
  }
  for (int k = 0; k <= step::states; ++k) {
    CHECK(std::ranges::equal(run.elements(k), own.elements(k)));
    CHECK((places.holds(run.elements(k).data()) && places.holds(&run.elements(k).back())));
  }
  CHECK((mine.steps == 5 && run.steps_run() == 5));
  CHECK((small_room.holds(look(b.x).value.begin()) && !small_room.holds(own_look(b.x).value.begin())));
  CHECK((places.untouched_around() && room.untouched_around() && small_room.untouched_around()));
}

#if !defined(UNCOUNTED)
TEST_CASE("an executor in memory of the caller's allocates nothing, nor does its making") {
  batch const b;
  guarded places(weights::bytes_for(step::states)), room(trainer::arena_bytes);
  long const before = allocations;
  weights mine{seed(3), step::states, places.bytes()};
  trainer run{mine, {.threads = 1, .arena = room.bytes()}};
  for (int i = 0; i < 3; ++i) run(b.x, b.y);
  CHECK(allocations == before);
}
#endif

TEST_CASE("memory of the caller's that will not do is refused, and both sizes are named") {
  constexpr std::int64_t needed = weights::bytes_for(2);
  guarded places(needed), astray(needed, 8), room(trainer::arena_bytes), astray_room(trainer::arena_bytes, 32);
  auto const contains = [](auto n) { return Catch::Contains(std::to_string(n)); };
  auto const make = [](std::span<std::byte> memory, int states) { weights(seed(1), states, memory); };
  CHECK_THROWS_AS(make(places.bytes().first(1000), 2), shape_error);
  CHECK_THROWS_WITH(make(places.bytes().first(needed - 1), 2),
                    Catch::Contains("parameter_block: ") && contains(needed - 1) && contains(needed));
  CHECK_THROWS_WITH(make(astray.bytes(), 2), Catch::Contains("begins 8 bytes behind a multiple of 64. FIX: alignas"));
  CHECK_THROWS_AS(make(astray.bytes(), 2), value_error);
  CHECK_THROWS_WITH(weights(astray.bytes(), 2), Catch::Contains("begins 8 bytes behind"));
  CHECK_THROWS_AS(weights(std::span<std::byte>(), 0), shape_error);
  for (int states : {-1, 8, 100})
    CHECK_THROWS_WITH(make(places.bytes(), states), Catch::Contains(std::to_string(states) + " states. FIX: "));

  weights mine{seed(1), step::states, places.bytes()};
  auto const run_in = [&](std::span<std::byte> arena) { trainer(mine, {.arena = arena}); };
  CHECK_THROWS_AS(run_in(room.bytes().first(room.bytes().size() - 1)), shape_error);
  CHECK_THROWS_WITH(run_in(room.bytes().first(0)),
                    Catch::Contains("executor: memory of 0 bytes") && contains(trainer::arena_bytes));
  CHECK_THROWS_WITH(run_in(astray_room.bytes()),
                    Catch::Contains("executor: the given memory begins 32 bytes behind a multiple of 64"));
  CHECK_NOTHROW(run_in(room.bytes()));
  weights untrained{seed(1), 1};
  CHECK_THROWS_WITH((trainer{untrained}), Catch::Contains("keep 1 states; the program needs 2. FIX: "));
}

TEST_CASE("parameters that lie in memory already are taken as they are") {
  batch const b;
  guarded places(weights::bytes_for(0)), other(weights::bytes_for(0));
  weights const first{seed(5), 0, places.bytes()};
  std::ranges::copy(places.bytes(), other.bytes().begin());  // as from another process
  weights second{other.bytes(), 0};
  CHECK(std::ranges::equal(first.elements(), second.elements()));
  server a{first}, c{second};
  CHECK(std::ranges::equal(a(b.x).value, c(b.x).value));
  second.tensors()[1].data[0] += 1;
  CHECK(!std::ranges::equal(a(b.x).value, c(b.x).value));
}

TEST_CASE("const parameters are read, never written") {
  batch const b;
  weights mine{seed(1), step::states};
  server const writes{mine};
  server reads{std::as_const(mine)};
  server also{reads, {.threads = 1}};
  for (server* s : {&reads, &also}) {
    CHECK_THROWS_WITH(s->tensors(), Catch::Contains("given to it as const. FIX: "));
    CHECK_THROWS_AS(s->elements(), value_error);
    CHECK_THROWS_AS(s->write(mine.read()), value_error);
    CHECK_THROWS_AS(s->restore(0, 2), value_error);
    CHECK_THROWS_AS(s->reset_optimizer(), value_error);
    CHECK(s->read() == mine.read());
  }
  CHECK_THROWS_AS((trainer{reads}), value_error);
  CHECK(mine.seed.value == 1);
  std::vector<f32> const before(reads(b.x).value.begin(), reads(b.x).value.end());
  writes.elements()[0] += 1;  // by who may
  CHECK(!std::ranges::equal(before, reads(b.x).value));
}
