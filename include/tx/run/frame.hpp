// What a kernel is given at run time besides its call: where operands are (addresses: at(), offset_of(), row_offset()), in which iteration and band, and which
// rows of the whole batch random numbers are drawn for (random_row()).
#pragma once

#include <tx/core/alignment.hpp>
#include <tx/core/philox.hpp>
#include <tx/core/portion.hpp>
#include <tx/core/random_rows.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/run/extents.hpp>

#include <span>
#include <vector>

namespace tx::exec {

class observer;

// Bytes of the run-time scalars, behind which in a memory of the backend's own the step lies, and behind it the counters (target::counter_words).
inline constexpr std::int64_t scalar_bytes = aligned(scalar_count * std::int64_t{sizeof(float)});
inline constexpr std::int64_t scalars_and_step = scalar_bytes + std::int64_t{sizeof(std::uint32_t)};

// Where a run is in its loops.
struct loop_position {
  std::int64_t index[max_loops] = {};  // the iteration of each loop around, outermost first: operands move with them
  std::int64_t iteration = 0;          // the innermost one's, counted on through those around
  std::int64_t part = 0;               // of a batch
  std::int64_t band_first = 0;         // of a band of matrices: the first, and how many; 0: all there are
  std::int64_t band_count = 0;
};

struct frame : loop_position {
  std::byte* base[bases] = {};   // arguments are only read
  philox_key key{};              // from the seed
  std::uint32_t step = 0;        // counts runs: part of every random stream. 0 on a device, whose kernels read it from memory: step_in_memory()
  int threads = 1;
  run_extents extents{};
  std::vector<operand_ref> operands_now{};  // of the call at hand, where its numbers vary
  std::int64_t shard = 0;        // of the whole batch: the first that this rank has
  std::int64_t stage = 0, product = 0;  // of the batch's work: the numbers of what this rank has (core/rank_grid.hpp)
  std::span<observer* const> observers{};  // who is told of each kernel; see observer.hpp
  bool observed = false;                   // are there any?

  template <class T>
  T* at(operand_ref const& r) const {
    return reinterpret_cast<T*>(base[r.base] + offset_of(r));
  }
  std::int64_t offset_of(operand_ref const& r) const {
    std::int64_t at = r.offset - r.matrix * band_first;
    for (int k = 0; k < max_loops; ++k) at += r.step[k] * index[k];
    if (r.next.loop >= 0) at += r.step[r.next.loop] * r.next.from(index[r.next.loop]);
    return at;
  }
  std::uint32_t const* step_in_memory() const { return reinterpret_cast<std::uint32_t const*>(base[base_scalars] + scalar_bytes); }
  std::uint32_t* counters() const { return reinterpret_cast<std::uint32_t*>(base[base_scalars] + scalars_and_step); }
  std::byte* scratch(call const& c) const { return base[base_arena] + c.scratch; }
  // The random stream of an op: its number, the step and the iteration it is drawn in, of those of all ranks; parts do not count.
  philox_stream stream(operand_ref const& r) const {
    std::int64_t const within = (r.random.in_parts ? iteration % r.random.runs_in_part : iteration) + stage * r.random.runs_in_portion;
    return {static_cast<std::uint32_t>(r.random.stream) + (static_cast<std::uint32_t>(within) << 16), step};
  }
  // The rows of a random operand among those of all parts of all shards of all ranks.
  random_rows rows_drawn(operand_ref const& r) const {
    std::int64_t const before = (shard + r.random.shard) * r.random.parts * r.random.planned_rows + (r.random.in_parts ? part : 0) * r.random.rows;
    return {static_cast<std::uint64_t>(before + product * r.random.own), static_cast<std::uint32_t>(r.random.own), static_cast<std::uint32_t>(r.random.all)};
  }
  std::uint64_t random_row(operand_ref const& r, std::int64_t row) const { return rows_drawn(r)(row); }
  // Of a call whose numbers are those of the run: matrices of a product, in a band.
  std::int64_t matrices(call const& c) const { return band_count > 0 ? band_count : c.batch; }
  // The rows of those matrices among all.
  std::int64_t first_row(call const& c) const { return band_first * matrix_rows(c); }
  std::int64_t end_row(call const& c) const { return band_count > 0 ? (band_first + band_count) * matrix_rows(c) : c.rows; }
  std::int64_t matrix_rows(call const& c) const { return c.batch == 0 ? 0 : c.rows / c.batch; }
  // The shape of a `whole` kernel's operand.
  shape dims(operand_ref const& r) const {
    shape s{};
    s.rank = r.rank;
    for (int i = 0; i < r.rank; ++i) s.dim[i] = r.extent[i];
    return s;
  }
};

// Calls body with the frame in each iteration of a loop that this rank runs now, or at each band of its matrices.
template <class Frame, class Body>
void for_each_iteration(Frame& f, loop const& l, Body body) {
  if (l.band > 0) {
    loop now = l;
    resolve(now, f.extents);
    for (f.band_first = 0; f.band_first < now.matrices; f.band_first += now.band) {
      f.band_count = now.matrices - f.band_first < now.band ? now.matrices - f.band_first : now.band;
      body();
    }
    f.band_first = f.band_count = 0;
    return;
  }
  std::int64_t const around = f.iteration;
  auto const iterate = [&](std::int64_t index, std::int64_t part) {
    f.index[l.around] = index;
    f.iteration = around * l.iterations + index;
    if (l.parts) f.part = part;
    body();
  };
  if (l.turn) {
    std::int64_t const number = l.turn.number(f.index[l.around - 1], f.stage);
    if (number >= 0) iterate(number % l.iterations, number);
  } else {
    std::int64_t const own = l.of_ranks == 0 ? l.iterations : portion_of(l.of_ranks, l.iterations, static_cast<int>(f.stage)).count;
    for (std::int64_t i = 0; i < own; ++i) {
      std::int64_t const index = l.reversed ? own - 1 - i : i;
      iterate(index, index);
    }
  }
  f.index[l.around] = 0;
  f.iteration = around;
}

// One of several calls of a kernel that are started together.
struct started_call {
  call const* of;
  operand_ref const* operands;
};

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

// What carries values of the host's memory between the ranks: a communicator of a device's memory has one beside it.
template <class Communicator>
auto& host_end(Communicator& ranks) {
  if constexpr (requires { ranks.host(); }) return ranks.host();
  else return ranks;
}

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
