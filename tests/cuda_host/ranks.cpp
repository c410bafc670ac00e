// Ranks that have a device each: collectives on its memory, and steps that hold them, as the interpreter runs device code.
#include "../dist/divided.hpp"
#include "../net/unequal_parts.hpp"
#include "between_threads.hpp"
#include "interpreter.hpp"

#include <tx/dist/device/device_ranks.hpp>
#include <tx/dist/tensor_parallel.hpp>
#include <tx/nn/multi_head_attention.hpp>
#include <tx/ops/gelu.hpp>

using namespace divided;

namespace {

template <class Backend>
using devices = dist::device_ranks<Backend, between_threads, dist::local>;

// f(this rank's end) on each of so many threads.
template <class F>
auto on_devices(int ranks, dist::device_ranks_options options, F const& f) {
  return on_ranks(ranks, [&](dist::local& host) {
    devices<interpreted> all(host, options);
    return f(all);
  });
}
// Room for eight pieces of what most tests here add up.
constexpr dist::device_ranks_options little{.room = 8 * 8 * 1024};

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

template <class Step>
auto trained_on_devices(int ranks) {
  return on_devices(ranks, little, [](auto& all) { return trained_by<Step, interpreted>(all); });
}

// Nothing that is started there ever ends.
struct endless_device : interpreter::host_device {
  static bool done() { return false; }
};
struct endless : interpreted {
  using device = endless_device;
};

struct small {
  param<tensor<float, width, 3>, init::normal<1, 2>> w;
  repeat<2, block<float>> body;
};
constexpr auto small_loss = [](small const& m, tensor<float, rows, width> x) {
  auto const y = matmul(m.body(x), m.w);
  return mean(y * y);
};
template <class... Options>
using small_step = train_step<small, small_loss, adamw, Options...>;

// Four heads of eight numbers, whose attention is a kernel where they are halves and products where they are not.
struct attending {
  nn::multi_head_attention<32, 4> attention;
  nn::linear<32, 48> in;
  nn::linear<48, 32> out;
};
constexpr auto attended = [](attending const& m, tensor<float, 2, 4, 32> x) {
  auto const y = x + m.attention(x);
  auto const z = y + m.out(gelu(m.in(y)));
  return mean(z * z);
};
template <class... Options>
using attending_step = train_step<attending, attended, adamw, Options...>;
// Losses of two steps, and then the parameters.
template <class Step>
auto attending_on(int ranks) {
  return on_devices(ranks, little, [](auto& all) {
    executor<Step, distributed<interpreted, std::remove_cvref_t<decltype(all)>>> run{seed(3), all};
    run.settings["learning_rate"] = 0.01f;
    run.settings.set("dropout", 0.3f);
    std::vector<float> x, told;
    for (int i = 0; i < 2 * 4 * 32; ++i) x.push_back(static_cast<float>((i * 7) % 13) / 13.0f - 0.4f);
    for (int s = 0; s < 2; ++s) told.push_back(run(x).loss);
    auto const parameters = run.read();
    told.insert(told.end(), parameters.begin(), parameters.end());
    return told;
  });
}
template <class... Options>
void check_attending(double epsilon, float apart) {
  auto const one = attending_on<attending_step<Options...>>(1)[0];
  auto const two = attending_on<attending_step<tensor_parallel<2>, Options...>>(2);
  CHECK(two[0] == two[1]);
  for (std::size_t k = 0; k < 2; ++k) CHECK(two[0][k] == Approx(one[k]).epsilon(epsilon));
  std::size_t far = 0;  // where a gradient is rounding alone, Adam's step is of any sign
  for (std::size_t i = 2; i < one.size(); ++i) far += !(std::abs(two[0][i] - one[i]) <= apart);
  CHECK(far * 50 <= one.size());
  CHECK(one[0] != one[1]);
}

}  // namespace

TEST_CASE("two devices that divide heads and layers train what one does, and drop the same numbers") {
  check_attending<>(1e-5, 1e-4f);
  check_attending<mixed<bf16>>(5e-3, 5e-3f);
}

TEST_CASE("sums on one to seven devices have the bits of the tree, at once and in pieces") {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    CAPTURE(ranks);
    auto const wrong = on_devices(ranks, little, [](auto& all) {
      std::size_t n = 0;
      for (std::size_t const count : {0, 1, 30, 3000}) n += wrong_sums<float>(all, count);
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

TEST_CASE("all_to_all, broadcast and barrier on devices") {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    CAPTURE(ranks);
    auto const wrong = on_devices(ranks, {}, [](auto& all) {
      int const n = all.size(), r = all.rank();
      std::vector<float> from, to(static_cast<std::size_t>(3 * n));
      for (int i = 0; i < 3 * n; ++i) from.push_back(static_cast<float>(100 * r + i));
      all.all_to_all(std::span<float const>(from), std::span(to));
      int bad = 0;
      for (int i = 0; i < 3 * n; ++i) bad += to[static_cast<std::size_t>(i)] != static_cast<float>(100 * (i / 3) + 3 * r + i % 3);
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

TEST_CASE("three devices train the bits of one with all shards, whatever they divide") {
  using one_step = small_step<virtual_shards<3>, clip_gradient, gradient_norm>;
  auto const one = trained_on_devices<one_step>(1)[0];
  CHECK(one.told.front() != one.told[2]);
  auto const check = [&](auto const& ranks, char const* what) { check_same<small>(ranks, one, what); };
  check(trained_on_devices<small_step<data_parallel<3>, clip_gradient, gradient_norm>>(3), "data_parallel");
  check(trained_on_devices<small_step<data_parallel<3>, zero<1>, clip_gradient, gradient_norm>>(3), "zero<1>");
  check(trained_on_devices<small_step<data_parallel<3>, zero<2>, clip_gradient, gradient_norm>>(3), "zero<2>");
  check(trained_on_devices<small_step<data_parallel<3>, zero<3>, clip_gradient, gradient_norm>>(3), "zero<3>");
}

TEST_CASE("eight devices, with parameters in portions") {
  auto const one = trained_on_devices<small_step<virtual_shards<8>>>(1)[0];
  check_same<small>(trained_on_devices<small_step<data_parallel<8>, zero<3>>>(8), one, "zero<3>");
}

TEST_CASE("what devices have in portions is written whole") {
  using step = small_step<data_parallel<3>, zero<3>>;
  auto const told = on_devices(3, little, [](auto& all) {
    executor<step, distributed<interpreted, std::remove_cvref_t<decltype(all)>>> run{seed(3), all};
    auto whole = run.read();
    for (auto& x : whole) x *= -2;  // what lies between tensors stays zero
    run.write(whole);
    return run.read() == whole && run.from_first(all.rank() + 5.0) == 5;
  });
  CHECK(told == std::vector<bool>(3, true));
}

TEST_CASE("ranks whose programs differ are told so before they begin") {
  std::string said;
  try {
    on_devices(2, {}, [](auto& all) {
      using on_devices = distributed<interpreted, std::remove_cvref_t<decltype(all)>>;
      if (all.rank() == 0) {
        executor<small_step<data_parallel<2>>, on_devices> run{seed(3), all};
        run(divided::batch<float>(0, 0, divided::rows));
      } else {
        executor<small_step<data_parallel<2>, clip_gradient>, on_devices> run{seed(3), all};
        run(divided::batch<float>(0, 0, divided::rows));
      }
      return 0;
    });
  } catch (error const& e) {
    said = e.what();
  }
  CHECK(said.find("begins with another program than other ranks") != std::string::npos);
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
