// Ranks with a device each, a process for each: every collective, and training steps that hold them, of which the second run is captured and the others replayed. Alone it is one
// rank; `ranks_step N` starts N processes. Returns what main does: 77 without a device.
#include "its_backend.hpp"
#include "processes.hpp"

#if defined(TX_FOR_HIP)
#include <tx/dist/device/rccl.hpp>
#define COLLECTIVES tx::dist::rccl
#else
#include <tx/dist/device/nccl.hpp>
#define COLLECTIVES tx::dist::nccl
#endif
#include <tx/backends/reference.hpp>
#include <tx/dist/adasum.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/tensor_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/net/ranks.hpp>
#include <tx/dist/net/sockets.hpp>
#include <tx/dist/single.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/options.hpp>
#include <tx/train/step.hpp>

#include "../net/unequal_parts.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

constexpr int rows = 8, width = 16;  // of a rank

struct layer {
  tx::nn::linear<width, width> in;
  constexpr auto operator()(auto const& x) const { return tx::tanh(in(tx::dropout(x, 0.25f))) + x; }
};
struct model {
  tx::repeat<2, layer> body;
  tx::nn::linear<width, 5> out;
};
constexpr auto loss = [](model const& m, tx::tensor<float, rows, width> x) {
  auto const y = m.out(m.body(x));
  return tx::mean(y * y);
};
template <class... Options>
using step = tx::train_step<model, loss, tx::adamw, tx::clip_gradient, Options...>;

static std::vector<float> batch(int run, int first, int count) {
  std::vector<float> x;
  for (int i = first * width; i < (first + count) * width; ++i) x.push_back(static_cast<float>((i * 7 + run) % 13) / 13.0f);
  return x;
}
static int wrong = 0;
static void expect(bool right, char const* what, int rank) {
  if (right) return;
  std::printf("rank %d: %s\n", rank, what);
  ++wrong;
}

// A copy on the device of what the host has, which comes back.
template <class T>
struct on_device {
  std::byte* data;
  std::size_t count;
  explicit on_device(std::vector<T> const& x) : data(its_backend::allocate(static_cast<std::int64_t>(x.size() * sizeof(T)) + 64)), count(x.size()) {
    if (!x.empty()) its_backend::upload(data, reinterpret_cast<std::byte const*>(x.data()), static_cast<std::int64_t>(x.size() * sizeof(T)));
  }
  on_device(on_device const&) = delete;
  ~on_device() { its_backend::release(data, 0); }
  std::span<T> elements() { return {reinterpret_cast<T*>(data), count}; }
  operator std::span<T const>() { return elements(); }
  std::vector<T> read() {
    std::vector<T> x(count);
    if (count > 0) its_backend::download(reinterpret_cast<std::byte*>(x.data()), data, static_cast<std::int64_t>(count * sizeof(T)));
    return x;
  }
};
template <class T>
bool same(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// Values on the host, as the tests of any communicator have them, by way of the device.
template <class Ranks>
struct by_device {
  Ranks& all;
  int rank() const { return all.rank(); }
  int size() const { return all.size(); }
  template <class T>
  void all_reduce(std::span<T const> from, std::span<T> to) {
    on_device<T> x({from.begin(), from.end()}), y{std::vector<T>(to.size())};
    all.all_reduce(std::span<T const>(x), y.elements());
    back(y, to);
  }
  template <class T>
  void reduce_scatter(std::span<T const> from, std::span<T> to) {
    on_device<T> x({from.begin(), from.end()}), y({to.begin(), to.end()});
    all.reduce_scatter(std::span<T const>(x), y.elements());
    back(y, to);
  }
  template <class T>
  void all_gather(std::span<T const> from, std::span<T> to) {
    on_device<T> x({from.begin(), from.end()}), y{std::vector<T>(to.size())};
    all.all_gather(std::span<T const>(x), y.elements());
    back(y, to);
  }

 private:
  template <class T>
  void back(on_device<T>& from, std::span<T> to) {
    all.await();
    auto const x = from.read();
    std::copy(x.begin(), x.end(), to.begin());
  }
};

template <class T, class Ranks>
void check_sums(Ranks& all, std::size_t count) {
  by_device<Ranks> through{all};
  std::vector<T> sums(count), wanted(count);
  through.all_reduce(std::span<T const>(part<T>(all.rank(), count)), std::span(sums));
  for (std::size_t i = 0; i < count; ++i) wanted[i] = tree<T>(all.size(), i);
  expect(same(sums, wanted), "all_reduce", all.rank());
  expect(wrong_in_unequal_parts<T>(through, count, count / static_cast<std::size_t>(all.size()) + 1) == 0, "unequal parts", all.rank());
  expect(wrong_in_unequal_parts<T>(through, count * static_cast<std::size_t>(all.size()), count) == 0, "equal parts", all.rank());
}
template <class Ranks>
void check_collectives(Ranks& all) {
  check_sums<float>(all, 700);
  check_sums<float>(all, 9001);  // in pieces
  check_sums<double>(all, 100);
  check_sums<tx::bf16>(all, 100);
  check_sums<tx::f16>(all, 100);
  int const n = all.size(), r = all.rank();
  std::vector<float> from, wanted;
  for (int i = 0; i < 3 * n; ++i) {
    from.push_back(static_cast<float>(100 * r + i));
    wanted.push_back(static_cast<float>(100 * (i / 3) + 3 * r + i % 3));
  }
  on_device<float> x(from), y{std::vector<float>(from.size())};
  all.all_to_all(std::span<float const>(x), y.elements());
  if (int const other = r ^ 1; other < n) {
    on_device<float> there{std::vector<float>(from.size())};
    all.swap_with(std::span<float const>(x), there.elements(), other);
    all.await();
    auto theirs = from;
    for (int i = 0; i < 3 * n; ++i) theirs[static_cast<std::size_t>(i)] = static_cast<float>(100 * other + i);
    expect(same(there.read(), theirs), "swap_with", r);
  }
  all.broadcast(x.elements(), n - 1);
  all.barrier();
  for (int i = 0; i < 3 * n; ++i) from[static_cast<std::size_t>(i)] = static_cast<float>(100 * (n - 1) + i);
  expect(same(y.read(), wanted), "all_to_all", r);
  expect(same(x.read(), from), "broadcast", r);
}
// Equal vectors are averaged, orthogonal ones added.
template <class Ranks>
void check_adaptive_sums(Ranks& all) {
  auto const n = static_cast<std::size_t>(all.size()), r = static_cast<std::size_t>(all.rank());
  std::vector<float> const equal(40, 1.5f);
  std::vector<float> apart(10 * n);
  for (std::size_t i = 0; i < 10; ++i) apart[10 * r + i] = 2;
  on_device<float> x(equal), y(apart);
  tx::dist::adaptive_sum(all, std::span<float const>(x), x.elements(), 2);
  tx::dist::adaptive_sum(all, std::span<float const>(y), y.elements(), 1);
  all.await();
  expect(same(x.read(), equal), "an adaptive sum of equal vectors", all.rank());
  expect(same(y.read(), std::vector<float>(10 * n, 2)), "an adaptive sum of orthogonal vectors", all.rank());
}
// In the library's own order.
template <class Ranks>
void check_library_sums(Ranks& all) {
  auto const count = static_cast<std::size_t>(60 * all.size());
  on_device<float> x(part<float>(all.rank(), count)), own{std::vector<float>(60)}, sums{std::vector<float>(count)};
  all.reduce_scatter(std::span<float const>(x), own.elements());
  all.all_reduce(std::span<float const>(x), sums.elements());
  all.await();
  auto const near = [&](std::vector<float> const& got, std::size_t first) {
    for (std::size_t i = 0; i < got.size(); ++i)
      if (float const sum = tree<float>(all.size(), first + i); !(std::abs(got[i] - sum) <= 1e-2f + 1e-5f * std::abs(sum))) return false;
    return true;
  };
  expect(near(sums.read(), 0), "all_reduce by the library", all.rank());
  expect(near(own.read(), static_cast<std::size_t>(60 * all.rank())), "reduce_scatter by the library", all.rank());
}

struct trained {
  std::vector<float> losses, parameters;
};
template <class Run>
trained trained_by(Run& run, int first) {
  constexpr int count = std::tuple_element_t<0, typename Run::arguments>::dims.dim[0];
  trained out;
  run.settings["learning_rate"] = 0.01f;
  for (int k = 0; k < 4; ++k) out.losses.push_back(run(batch(k, first * count, count)).loss);
  out.parameters = run.read();
  return out;
}
template <class Step, class Ranks>
trained trained_on(Ranks& all) {
  tx::executor<Step, tx::distributed<its_backend, Ranks>> run{tx::seed(3), all};
  return trained_by(run, all.rank());
}
void expect_near(trained const& got, trained const& wanted, int rank) {
  for (std::size_t k = 0; k < got.losses.size(); ++k) expect(std::abs(got.losses[k] - wanted.losses[k]) < 1e-5f, "a loss is not the reference's", rank);
  std::size_t far = 0;
  for (std::size_t i = 0; i < got.parameters.size(); ++i) far += !(std::abs(got.parameters[i] - wanted.parameters[i]) < 1e-3f);
  expect(far * 50 < got.parameters.size(), "parameters are not the reference's", rank);
}

template <int Count, class Ranks>
void check_steps(Ranks& all) {
  tx::dist::single alone;
  using whole = step<tx::virtual_shards<Count>>;
  tx::executor<whole, tx::distributed<tx::reference, tx::dist::single>> host{tx::seed(3), alone};
  trained wanted;
  host.settings["learning_rate"] = 0.01f;
  for (int k = 0; k < 4; ++k) wanted.losses.push_back(host(batch(k, 0, rows * Count)).loss);
  wanted.parameters = host.read();
  trained const together = trained_on<step<tx::data_parallel<Count>>>(all);
  expect(together.losses.front() != together.losses.back(), "nothing is trained", all.rank());
  expect_near(together, wanted, all.rank());
  trained const divided = trained_on<step<tx::data_parallel<Count>, tx::zero<3>, tx::overlapped_from<1>>>(all);
  expect(divided.losses == together.losses, "zero<3> tells other losses", all.rank());
  expect(divided.parameters.size() == together.parameters.size() && same(divided.parameters, together.parameters), "zero<3> trains other parameters", all.rank());
}

// A layer on each of two ranks, which all parts of a batch go through.
template <class Ranks>
void check_pipeline(Ranks& all) {
  using whole = step<tx::accumulate<3>>;
  tx::executor<whole, tx::reference> host{tx::seed(3)};
  trained const wanted = trained_by(host, 0);
  tx::executor<step<tx::accumulate<3>, tx::pipeline<2>>, tx::distributed<its_backend, Ranks>> run{tx::seed(3), all};
  trained const together = trained_by(run, 0);
  expect(together.losses.front() != together.losses.back(), "a pipeline trains nothing", all.rank());
  expect_near(together, wanted, all.rank());
}

// Products divided by two ranks, batches by two such pairs: collectives of parts of the ranks, each a communicator of its own, which ends behind the captured runs.
struct wide_layer {
  tx::nn::linear<width, 2 * width> in;
  tx::nn::linear<2 * width, width> back;
  constexpr auto operator()(auto const& x) const { return back(tx::dropout(tx::tanh(in(x)), 0.25f)) + x; }
};
struct wide_model {
  wide_layer body;
  tx::nn::linear<width, 5> out;
};
constexpr auto wide_loss = [](wide_model const& m, tx::tensor<float, rows, width> x) {
  auto const y = m.out(m.body(x));
  return tx::mean(y * y);
};
template <class... Options>
using wide_step = tx::train_step<wide_model, wide_loss, tx::adamw, tx::clip_gradient, Options...>;

template <class Ranks>
void check_grid(Ranks& all) {
  tx::dist::single alone;
  tx::executor<wide_step<tx::virtual_shards<2>>, tx::distributed<tx::reference, tx::dist::single>> host{tx::seed(3), alone};
  trained const wanted = trained_by(host, 0);
  using divided = wide_step<tx::data_parallel<2>, tx::tensor_parallel<2>>;
  tx::executor<divided, tx::distributed<its_backend, Ranks>> run{tx::seed(3), all};
  trained const together = trained_by(run, tx::grid_of<divided>(all.size()).batch_of(all.rank()));
  expect(together.losses.front() != together.losses.back(), "a grid trains nothing", all.rank());
  expect_near(together, wanted, all.rank());
}

// What is given up while captured runs have its work ends all the same, when those are gone.
template <class Ranks, class Hosts>
void check_end(Hosts& hosts) {
  Ranks all(hosts, {.room = 32 << 10});
  tx::executor<step<tx::data_parallel<>>, tx::distributed<its_backend, Ranks>> run{tx::seed(3), all};
  trained_by(run, all.rank());
  hosts.barrier();
  all.give_up();
  try {
    run(batch(0, 0, rows));
    expect(false, "ranks that were given up go on", all.rank());
  } catch (tx::error const&) {
  }
}

int main(int argc, char** argv) {
  if (argc > 1) return in_processes(argv[0], std::atoi(argv[1]));
  if (!its_backend::available()) {
    std::puts("skipped: no device");
    return 77;  // neither passed nor failed
  }
  tx::dist::place const place = tx::dist::launched();
  its_backend::use_device(place.local_rank);
  tx::dist::sockets connections(place);
  tx::dist::ranks hosts(connections);
  using ranks = COLLECTIVES<its_backend, decltype(hosts)>;
  ranks all(hosts, {.room = 32 << 10});
  check_collectives(all);
  check_adaptive_sums(all);
  ranks quick(hosts, {.sums = tx::dist::sum_order::of_library, .room = 32 << 10});
  check_library_sums(quick);
  if (all.size() == 1) check_steps<1>(all);
  if (all.size() == 2) {
    check_steps<2>(all);
    check_pipeline(all);
    check_end<ranks>(hosts);
  }
  if (all.size() == 4) check_grid(all);
  std::printf("rank %d of %d: %s\n", all.rank(), all.size(), wrong == 0 ? "as it should be" : "wrong");
  return wrong == 0 ? 0 : 1;
}
