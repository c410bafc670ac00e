// What ranks cost beside the plain step: gradients are added up in the loop that makes them, so no more than a block's exists at a time.
#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/mean.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

struct block {
  nn::linear<256, 256> inner;
  constexpr auto operator()(auto const& x) const { return x + gelu(inner(x)); }
};
struct net {
  repeat<16, block> body;
};
constexpr auto loss = [](net const& m, tensor<f32, 8, 256> x) {
  auto const y = m.body(x);
  return mean(y * y);
};
template <class... Options>
using step = train_step<net, loss, adamw, Options...>;

constexpr std::int64_t bytes = layout<net>::size * 4, of_a_block = bytes / 16;

}  // namespace

TEST_CASE("ranks need the plain step's memory and two blocks of gradients") {
  std::int64_t const plain = step<>::memory.arena, ranks = step<data_parallel<>>::memory.arena;
  CAPTURE(bytes, of_a_block, plain, ranks);
  CHECK(ranks <= plain + 2 * of_a_block);
  // Where the norm of all has to be known before the first update, they all exist, on one rank as on many.
  std::int64_t const clipped = step<clip_gradient>::memory.arena, clipped_ranks = step<data_parallel<>, clip_gradient>::memory.arena;
  CAPTURE(clipped, clipped_ranks);
  CHECK(clipped >= bytes);
  CHECK(clipped_ranks <= clipped + 2 * of_a_block);
}

// Bytes of parameters, gradients and states: 4, 4 and 8 each, of which stages 1, 2 and 3 divide the last, the last two, and all (arXiv 1910.02054, figure 1).
TEST_CASE("what a rank keeps follows ZeRO's formula") {
  constexpr int ranks = 4;
  // Biases, which all ranks keep, are a half of a hundredth of a matrix' bytes here.
  auto const near = [](std::int64_t planned, std::int64_t formula) {
    CAPTURE(planned, formula);
    CHECK(static_cast<double>(planned) <= 1.02 * static_cast<double>(formula));
    CHECK(planned >= formula * 98 / 100);
  };
  constexpr exec::memory_use whole = step<data_parallel<ranks>, clip_gradient>::memory;
  constexpr exec::memory_use states = step<data_parallel<ranks>, zero<1>, clip_gradient>::memory;
  constexpr exec::memory_use gradients = step<data_parallel<ranks>, zero<2>, clip_gradient>::memory;
  constexpr exec::memory_use parameters = step<data_parallel<ranks>, zero<3>, clip_gradient>::memory;
  near(whole.parameters + whole.optimizer, 3 * bytes);
  near(states.parameters + states.optimizer, bytes + 2 * bytes / ranks);
  near(parameters.parameters + parameters.optimizer, 3 * bytes / ranks);
  CHECK(gradients.parameters + gradients.optimizer == states.parameters + states.optimizer);

  // What is not clipped is used up where it is made, in each stage.
  constexpr std::int64_t plain = step<>::memory.arena;
  CHECK(step<data_parallel<ranks>, zero<1>>::memory.arena <= plain + 2 * of_a_block);
  CHECK(step<data_parallel<ranks>, zero<2>>::memory.arena <= plain + 2 * of_a_block);
  CHECK(step<data_parallel<ranks>, zero<3>>::memory.arena <= plain + 2 * of_a_block);
  // What is: whole, of stage 1; a rank's rows of it, and of parameters while they are updated, of stage 2; its rows of it alone of stage 3.
  CHECK(states.arena <= whole.arena);
  CHECK(gradients.arena <= plain + 2 * bytes / ranks + 2 * of_a_block);
  CHECK(parameters.arena <= plain + bytes / ranks + 4 * of_a_block);
  CAPTURE(plain, whole.arena, states.arena, gradients.arena, parameters.arena);
  CHECK(parameters.peak < gradients.peak);
  CHECK(gradients.peak < states.peak);
  CHECK(states.peak < whole.peak);
}
