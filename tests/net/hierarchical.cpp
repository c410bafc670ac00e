// Sums in two levels: the bits of sums in one, and fewer bytes between machines.
#include "group.hpp"
#include "parts.hpp"

#include <tx/dist/hierarchical.hpp>
#include <tx/dist/single.hpp>

#include <atomic>
#include <cstring>
#include <utility>

using namespace tx::dist;

namespace {

// Connections that count the bytes which leave a machine of so many ranks.
class counted {
 public:
  counted(sockets& over, int of_machine, std::atomic<std::size_t>& left) : over_(over), of_machine_(of_machine), left_(left) {}

  int rank() const { return over_.rank(); }
  int size() const { return over_.size(); }
  ticket send(int to, std::span<std::byte const> bytes, subject s) {
    if (to / of_machine_ != rank() / of_machine_) left_ += bytes.size();
    return over_.send(to, bytes, s);
  }
  ticket receive(int from, std::span<std::byte> bytes, subject s) { return over_.receive(from, bytes, s); }
  void wait(ticket until) { over_.wait(until); }
  void fail(std::string const& why) { over_.fail(why); }

 private:
  sockets& over_;
  int of_machine_;
  std::atomic<std::size_t>& left_;
};

struct sums {
  std::size_t wrong = 0;
  std::size_t left = 0;  // bytes, of all ranks
};
template <class T>
sums sums_of(int all_ranks, int of_machine, std::size_t count, bool two_levels, bool in_place) {
  std::atomic<std::size_t> wrong = 0, left = 0;
  net::run(all_ranks, [&](net::all& connections) {
    counted over(connections.over(), of_machine, left);
    ranks<counted> flat(over);
    hierarchical<ranks<counted>> machines(flat, two_levels ? of_machine : 1);
    std::vector<T> const from = part<T>(flat.rank(), count);
    std::vector<T> to = in_place ? from : std::vector<T>(count);
    machines.all_reduce(std::span<T const>(in_place ? to : from), std::span<T>(to));
    for (std::size_t i = 0; i < count; ++i) {
      T const wanted = tree<T>(all_ranks, i);
      wrong += std::memcmp(&to[i], &wanted, sizeof wanted) != 0;
    }
  });
  return {wrong, left};
}

}  // namespace

TEST_CASE("sums in two levels have the bits of sums in one") {
  auto const [all_ranks, of_machine] = GENERATE(std::pair(4, 2), std::pair(6, 2), std::pair(8, 4), std::pair(4, 4), std::pair(3, 1));
  bool const in_place = GENERATE(false, true);
  CAPTURE(all_ranks, of_machine, in_place);
  for (std::size_t const count : {std::size_t{0}, std::size_t{7}, std::size_t{40'003}}) {
    CAPTURE(count);
    CHECK(sums_of<float>(all_ranks, of_machine, count, true, in_place).wrong == 0);
    CHECK(sums_of<double>(all_ranks, of_machine, count, true, in_place).wrong == 0);
    CHECK(sums_of<tx::bf16>(all_ranks, of_machine, count, true, in_place).wrong == 0);
  }
}

TEST_CASE("of sums in two levels an n-th of the bytes leaves a machine of n ranks") {
  constexpr std::size_t count = 40'000, bytes = count * sizeof(float);
  // Of R ranks each sends 2 (R - n) / R of the bytes to other machines, or of M machines 2 (M - 1) / M of an n-th.
  CHECK(sums_of<float>(4, 2, count, false, false).left == 4 * bytes);
  CHECK(sums_of<float>(4, 2, count, true, false).left == 4 * bytes / 2);
  CHECK(sums_of<float>(8, 4, count, true, false).left == 8 * bytes / 4);
}

TEST_CASE("machines with unlike numbers of ranks, or a number that is no subtree, are refused") {
  single alone;
  CHECK_THROWS_WITH(hierarchical(alone, 2), Catch::Contains("hierarchical: 2 of 1 ranks on each machine"));
  CHECK_THROWS_WITH(hierarchical(alone, 0), Catch::Contains("0 of 1 ranks"));
  auto const errors = net::errors_of(3, [](net::all& all) { hierarchical machines(all, 3); });
  for (auto const& e : errors) CHECK_THAT(e, Catch::Contains("3 of 3 ranks on each machine. FIX: 1, 2, 4, ... on each"));
}
