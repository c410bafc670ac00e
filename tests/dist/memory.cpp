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
  CHECK(clipped_ranks <= clipped + 3 * of_a_block);
}
