// Ranks that have a device each: collectives on its memory, as the interpreter runs device code.
#include "../net/unequal_parts.hpp"
#include "devices.hpp"

#include <tx/dist/distributed.hpp>
#include <tx/dist/hierarchical.hpp>

using namespace divided;

namespace {

template <class T, class Ranks>
std::size_t wrong_sums(Ranks& all, std::size_t count) {
  std::vector<T> x = part<T>(all.rank(), count), y(count);
  all.all_reduce(std::span<T const>(x), std::span(y));
  all.all_reduce(std::span<T const>(x), std::span(x));  // in place
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    T const sum = tree<T>(all.size(), i);
    wrong += std::memcmp(&x[i], &sum, sizeof sum) != 0;
    wrong += std::memcmp(&y[i], &sum, sizeof sum) != 0;
  }
  return wrong;
}

// Nothing that is started there ever ends.
struct endless_device : interpreter::host_device {
  static bool done() { return false; }
};
struct endless : interpreted {
  using device = endless_device;
};

}  // namespace

TEST_CASE("sums on one to seven devices have the bits of the tree, at once and in pieces") {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    CAPTURE(ranks);
    auto const wrong = on_devices(ranks, little, [](auto& all) {
      std::size_t n = 0;
      for (std::size_t const count : {std::size_t{0}, std::size_t{1}, std::size_t{30}, std::size_t{3000}}) n += wrong_sums<float>(all, count);
      return n + wrong_sums<double>(all, 9001) + wrong_sums<bf16>(all, 20'011) + wrong_sums<f16>(all, 20'011) + wrong_sums<float>(all, 40'013);
    });
    CHECK(wrong == std::vector<std::size_t>(static_cast<std::size_t>(ranks)));
  }
}

TEST_CASE("parts on devices may be unequal, and of nothing") {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    CAPTURE(ranks);
    auto const wrong = on_devices(ranks, {.room = 5 * 8 * 1024}, [](auto& all) {
      auto const n = static_cast<std::size_t>(all.size());
      return wrong_in_unequal_parts<float>(all, 10, 10 / n + 1) + wrong_in_unequal_parts<bf16>(all, 3, 1 + 2 / n) + wrong_in_unequal_parts<double>(all, 7000, 7000 / n + 5) +
             wrong_in_unequal_parts<float>(all, 600 * n, 600);
    });
    CHECK(wrong == std::vector<std::size_t>(static_cast<std::size_t>(ranks)));
  }
}

TEST_CASE("all_to_all, swaps of neighbours, broadcast and barrier on devices") {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    CAPTURE(ranks);
    auto const wrong = on_devices(ranks, {}, [](auto& all) {
      int const n = all.size(), r = all.rank();
      std::vector<float> from, to(static_cast<std::size_t>(3 * n));
      for (int i = 0; i < 3 * n; ++i) from.push_back(static_cast<float>(100 * r + i));
      all.all_to_all(std::span<float const>(from), std::span(to));
      int bad = 0;
      for (int i = 0; i < 3 * n; ++i) bad += to[static_cast<std::size_t>(i)] != static_cast<float>(100 * (i / 3) + 3 * r + i % 3);
      if (int const other = r ^ 1; other < n) {
        std::vector<float> const here(7, static_cast<float>(r));
        std::vector<float> there(7);
        all.swap_with(std::span<float const>(here), std::span(there), other);
        for (float const v : there) bad += v != static_cast<float>(other);
      }
      std::vector<double> x(5, r);
      all.broadcast(std::span(x), n - 1);
      all.barrier();
      for (double const v : x) bad += v != n - 1;
      return bad;
    });
    CHECK(wrong == std::vector<int>(static_cast<std::size_t>(ranks)));
  }
}

TEST_CASE("the library's own sums are asked for by name") {
  auto const sums = on_devices(5, {.sums = dist::sum_order::of_library}, [](auto& all) {
    std::vector<float> x = part<float>(all.rank(), 1000);
    std::vector<float> own(200);
    all.reduce_scatter(std::span<float const>(x), std::span(own));
    all.all_reduce(std::span<float const>(x), std::span(x));
    x.insert(x.end(), own.begin(), own.end());
    return x;
  });
  std::size_t unlike = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(sums[0][i] == Approx(tree<float>(5, i)).epsilon(1e-5).margin(1e-2));
    unlike += sums[0][i] != tree<float>(5, i);
  }
  CHECK(unlike > 0);
  for (std::size_t r = 0; r < 5; ++r)
    for (std::size_t i = 0; i < 1000; ++i) {
      CHECK(sums[r][i] == sums[0][i]);
      if (i < 200) CHECK(sums[r][1000 + i] == sums[0][r * 200 + i]);
    }
}

TEST_CASE("devices of two machines add up in two levels, to the same bits") {
  auto const wrong = on_devices(4, little, [](auto& all) {
    dist::hierarchical machines(all, 2);
    static_assert(std::is_same_v<typename decltype(machines)::backend, interpreted>);
    std::size_t n = wrong_sums<float>(machines, 30) + wrong_sums<float>(machines, 40'013) + wrong_sums<double>(machines, 9001) + wrong_sums<bf16>(machines, 20'011);
    machines.await();
    return n;
  });
  CHECK(wrong == std::vector<std::size_t>(4));
}

TEST_CASE("a run that does not end is given up, on all ranks, and named") {
  auto const said = on_ranks(2, [](dist::local& host) {
    devices<endless> all(host, {.patience = 200ms});
    std::vector<std::string> reasons;
    for (int turn = 0; turn < 2; ++turn) {
      try {
        all.await();
      } catch (dist::rank_error const& e) {
        reasons.emplace_back(e.what());
      }
    }
    host.barrier();
    return reasons;
  });
  for (int r = 0; r < 2; ++r) {
    REQUIRE(said[static_cast<std::size_t>(r)].size() == 2);
    CHECK(said[static_cast<std::size_t>(r)][0].find("a run on rank " + std::to_string(r) + ": ") == 0);
    CHECK(said[static_cast<std::size_t>(r)][1].find("a rank has given up") != std::string::npos);
  }
  bool const waited = said[0][0].find("it has not ended within 0 s") != std::string::npos || said[1][0].find("it has not ended within 0 s") != std::string::npos;
  CHECK(waited);
}

TEST_CASE("wrong lengths and too little room for other ranks' parts are errors with names") {
  auto const said = on_ranks(2, [](dist::local& host) {
    std::vector<std::string> errors;
    auto const tried = [&](auto const& f) {
      try {
        f();
        errors.emplace_back("nothing");
      } catch (error const& e) {
        errors.emplace_back(e.what());
      }
    };
    tried([&] { devices<interpreted>(host, {.room = 100}); });
    devices<interpreted> all(host);
    std::vector<float> three(3), two(2);
    tried([&] { all.all_reduce(std::span<float const>(three), std::span(two)); });
    tried([&] { all.all_to_all(std::span<float const>(three), std::span(three)); });
    tried([&] { all.broadcast(std::span(three), 2); });
    host.barrier();
    return errors;
  });
  for (int r = 0; r < 2; ++r) {
    std::string const here = " on rank " + std::to_string(r) + ": ";
    CHECK(said[static_cast<std::size_t>(r)] == std::vector<std::string>{"device_ranks: room for 100 bytes. FIX: 8,192 for each rank, or more", "all_reduce" + here + "from and to differ in length",
                                                                        "all_to_all" + here + "from and to have to be of one length, a multiple of size()", "broadcast" + here + "there is no such root"});
  }
}

TEST_CASE("a run ends on all ranks where one of a part of a grid is gone, which that part alone is told") {
  using ranks = devices<endless>;
  using backend = distributed<endless, ranks>;
  auto const said = on_ranks(4, [](dist::local& host) -> std::string {
    ranks all(host, {.room = 64 << 10});  // patient for half an hour
    backend::frame frame;
    frame.ranks = {all, {.ranks = 4, .products = 2, .stages = 1}};
    backend::replay runs;
    try {
      host.barrier();
      runs(frame, [&] {
        if (all.rank() == 3) frame.ranks.across(across::products).give_up();  // with rank 2
      });
    } catch (dist::rank_error const& e) {
      return e.what();
    }
    return "";
  });
  for (std::string const& s : said) CHECK_THAT(s, Catch::Contains("a rank has given up"));
}
