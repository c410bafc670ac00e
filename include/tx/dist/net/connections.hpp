// Connections between all ranks: rank 0 listens where the place says, the others tell it where they listen, and each pair of ranks gets one connection.
#pragma once

#include <tx/dist/communicator.hpp>
#include <tx/dist/net/launch.hpp>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace tx::dist::detail {

class file_descriptor {
 public:
  explicit file_descriptor(int number = -1) : number_(number) {}
  file_descriptor(file_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~file_descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

using clock = std::chrono::steady_clock;

// Of IPv4 or IPv6; ranks tell each other addresses as these bytes.
struct socket_address {
  sockaddr_storage at{};
  socklen_t length = sizeof(sockaddr_storage);

  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&at); }
  void set_port(std::uint16_t port) {
    if (at.ss_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(&at)->sin6_port = htons(port);
    else reinterpret_cast<sockaddr_in*>(&at)->sin_port = htons(port);
  }
  bool is_of_this_machine() const {
    if (at.ss_family == AF_INET6) {
      auto const& a = reinterpret_cast<sockaddr_in6 const*>(&at)->sin6_addr;
      return IN6_IS_ADDR_LOOPBACK(&a) || (IN6_IS_ADDR_V4MAPPED(&a) && a.s6_addr[12] == 127);
    }
    return at.ss_family == AF_INET && ntohl(reinterpret_cast<sockaddr_in const*>(&at)->sin_addr.s_addr) >> 24 == 127;
  }
  bool operator==(socket_address const& o) const { return length == o.length && std::memcmp(&at, &o.at, length) == 0; }
  // Any address of the machine.
  socket_address any() const {
    socket_address out;
    out.at.ss_family = at.ss_family;
    out.length = length;
    return out;
  }
  std::uint16_t port() const {
    return ntohs(at.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 const*>(&at)->sin6_port : reinterpret_cast<sockaddr_in const*>(&at)->sin_port);
  }
};

[[noreturn]] inline void cannot(std::string const& what, int code) { throw rank_error("cannot " + what + ": " + std::strerror(code)); }

inline socket_address looked_up(place const& p) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (int const code = ::getaddrinfo(p.address.c_str(), std::to_string(p.port).c_str(), &wanted, &found); code != 0)
    throw rank_error("cannot find " + p.address + ", where rank 0 is to be: " + ::gai_strerror(code) + ". FIX: MASTER_ADDR");
  socket_address out;
  std::memcpy(&out.at, found->ai_addr, found->ai_addrlen);
  out.length = found->ai_addrlen;
  ::freeaddrinfo(found);
  return out;
}

inline file_descriptor new_socket(socket_address const& of) {
  file_descriptor s(::socket(of.at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (s.number() < 0) cannot("make a socket", errno);
  return s;
}

// On a port of this machine; 0: on a free one. Others reach it unless ranks meet where a machine is for itself alone: at 127.0.0.1, ::1 or localhost by that
// name, as a machine's own name may be one of those too, in its own list.
inline file_descriptor listening(socket_address const& meets, std::string const& address, std::uint16_t port) {
  bool const here_alone = meets.is_of_this_machine() && (address == "localhost" || address == "::1" || address.starts_with("127."));
  socket_address at = here_alone ? meets : meets.any();
  at.set_port(port);
  file_descriptor s = new_socket(at);
  int const on = 1;
  if (port != 0) ::setsockopt(s.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(s.number(), at.generic(), at.length) != 0 || ::listen(s.number(), 1024) != 0) {
    int const code = errno;
    if (code == EADDRINUSE) throw rank_error("port " + std::to_string(port) + ", where ranks are to meet, is in use. FIX: MASTER_PORT=another one");
    cannot("listen on port " + std::to_string(port), code);
  }
  return s;
}

inline int left_of(clock::time_point until) {
  auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
  return static_cast<int>(left > 0 ? (left < 1'000'000 ? left : 1'000'000) : 0);
}

// False when it does not come in time.
inline bool ready(int socket, short event, clock::time_point until) {
  pollfd p{socket, event, 0};
  for (;;) {
    int const n = ::poll(&p, 1, left_of(until));
    if (n > 0) return true;
    if (n == 0) return false;
    if (errno != EINTR) cannot("wait for a connection", errno);
  }
}

// Whole messages of a few bytes, before the connections belong to a transport. False where the other end is slow, or gone.
inline bool send_all(int socket, void const* bytes, std::size_t count) {
  auto const* at = static_cast<char const*>(bytes);
  while (count > 0) {
    auto const n = ::send(socket, at, count, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, count -= static_cast<std::size_t>(n);
  }
  return true;
}
inline bool receive_all(int socket, void* bytes, std::size_t count, clock::time_point until) {
  auto* at = static_cast<char*>(bytes);
  while (count > 0) {
    if (!ready(socket, POLLIN, until)) return false;
    auto const n = ::recv(socket, at, count, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, count -= static_cast<std::size_t>(n);
  }
  return true;
}

// The first words of each connection.
struct greeting {
  std::array<char, 8> magic{'t', 'x', ' ', 'r', 'a', 'n', 'k', '1'};
  std::int32_t rank = 0, size = 0;
  std::uint32_t port = 0;  // where it listens for those behind it

  bool is_one() const { return magic == greeting{}.magic; }
};

// Until somebody listens there: rank 0 may come later than the others.
inline file_descriptor connected(socket_address to, clock::time_point until, std::string const& whom) {
  for (;;) {
    file_descriptor s = new_socket(to);
    // Until it is there, or the time is over; on one machine a socket may get the port that it asks for itself, and speak to itself.
    int code = 0;
    ::fcntl(s.number(), F_SETFL, O_NONBLOCK);
    if (::connect(s.number(), to.generic(), to.length) != 0) code = errno;
    if (code == EINPROGRESS) {
      socklen_t length = sizeof code;
      if (ready(s.number(), POLLOUT, until)) ::getsockopt(s.number(), SOL_SOCKET, SO_ERROR, &code, &length);
      else code = ETIMEDOUT;
    }
    if (code == 0) {
      socket_address own, other;
      ::getsockname(s.number(), own.generic(), &own.length);
      ::getpeername(s.number(), other.generic(), &other.length);
      ::fcntl(s.number(), F_SETFL, 0);
      if (!(own == other)) return s;
      code = ECONNREFUSED;
    }
    if (code != ECONNREFUSED && code != ETIMEDOUT && code != EINTR && code != ECONNRESET) cannot("reach " + whom, code);
    if (left_of(until) == 0) throw rank_error(whom + " has not come. FIX: start all ranks, with one MASTER_ADDR and MASTER_PORT");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// One connection to each other rank, by its number. Throws rank_error, which names the ranks that are missing after `patience`.
inline std::vector<file_descriptor> connect_all(place const& p, std::chrono::milliseconds patience) {
  std::vector<file_descriptor> all(static_cast<std::size_t>(p.size));
  if (p.size == 1) return all;
  auto const until = clock::now() + patience;
  std::string const meeting = "rank 0 at " + p.address + " port " + std::to_string(p.port);
  socket_address const meets = looked_up(p);
  file_descriptor const here = listening(meets, p.address, p.rank == 0 ? meets.port() : std::uint16_t{0});
  socket_address own;
  ::getsockname(here.number(), own.generic(), &own.length);
  greeting const hello{.rank = p.rank, .size = p.size, .port = own.port()};

  // Accepts ranks first .. size() - 1, in any order; what does not greet is no rank.
  std::vector<socket_address> where(static_cast<std::size_t>(p.size));
  auto const accept_from = [&](int first) {
    for (int missing = p.size - first; missing > 0;) {
      if (left_of(until) == 0 || !ready(here.number(), POLLIN, until)) {
        std::string names;
        for (int r = first; r < p.size; ++r)
          if (all[static_cast<std::size_t>(r)].number() < 0) names += (names.empty() ? "" : ", ") + std::to_string(r);
        throw rank_error("after " + std::to_string(patience.count() / 1000) + " s rank " + names + " of " + std::to_string(p.size) + " has not come. FIX: start all ranks, with one MASTER_ADDR and MASTER_PORT");
      }
      socket_address from;
      file_descriptor s(::accept4(here.number(), from.generic(), &from.length, SOCK_CLOEXEC));
      if (int const code = errno; s.number() < 0 && (code == EMFILE || code == ENFILE || code == ENOMEM || code == ENOBUFS)) cannot("take the connection of another rank", code);
      greeting theirs{};
      if (s.number() < 0 || !receive_all(s.number(), &theirs, sizeof theirs, std::min(until, clock::now() + std::chrono::seconds(5))) || !theirs.is_one()) continue;
      if (theirs.size != p.size || theirs.rank < first || theirs.rank >= p.size)
        throw rank_error("rank " + std::to_string(theirs.rank) + " of " + std::to_string(theirs.size) + " has come to a group of " + std::to_string(p.size) + ". FIX: one WORLD_SIZE for all, and another MASTER_PORT for another job");
      auto const r = static_cast<std::size_t>(theirs.rank);
      if (all[r].number() >= 0) throw rank_error("rank " + std::to_string(theirs.rank) + " has come twice. FIX: a RANK of its own for each, and another MASTER_PORT for another job");
      bool const here_too = from.is_of_this_machine();  // which says nothing to ranks elsewhere: they know this rank's
      where[r] = from;
      where[r].set_port(static_cast<std::uint16_t>(theirs.port));
      if (here_too) where[r].length = 0;
      all[r] = std::move(s);
      --missing;
    }
  };

  if (p.rank == 0) {
    accept_from(1);
    for (int r = 1; r < p.size; ++r)
      if (!send_all(all[static_cast<std::size_t>(r)].number(), where.data(), where.size() * sizeof(socket_address))) throw rank_error("rank " + std::to_string(r) + " has left before all had come");
  } else {
    all[0] = connected(meets, until, meeting);
    if (!send_all(all[0].number(), &hello, sizeof hello) || !receive_all(all[0].number(), where.data(), where.size() * sizeof(socket_address), until))
      throw rank_error(meeting + " has left, or not all ranks have come after " + std::to_string(patience.count() / 1000) + " s. FIX: what rank 0 says");
    for (int r = 1; r < p.rank; ++r) {
      socket_address to = where[static_cast<std::size_t>(r)];
      if (to.length == 0) {
        auto const port = to.port();
        to = meets;
        to.set_port(port);
      }
      auto& s = all[static_cast<std::size_t>(r)] = connected(to, until, "rank " + std::to_string(r));
      if (!send_all(s.number(), &hello, sizeof hello)) throw rank_error("rank " + std::to_string(r) + " has left before all had come");
    }
    if (p.rank + 1 < p.size) accept_from(p.rank + 1);
  }
  // None goes on until all have all their connections: who is still looking for another says nothing to the others.
  char word = 0;
  auto const hear_from = [&](int r) {
    if (!receive_all(all[static_cast<std::size_t>(r)].number(), &word, 1, until))
      throw rank_error("rank " + std::to_string(r) + " cannot reach all others, or has left before all had come. FIX: what it says, and connections between all machines");
  };
  auto const speak_to = [&](int r) { return send_all(all[static_cast<std::size_t>(r)].number(), &word, 1); };
  if (p.rank == 0) {
    for (int r = 1; r < p.size; ++r) hear_from(r);
    for (int r = 1; r < p.size; ++r) speak_to(r);
  } else {
    speak_to(0);
    hear_from(0);
  }
  int const on = 1;
  for (auto const& s : all)
    if (s.number() >= 0) ::setsockopt(s.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return all;
}

}  // namespace tx::dist::detail
