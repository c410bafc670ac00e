// What carries bytes between ranks: connections (sockets.hpp) or MPI (mpi.hpp). ranks.hpp makes collectives of it.
//
//   rank(), size()              which rank this is, of how many
//   send(to, bytes, s)          begins to send; what two ranks send each other arrives in the order in which it was sent
//   receive(from, bytes, s)     begins to receive exactly so many bytes
//   wait(t)                     until all that was begun up to the ticket t, which send and receive return, is done; memory must stay until then
//   fail(why)                   ends the group: every rank gets a rank_error that gives the reason
//
// Where a message is of another subject, or of other bytes, than its receiver waits for, the ranks run different programs: a rank_error.
#pragma once

#include <tx/dist/communicator.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tx::dist {

// What a message is a part of.
enum class asked : std::uint8_t { message, barrier, all_reduce, reduce_scatter, all_gather, broadcast, all_to_all, swap_with };

constexpr char const* name_of(asked what) {
  constexpr char const* names[] = {"a message", "barrier", "all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "swap_with"};
  auto const k = static_cast<std::size_t>(what);
  return k < std::size(names) ? names[k] : "something unknown";
}

// And of which: collectives are counted, as all ranks come to each of them.
struct subject {
  asked what = asked::message;
  std::uint16_t number = 0;

  constexpr std::uint32_t coded() const { return static_cast<std::uint32_t>(what) << 16 | number; }
  static constexpr subject of(std::uint32_t code) { return {static_cast<asked>(code >> 16 & 0xff), static_cast<std::uint16_t>(code)}; }
  constexpr bool operator==(subject const&) const = default;
};

using ticket = std::uint64_t;

template <class T>
concept transport = requires(T& t, std::span<std::byte const> out, std::span<std::byte> in, subject s, ticket until, std::string const& why) {
  { t.rank() } -> std::same_as<int>;
  { t.size() } -> std::same_as<int>;
  { t.send(0, out, s) } -> std::same_as<ticket>;
  { t.receive(0, in, s) } -> std::same_as<ticket>;
  t.wait(until);
  t.fail(why);
};

namespace detail {

inline std::string rank_named(int rank) { return "rank " + std::to_string(rank); }

// Of a message that is not the one that was waited for.
inline std::string unlike(int from, subject got, std::uint64_t bytes, subject wanted, std::uint64_t wanted_bytes) {
  auto const told = [](subject s, std::uint64_t n) { return std::string(name_of(s.what)) + (s.number != 0 ? " number " + std::to_string(s.number) : "") + " of " + std::to_string(n) + " bytes"; };
  return rank_named(from) + " brings " + told(got, bytes) + " where this rank waits for " + told(wanted, wanted_bytes) + ". FIX: run one program on all, with the same options";
}

}  // namespace detail

}  // namespace tx::dist
