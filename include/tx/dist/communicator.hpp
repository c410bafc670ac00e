// What carries values between the ranks of a distributed program. Every rank runs the same program, so all meet in the
// same order. A communicator is one rank's end; it belongs to one thread.
//
//   rank(), size()        which rank this is, of how many
//   all_reduce(from, to)  `to` becomes the sum of all ranks' `from`, added in the order of tree_sum.hpp: bit for bit
//                         the same on every rank and every time. `from` may be `to`.
//   reduce_scatter(from, to)  the same of parts as long as `to`, of which each rank gets its own; `to` may be that part of `from`.
//                         There are size() parts, the last ones shorter or of nothing: a rank has zeros in place of what its part lacks
//   all_gather(from, to)  the ranks' `from`, one behind the other, as far as `to` reaches; `from` may be this rank's part of `to`
//   all_to_all(from, to)  part r of `from` goes to rank r, which has it as part rank(); they do not overlap
//   swap_with(from, to, other)  rank `other` has in `to` what this one has in `from`, and the other way round; the other ranks do not take part. They do not overlap
//   broadcast(x, root)    what rank `root` has, on all
//   barrier()             waits until all ranks are here
//   subset(those)         a communicator of some ranks alone, of which this is one, for as long as this one is there: all of those have to ask for it (core/rank_grid.hpp)
//
// One that goes on with collectives while its rank computes has two more:
//   begin(number, f)      f(communicator) is called by and by, in the order of what was begun; what it reads and writes stays as it is until
//   finish(number)        which waits for that. All else that is asked for meanwhile comes behind it
//   abandon()             perhaps: ends what was begun, as the run has failed
//
// They act on memory of the host, or of a device (device/device_ranks.hpp), whose communicator copies and clears there: copy_elements, clear_elements.
//
// When a rank fails, the others get a rank_error instead of waiting for ever; what they compute with stays usable, the
// communicator does not.
#pragma once

#include <tx/core/error.hpp>
#include <tx/core/portion.hpp>
#include <tx/core/rank_grid.hpp>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <span>
#include <string>

namespace tx::dist {

template <class C>
concept communicator = requires(C& c, std::span<float const> from, std::span<float> to) {
  { c.rank() } -> std::same_as<int>;
  { c.size() } -> std::same_as<int>;
  c.all_reduce(from, to);
  c.reduce_scatter(from, to);
  c.all_gather(from, to);
  c.all_to_all(from, to);
  c.swap_with(from, to, 0);
  c.broadcast(to, 0);
  c.barrier();
};

// Within a rank, in the memory that its communicator reaches. `from` may be `to`.
template <class C, class T>
void copy_elements(C& ranks, std::span<T const> from, std::span<T> to) {
  if constexpr (requires { ranks.copy(from, to); }) ranks.copy(from, to);
  else if (!to.empty() && from.data() != to.data()) std::memcpy(to.data(), from.data(), to.size_bytes());
}
template <class C, class T>
void clear_elements(C& ranks, std::span<T> to) {
  if constexpr (requires { ranks.clear(to); }) ranks.clear(to);
  else std::fill(to.begin(), to.end(), T{});
}

namespace detail {
// Throws where a subset has no such ranks, or this one is none of them.
inline void check_subset(rank_subset const& of, int rank, int size) {
  bool const right = of.count >= 1 && of.stride >= 1 && of.first >= 0 && of[of.count - 1] < size && of.has(rank);
  if (!right) throw value_error("subset: ranks " + std::to_string(of.first) + ", " + std::to_string(of.first + of.stride) + ", ..., " + std::to_string(of.count) + " of them, of " + std::to_string(size) + ": rank " + std::to_string(rank) + " is none of those, or some are not there. FIX: rank_grid::subset");
}
}  // namespace detail

// Another rank failed or left, or ranks asked for different things. Names the rank and its reason.
struct rank_error : error {
  using error::error;
};

}  // namespace tx::dist
