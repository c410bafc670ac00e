// What a kernel computes and hands on within itself has the type it would have in memory: sums of halves are rounded,
// those of small integers are cut to their bits, whether a kernel reads them or memory does.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/mul.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

// Each value as it is stored, and what a reader in its kernel sees of it.
template <class T>
struct seen {
  tensor<T, 3, 1> sum, mean, most;
  tensor<T, 1, 300> column;
  tensor<float, 3, 1> sum_read, mean_read, most_read;
  tensor<float, 1, 300> column_read;
};
template <class T>
constexpr auto reductions = [](tensor<T, 3, 300> x) {
  auto const s = sum<1>(x);
  auto const m = [&] {
    if constexpr (is_float(dtype_v<T>)) return mean<1>(x);
    else return s + s;
  }();
  auto const most = max<1>(x + x);
  auto const c = sum<0>(x);
  return seen<T>{s, m, most, c, cast<float>(s), cast<float>(m), cast<float>(most), cast<float>(c)};
};

template <class T, class Backend>
void check_seen() {
  executor<function<reductions<T>>, Backend> run{seed(0)};
  std::vector<T> x;
  for (int i = 0; i < 900; ++i) {
    if constexpr (is_float(dtype_v<T>)) x.push_back(T::from(0.37f + static_cast<float>(i % 300) / 1000));
    else x.push_back(static_cast<T>(i % 113));
  }
  auto const r = run(x);
  auto const differing = [](auto const& stored, auto const& read) {
    int n = 0;
    for (std::size_t i = 0; i < read.size(); ++i) n += static_cast<float>(number_of(stored.data[i])) != read.data[i];
    return n;
  };
  CHECK(differing(r.sum, r.sum_read) == 0);
  CHECK(differing(r.mean, r.mean_read) == 0);
  CHECK(differing(r.most, r.most_read) == 0);
  CHECK(differing(r.column, r.column_read) == 0);
}

}  // namespace

TEST_CASE("sums of halves and of E4M3 are rounded where their kernel reads them") {
  check_seen<e4m3, cpu>();
  check_seen<e4m3, reference>();
  check_seen<bf16, cpu>();
  check_seen<f16, cpu>();
  check_seen<bf16, reference>();
}

TEST_CASE("sums of small integers are cut to their bits where their kernel reads them") {
  check_seen<i8, cpu>();
  check_seen<u8, cpu>();
  check_seen<i8, reference>();
}
