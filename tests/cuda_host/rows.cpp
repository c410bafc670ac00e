// Fused groups on the device: rows of any width, reductions within and over rows, stashes, types, random numbers.
#include "norm_rows.hpp"

#include <tx/nn/layer_norm.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/cos.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/erf.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/floor.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/logical_not.hpp>
#include <tx/ops/logical_or.hpp>
#include <tx/ops/logsumexp.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/pow.hpp>
#include <tx/ops/sign.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/softplus.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/ops/triangle.hpp>
#include <tx/ops/where.hpp>

#include <catch2/catch.hpp>

namespace {

// Values that a kernel of the program keeps of a row, at most.
template <class Program>
constexpr int most_stashes() {
  int most = 0;
  tx::exec::lowered const l = Program::source::lower(tx::cuda_target);
  for (auto const& k : l.kernels)
    if (k.kind == tx::exec::kernel_kind::fused) most = std::max(most, tx::exec::analyse(tx::exec::detail::sig_view{l, k}).stashes);
  return most;
}

template <int Rows, int Cols>
void any_width() {
  INFO(Rows << " x " << Cols);
  CHECK(distance_from_reference<tx::function<normalise<Rows, Cols>>>(2, numbers<float>(Rows * Cols, -2, 2)) < 1e-5);
}

template <int Rows, int H>
double norm_gradient() {
  return distance_from_reference<norm_step<Rows, H, false>>(2, numbers<float>(Rows * H, -1, 1));
}

struct all_types {
  t<tx::bf16, 4, 9> b;
  t<tx::f16, 4, 9> h;
  t<int, 4, 9> i;
  t<bool, 4, 9> m;
  t<double, 4, 1> d;
  t<bool, 4, 9> wrapped;
  t<float, 4, 1> sums;
  t<tx::e4m3, 4, 9> quarters;
  t<float, 4, 9> rounded;
};
constexpr auto to_all_types = [](t<float, 4, 9> x, t<int, 4, 9> i) {
  auto const b = tx::cast<tx::bf16>(x * 3);
  auto const d = tx::cast<double>(x);
  auto const u = tx::cast<tx::u8>(i * 20);  // negative ones and sums of large ones wrap around
  return all_types{b, tx::cast<tx::f16>(x), i * i - 3, tx::less(0, i), tx::sum<1>(d * d), tx::less(u + u, u),
                   tx::cast<float>(tx::sum<1>(tx::cast<tx::bf16>(i * i * 37))),  // rounded before it is read
                   tx::cast<tx::e4m3>(x * 7), tx::cast<float>(tx::cast<tx::e4m3>(x * 11)) * 3};
};

}  // namespace

TEST_CASE("Rows of any width, shared by a part of a warp, a warp or a block") {
  any_width<1, 1>();
  any_width<300, 1>();
  any_width<37, 2>();
  any_width<3, 5>();
  any_width<50, 17>();
  any_width<5, 32>();
  any_width<19, 33>();
  any_width<9, 300>();
  any_width<3, 1100>();
  any_width<2, 2500>();
}

TEST_CASE("Powers, trigonometric functions, activations and masks") {
  constexpr auto f = [](t<float, 6, 5> x) {
    auto const waves = tx::sin(x * 3) * tx::cos(x) + tx::pow(x, 5) + tx::pow(tx::softplus(x), x);
    auto const steps = tx::sign(x) * 0.5 + tx::floor(x * 4);
    auto const outside = tx::logical_or(tx::logical_not(tx::less(x, 1)), tx::less(x, -1));
    return tx::tril<1>(tx::where(outside, waves, steps + waves)) + tx::logsumexp<-1>(waves);
  };
  CHECK(distance_from_reference<tx::function<f>>(1, numbers<float>(30, -2, 2)) < 1e-5);
}

TEST_CASE("Stashed rows that are too long for shared memory lie in scratch") {
  using wide = tx::function<normalise<40, 9000>>;
  constexpr int stashes = most_stashes<wide>();
  static_assert(stashes * 9000 * 4 > interpreter::device::most_shared, "choose longer rows");
  CHECK(distance_from_reference<wide>(1, numbers<float>(40 * 9000, -2, 2)) < 1e-5);
}

TEST_CASE("Sums over rows: one of each share, added in order") {
  CHECK(norm_gradient<1, 4>() < 2e-5);
  CHECK(norm_gradient<13, 40>() < 2e-5);
  CHECK(norm_gradient<200, 70>() < 2e-5);
  CHECK(norm_gradient<33, 1030>() < 2e-4);
}

TEST_CASE("Sums of many shares, of long rows cut into pieces, and of rows too long for shared memory") {
  constexpr auto tall = [](t<float, 3000, 5> x) { return tx::sum<0>(tx::exp(x)); };
  CHECK(distance_from_reference<tx::function<tall>>(1, numbers<float>(15000, -1, 1)) < 1e-3);
  constexpr auto long_rows = [](t<float, 40, 20000> x) { return tx::sum<0>(x * 2 + 1); };
  CHECK(distance_from_reference<tx::function<long_rows>>(1, numbers<float>(800000, -1, 1)) < 1e-4);
  constexpr auto single = [](t<float, 150, 24> x) { return tx::sum<0>(tx::max<1>(x)); };
  CHECK(distance_from_reference<tx::function<single>>(1, numbers<float>(3600, -1, 1)) < 1e-4);
  CHECK(norm_gradient<12, 6000>() < 1e-4);
  CHECK(norm_gradient<6, 4112>() < 1e-4);  // in scratch, of a single share
  constexpr auto facts = tx::backends::device::row_facts{{.column_sums = 2}, 4, true};
  STATIC_REQUIRE(tx::backends::device::cut_rows(facts, 12, 2000).sums_in_shared);
  STATIC_REQUIRE(!tx::backends::device::cut_rows(facts, 12, 7000).sums_in_shared);
  STATIC_REQUIRE(tx::backends::device::cut_rows({{.column_sums = 1}, 4, false}, 40, 20000).pieces == 10);
}

TEST_CASE("The same bits in whatever order blocks and threads come") {
  constexpr auto f = [](t<float, 700, 48> x) { return tx::sum<0>(tx::softmax(x)); };
  auto const x = numbers<float>(700 * 48, -1, 1);
  CHECK(same_in_both_orders<tx::function<f>>(2, x));
}

TEST_CASE("Several columns at once: of halves, of f64 beside bool, and where rows begin in between") {
  constexpr auto halves = [](t<tx::bf16, 6, 64> x) { return tx::where(tx::less(-x, x), x * x, -x); };
  std::vector<tx::bf16> h;
  for (float const x : numbers<float>(6 * 64, -1, 1)) h.push_back(tx::bf16::from(x));
  CHECK(distance_from_reference<tx::function<halves>>(1, h) == 0);
  constexpr auto wide = [](t<double, 5, 32> x) { return tx::cast<float>(tx::softmax(tx::where(tx::less(x * 0.5, x), x, -x))); };
  CHECK(distance_from_reference<tx::function<wide>>(1, numbers<double>(160, -1, 1)) < 1e-6);
  constexpr auto shifted = [](t<float, 7, 50> x) { return tx::slice<1, 1, 32>(x) + tx::slice<1, 9, 32>(x); };
  CHECK(distance_from_reference<tx::function<shifted>>(1, numbers<float>(350, -1, 1)) == 0);
}

TEST_CASE("Sums over rows that a product makes a band at a time") {
  constexpr auto f = [](t<float, 6, 8, 5> a, t<float, 6, 8, 5> b) {
    auto const p = tx::softmax(tx::matmul(a, tx::transpose<0, 2, 1>(b)));
    return tx::mean(tx::matmul(p, b)) + tx::mean(tx::sum<0>(p) * 0.5f);
  };
  constexpr tx::compile_options in_bands{.band_bytes = 600};
  auto const a = numbers<float>(240, -1, 1), b = numbers<float>(240, -1, 1);
  CHECK(distance(outcome<tx::function<f, tx::no_model, tx::compiled_with<in_bands>>, interpreted>(2, a, b), outcome<tx::function<f, tx::no_model, tx::compiled_with<unfused>>, tx::reference>(2, a, b)) < 1e-5);
}

TEST_CASE("Columns read at a stride, rows of a broadcast, positions") {
  constexpr auto f = [](t<float, 6, 5, 7> x, t<float, 5, 1> y) {
    auto const turned = tx::transpose<2, 0, 1>(x);
    return (turned + tx::transpose(y)) * tx::cast<float>(tx::iota<0>(turned)) - tx::cast<float>(tx::iota<1>(turned));
  };
  CHECK(distance_from_reference<tx::function<f>>(1, numbers<float>(210, -1, 1), numbers<float>(5, -1, 1)) < 1e-6);
}

TEST_CASE("Element types: halves, integers, bool and f64") {
  auto const widened = []<class B>(B) {
    tx::executor<tx::function<to_all_types>, B> run{tx::seed(0)};
    auto const r = run(numbers<float>(36, -3, 3), numbers<int>(36, -9, 9));
    values v;
    for (auto x : r.b) v.push_back(x.widen());
    for (auto x : r.h) v.push_back(x.widen());
    for (auto x : r.i) v.push_back(x);
    for (auto x : r.m) v.push_back(x);
    for (auto x : r.d) v.push_back(x);
    for (auto x : r.wrapped) v.push_back(x);
    for (auto x : r.sums) v.push_back(x);
    return v;
  };
  CHECK(distance(widened(interpreted{}), widened(tx::reference{})) < 1e-7);
}

TEST_CASE("The same elements are dropped as on the host") {
  struct model {
    tx::param<t<float, 30, 50>, tx::init::ones> weight;
  };
  constexpr auto loss = [](model const& m, t<float, 30, 50> x) { return tx::sum(tx::dropout(m.weight * x)); };
  // A dropped element has no gradient: the parameters show which.
  CHECK(distance_from_reference<tx::train_step<model, loss, descent>>(3, std::vector<float>(1500, 0.25f)) < 1e-5);
}

TEST_CASE("One column where there may be many, and more of a row kept than shared memory has for a warp of rows") {
  constexpr auto f = [](t<float, 40, tx::dyn<64>> x) {
    auto const one = [&](double k) {
      auto const y = tx::exp(tx::erf(x * k));
      return y / tx::sum<1>(y);
    };
    return one(1) + one(2) * one(3) + one(4) * one(5) + one(6) * one(7) + one(8) * one(9) + one(10) * one(11) + one(12) * one(13) + one(14);
  };
  using program = tx::function<f>;
  constexpr int stashes = most_stashes<program>();
  static_assert(stashes >= 12, "keep more");
  tx::executor<program, interpreted> device{tx::seed(0)};
  for (std::size_t columns : {1u, 2u, 64u}) {
    auto const x = numbers<float>(40 * columns, -1, 1);
    auto const a = device(x).value;
    for (std::size_t r = 0; r < 40; ++r)
      for (std::size_t c = 0; c < columns; ++c) {
        double probabilities[15] = {};
        for (int k = 1; k < 15; ++k) {
          double sum = 0;
          for (std::size_t i = 0; i < columns; ++i) sum += std::exp(std::erf(static_cast<double>(x[r * columns + i]) * k));
          probabilities[k] = std::exp(std::erf(static_cast<double>(x[r * columns + c]) * k)) / sum;
        }
        double wanted = probabilities[1] + probabilities[14];
        for (int k = 2; k < 14; k += 2) wanted += probabilities[k] * probabilities[k + 1];
        REQUIRE(static_cast<double>(a[r * columns + c]) == Approx(wanted).epsilon(1e-5));
      }
  }
}

TEST_CASE("Bounded extents run with fewer rows, none included") {
  constexpr auto f = [](t<float, tx::dyn<20>, 6> x) { return tx::softmax(x); };
  using program = tx::function<f>;
  tx::executor<program, interpreted> device{tx::seed(0)};
  tx::executor<program, tx::reference> host{tx::seed(0)};
  for (std::size_t rows : {20u, 3u, 1u, 0u}) {
    auto const x = numbers<float>(rows * 6, -1, 1);
    auto const a = device(x).value;
    auto const b = host(x).value;
    for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(a[i] == Approx(b[i]).epsilon(1e-5));
  }
}
