// Ranks over connections: as threads of the test, or as processes that may be killed.
#pragma once

#include "../dist/within.hpp"

#include <tx/dist/net/ranks.hpp>
#include <tx/dist/net/sockets.hpp>

#include <catch2/catch.hpp>

#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace net {

using all = tx::dist::ranks<tx::dist::sockets>;

// One that nobody listens on; of this machine alone.
inline int free_port() {
  tx::dist::detail::socket_address at = tx::dist::detail::looked_up({.port = 1});
  auto const s = tx::dist::detail::listening(at, "127.0.0.1", 0);
  ::getsockname(s.number(), at.generic(), &at.length);
  return at.port();
}

inline tx::dist::place place_of(int rank, int size, int port) { return {.rank = rank, .size = size, .port = port}; }

// f(all&) on each rank, in a thread of its own; what each threw, empty where nothing.
template <class F>
std::vector<std::string> errors_of(int size, F const& f, tx::dist::socket_options const& options = {}) {
  int const port = free_port();
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  within(std::chrono::seconds(60), [&] {
    std::vector<std::thread> threads;
    for (int r = 0; r < size; ++r)
      threads.emplace_back([&, r] {
        try {
          tx::dist::sockets connections(place_of(r, size, port), options);
          all here(connections);
          f(here);
        } catch (std::exception const& e) {
          errors[static_cast<std::size_t>(r)] = e.what();
        }
      });
    for (auto& t : threads) t.join();
  });
  return errors;
}
template <class F>
void run(int size, F const& f) {
  for (auto const& e : errors_of(size, f)) REQUIRE(e == "");
}

}  // namespace net
