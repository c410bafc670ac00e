// What a kernel is given at run time besides its call.
#pragma once

#include <tx/core/philox.hpp>
#include <tx/plan/plan.hpp>

#include <span>

namespace tx::exec {

class observer;

// Where a run is in its loops.
struct loop_position {
  std::int64_t index[max_loops] = {};  // the iteration of each loop around, outermost first: operands move with them
  std::int64_t iteration = 0;          // the innermost one's, counted on through those around
  std::int64_t band_first = 0;         // of a band of matrices: the first, and how many; 0: all there are
  std::int64_t band_count = 0;
};

struct frame : loop_position {
  std::byte* base[bases] = {};   // arguments are only read
  philox_key key{};              // from the seed
  std::uint32_t step = 0;        // counts runs: part of every random stream
  int threads = 1;
  int extent[max_tags + 1] = {};  // of each dyn tag; -1: not given yet
  std::int64_t shard = 0;        // of the whole batch: the first that this rank has
  std::span<observer* const> observers{};  // who is told of each kernel; see observer.hpp
  bool observed = false;                   // are there any?

  template <class T>
  T* at(operand_ref const& r) const {
    return reinterpret_cast<T*>(base[r.base] + offset_of(r));
  }
  std::int64_t offset_of(operand_ref const& r) const {
    std::int64_t at = r.offset - r.matrix * band_first;
    for (int k = 0; k < max_loops; ++k) at += r.step[k] * index[k];
    return at;
  }
  std::byte* scratch(call const& c) const { return base[base_arena] + c.scratch; }
  // The random stream of an op: its number, the step and the iteration it is drawn in, which parts do not count.
  philox_stream stream(operand_ref const& r) const {
    std::int64_t const within = r.random.part_loop < 0 ? iteration : iteration % r.random.runs_in_part;
    return {static_cast<std::uint32_t>(r.random.stream) + (static_cast<std::uint32_t>(within) << 16), step};
  }
  // The row of a random operand among those of all parts of all shards of all ranks.
  std::uint64_t random_row(operand_ref const& r, std::int64_t row) const {
    std::int64_t const part = r.random.part_loop < 0 ? 0 : index[r.random.part_loop];
    return static_cast<std::uint64_t>(((shard + r.random.shard) * r.random.parts + part) * r.random.rows + row);
  }
  std::int64_t rows(call const& c) const { return c.tag == 0 ? c.rows : c.rows / c.bound * extent[c.tag]; }
  std::int64_t depth(call const& c) const { return c.depth_tag == 0 ? c.depth : c.depth / c.depth_bound * extent[c.depth_tag]; }
  // Products: a bounded extent is that of the batch, or of the rows where there is one matrix.
  std::int64_t matrices(call const& c) const {
    if (band_count > 0) return band_count;
    return c.tag == 0 || c.batch == 1 ? c.batch : c.batch / c.bound * extent[c.tag];
  }
  // The rows of those matrices among all.
  std::int64_t first_row(call const& c) const { return band_first * matrix_rows(c); }
  std::int64_t end_row(call const& c) const { return band_count > 0 ? (band_first + band_count) * matrix_rows(c) : rows(c); }
  std::int64_t matrix_rows(call const& c) const { return c.batch == 1 ? rows(c) : c.rows / c.batch; }
  // The shape of a `whole` kernel's operand.
  shape dims(operand_ref const& r) const {
    shape s{};
    s.rank = r.rank;
    for (int i = 0; i < r.rank; ++i) s.dim[i] = r.extent[i];
    if (r.tag) s.dim[0] = s.dim[0] / r.tag.max * extent[r.tag.id];
    return s;
  }
};

// Calls body with the frame in each iteration of a loop, or at each band of its matrices.
template <class Frame, class Body>
void for_each_iteration(Frame& f, loop const& l, Body body) {
  if (l.band > 0) {
    std::int64_t const matrices = l.tag == 0 ? l.matrices : l.matrices / l.bound * f.extent[l.tag];
    for (f.band_first = 0; f.band_first < matrices; f.band_first += l.band) {
      f.band_count = matrices - f.band_first < l.band ? matrices - f.band_first : l.band;
      body();
    }
    f.band_first = f.band_count = 0;
    return;
  }
  std::int64_t const around = f.iteration;
  for (int i = 0; i < l.iterations; ++i) {
    f.index[l.around] = l.reversed ? l.iterations - 1 - i : i;
    f.iteration = around * l.iterations + f.index[l.around];
    body();
  }
  f.index[l.around] = 0;
  f.iteration = around;
}

// A backend of several ranks has its own, with the communicator.
template <class Backend>
concept ranked = requires { typename Backend::communicator; };
template <class Communicator, class Backend>
concept communicator_of = ranked<Backend> && std::is_same_v<Communicator, typename Backend::communicator>;
template <class Backend>
struct frame_type {
  using type = frame;
};
template <ranked Backend>
struct frame_type<Backend> {
  using type = typename Backend::frame;
};

// Elements between the start of an operand and its row number `row`.
constexpr std::int64_t row_offset(operand_ref const& r, std::int64_t row) {
  if (r.rank == 0) return 0;
  if (r.rank == 1) return row * r.stride[0];
  std::int64_t at = 0;
  for (int i = r.rank - 1; i > 0; --i) {
    at += row % r.extent[i] * r.stride[i];
    row /= r.extent[i];
  }
  return at + row * r.stride[0];
}

}  // namespace tx::exec
