// uniform(like): numbers in [0, 1) that depend on (seed, step, stream, iteration, row, column) only: the same on every backend,
// tile and rank, in forward and backward. [...] -> f32 [...]. Where all that is read of them is a part (passes/narrow.hpp), that part alone is drawn, and its rows are counted
// from its first one: so an output that reads more than the model did changes what the model draws. The formula: core/philox.hpp; how rows are counted over parts, shards and ranks: run/frame.hpp.
#pragma once

#include <tx/ops/lift.hpp>

namespace tx {

// The stream is a number that the op gets when it is recorded, and that every pass keeps; the shard is the part of a rank's batch that it draws for. Rows are
// counted over all shards of all ranks, as in a tensor that has them one after the other. Each shard counts for as many rows as are planned for, whatever a
// run has: of [8, S <= 512] on two ranks the second one's rows begin at 8 * 512.
// Where ranks divide an axis, of each so many neighbouring rows of all this rank draws its own (core/random_rows.hpp).
constexpr attributes of_random(int stream, int shard = 0, int own_rows = 0, int all_rows = 0) { return {{stream, shard, own_rows, all_rows}}; }
constexpr int random_own_rows(attributes const& at) { return static_cast<int>(at.v[2]); }
constexpr int random_all_rows(attributes const& at) { return static_cast<int>(at.v[3]); }
constexpr int random_stream(attributes const& at) { return static_cast<int>(at.v[0]); }
constexpr int random_shard(attributes const& at) { return static_cast<int>(at.v[1]); }
inline constexpr op_info random_info{
    .name = "uniform", .kind = op_kind::index, .arity = 0, .infer = detail::leaf_infer, .random = true, .differentiable = false};

constexpr var uniform(graph& g, shape dims, int stream) {
  constexpr int most = 1 << 16;  // of both, in one number of 32 bits
  if (stream >= most || g.runs_of(g.current) > most)
    throw invalid("uniform, dropout: more than 65,536 of them in a program, or iterations of a body that draws. FIX: fewer iterations, or random numbers as an argument");
  return emit_leaf(g, random_info, {dtype::f32, dims}, of_random(stream));
}

namespace detail {
struct uniform_fn {
  constexpr var operator()(var like) const { return uniform(*like.g, like.dims(), like.g->random_streams++); }
};
}  // namespace detail

template <handle X>
constexpr auto uniform(X const& like) {
  return lift<detail::uniform_fn>(like);
}

}  // namespace tx
