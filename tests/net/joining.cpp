// How ranks find each other, and what they are told by launchers.
#include "group.hpp"

#include <cstdlib>

using namespace std::chrono_literals;
using tx::dist::launched;

namespace {

// Variables of the environment, for as long as it lives; all that launchers set are gone before.
class environment {
 public:
  explicit environment(std::initializer_list<std::pair<char const*, char const*>> set) {
    for (char const* const name : names) ::unsetenv(name);
    for (auto const& [name, value] : set) ::setenv(name, value, 1);
  }
  environment(environment const&) = delete;
  ~environment() {
    for (char const* const name : names) ::unsetenv(name);
  }

 private:
  static constexpr char const* names[] = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                          "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "PMI_RANK", "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
                                          "SLURM_NTASKS_PER_NODE", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_NODES"};
};

std::string failure_of(tx::dist::place const& p, tx::dist::socket_options const& o) {
  try {
    tx::dist::sockets s(p, o);
  } catch (std::exception const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a process by itself is one rank of one") {
  environment const none({});
  auto const p = launched();
  CHECK(p.rank == 0);
  CHECK(p.size == 1);
  tx::dist::sockets alone(p);
  net::all all(alone);
  std::vector<float> x{1, 2};
  all.all_reduce(std::span<float const>(x), std::span(x));
  all.broadcast(std::span(x), 0);
  all.barrier();
  CHECK(x == std::vector<float>{1, 2});
}

TEST_CASE("launchers tell rank and place") {
  {
    environment const torchrun({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "4000"}});
    auto const p = launched();
    CHECK(p.rank == 5);
    CHECK(p.size == 8);
    CHECK(p.local_rank == 1);
    CHECK(p.address == "10.0.0.1");
    CHECK(p.port == 4000);
  }
  {
    environment const mpirun({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, {"PMIX_NAMESPACE", "123"}});
    auto const p = launched();
    CHECK(p.rank == 1);
    CHECK(p.size == 2);
    CHECK(p.local_rank == 1);
    CHECK(p.address == "127.0.0.1");
    CHECK(p.port >= 20'000);
    ::setenv("PMIX_NAMESPACE", "124", 1);
    CHECK(launched().port != p.port);  // another job on this machine
  }
  {
    environment const slurm({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_ID", "0"}, {"MASTER_ADDR", "node1"}, {"SLURM_JOB_ID", "9"}});
    auto const p = launched();
    CHECK(p.size == 2);
    CHECK(p.address == "node1");
    ::unsetenv("SLURM_STEP_ID");
    CHECK(launched().size == 1);  // a batch script, which nobody launched as one of several
  }
}

TEST_CASE("variables that are no places are refused") {
  auto const refused = [](std::initializer_list<std::pair<char const*, char const*>> set, char const* what) {
    environment const e(set);
    CHECK_THROWS_WITH(launched(), Catch::Contains(what) && Catch::Contains("FIX: "));
  };
  refused({{"RANK", "one"}, {"WORLD_SIZE", "2"}}, "RANK is 'one'");
  refused({{"RANK", "2"}, {"WORLD_SIZE", "2"}}, "RANK is 2 of 2 ranks");
  refused({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "70000"}}, "MASTER_PORT is 70000");
  refused({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_NODES", "2"}}, "ranks are on 2 machines. FIX: MASTER_ADDR");
  refused({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}, "2 of 4 ranks are on this machine. FIX: MASTER_ADDR");
}

TEST_CASE("a rank that does not come is named, and how long it was waited for") {
  int const port = net::free_port();
  std::string first;
  std::thread other([&] { first = failure_of(net::place_of(0, 3, port), {.joining = 1s}); });
  std::string const second = failure_of(net::place_of(1, 3, port), {.joining = 4s});
  other.join();
  CHECK_THAT(first, Catch::Contains("after 1 s rank 2 of 3 has not come. FIX: start all ranks"));
  CHECK_THAT(second, Catch::Contains("rank 0 at 127.0.0.1 port") && Catch::Contains("has left, or not all ranks have come"));
  CHECK_THAT(failure_of(net::place_of(1, 2, net::free_port()), {.joining = 200ms}), Catch::Contains("rank 0 at 127.0.0.1") && Catch::Contains("has not come. FIX: "));
}

TEST_CASE("a port that is in use, an address that is none, and strangers") {
  tx::dist::detail::socket_address at = tx::dist::detail::looked_up({.port = 1});
  auto const taken = tx::dist::detail::listening(at, "127.0.0.1", 0);
  ::getsockname(taken.number(), at.generic(), &at.length);
  CHECK_THAT(failure_of(net::place_of(0, 2, at.port()), {.joining = 1s}), Catch::Contains("port " + std::to_string(at.port())) && Catch::Contains("is in use. FIX: MASTER_PORT"));
  CHECK_THAT(failure_of({.rank = 1, .size = 2, .address = "no.such.host.invalid"}, {.joining = 1s}), Catch::Contains("cannot find no.such.host.invalid"));

  // Who says something else is passed over, and a rank of another job refused.
  int const port = net::free_port();
  std::string first;
  std::thread zero([&] { first = failure_of(net::place_of(0, 2, port), {.joining = 5s}); });
  tx::dist::detail::socket_address const meets = tx::dist::detail::looked_up({.port = port});
  {
    auto const stranger = tx::dist::detail::connected(meets, tx::dist::detail::clock::now() + 2s, "rank 0");
    tx::dist::detail::send_all(stranger.number(), "GET / HTTP/1.1\r\n\r\n and so on", 30);
  }
  std::string const second = failure_of(net::place_of(2, 3, port), {.joining = 2s});
  zero.join();
  CHECK_THAT(first, Catch::Contains("rank 2 of 3 has come to a group of 2. FIX: one WORLD_SIZE"));
  CHECK(second != "");
}
