// Rows that lie in the registers of their team: of every width that a team may have, with sums over rows, values that later sweeps need, halves and random numbers.
#include "norm_rows.hpp"

#include <tx/ops/cast.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/transpose.hpp>

#include <catch2/catch.hpp>

namespace {

namespace device = tx::backends::device;

// Kernels of a program as types, and how their rows are held.
template <class Program, int K>
constexpr auto row_kernel() {
  constexpr auto kernel = Program::kernels[K];
  if constexpr (kernel.kind != tx::exec::kernel_kind::fused) return tx::exec::fused<0, tx::exec::ins<>, tx::exec::lets<>, tx::exec::outs<>>{};
  else return tx::exec::detail::fused_type<Program, K>(std::make_integer_sequence<int, kernel.ins>{}, std::make_integer_sequence<int, kernel.lets>{}, std::make_integer_sequence<int, kernel.outs>{});
}
template <class Step>
constexpr int held_kernels() {
  using program = typename Step::template program<tx::cuda_target>;
  return []<int... K>(std::integer_sequence<int, K...>) { return (int{device::detail::held_of<decltype(row_kernel<program, K>())>.any()} + ... + 0); }(
      std::make_integer_sequence<int, static_cast<int>(program::kernels.size())>{});
}

template <int Rows, int Cols>
void check_width() {
  INFO(Rows << " x " << Cols);
  using program = tx::function<normalise<Rows, Cols>>;
  STATIC_REQUIRE(held_kernels<program>() == 1);
  CHECK(distance_from_reference<program>(2, numbers<float>(Rows * Cols, -2, 2)) < 1e-5);
}

template <int Rows, int H>
using dropping = norm_step<Rows, H, true>;
template <int Rows, int H>
double norm_gradient() {
  STATIC_REQUIRE(held_kernels<dropping<Rows, H>>() > 0);
  return distance_from_reference<dropping<Rows, H>>(2, numbers<float>(Rows * H, -1, 1));
}

template <int Columns, tx::dtype D>
using sum_of_rows = tx::exec::fused<Columns, tx::exec::ins<tx::exec::in<D, tx::exec::access::contiguous>>,
                                    tx::exec::lets<tx::exec::let<tx::rules::sum, D, tx::exec::form::col_reduce, false, 0>>, tx::exec::outs<tx::exec::out<1, D, tx::exec::form::col_reduce, false>>>;
template <int Columns>
using sum_of_row = tx::exec::fused<Columns, tx::exec::ins<tx::exec::in<tx::dtype::f32, tx::exec::access::contiguous>>,
                                   tx::exec::lets<tx::exec::let<tx::rules::sum, tx::dtype::f32, tx::exec::form::row_reduce, false, 0>>, tx::exec::outs<tx::exec::out<1, tx::dtype::f32, tx::exec::form::map, true>>>;

struct sums_of_f64 {
  t<double, 1, 4096> a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};

}  // namespace

TEST_CASE("A row is held by the smallest team whose threads have registers for it; rows of which nothing is made are cut into pieces") {
  using device::detail::held_of;
  STATIC_REQUIRE(held_of<sum_of_row<16>>.team_size == 4);
  STATIC_REQUIRE(held_of<sum_of_row<16>>.steps == 1);
  STATIC_REQUIRE(held_of<sum_of_row<768>>.team_size == 32);
  STATIC_REQUIRE(held_of<sum_of_row<768>>.steps == 6);
  STATIC_REQUIRE(held_of<sum_of_row<4096>>.team_size == 128);
  STATIC_REQUIRE(held_of<sum_of_row<4096>>.pieces == 1);
  STATIC_REQUIRE(!held_of<sum_of_row<tx::exec::whole_columns>>.any());
  STATIC_REQUIRE(!held_of<sum_of_row<tx::exec::any_columns>>.any());
  constexpr auto cut = held_of<sum_of_rows<3072, tx::dtype::f32>>;
  STATIC_REQUIRE(cut.team_size == 32);
  STATIC_REQUIRE(cut.pieces > 1);
  STATIC_REQUIRE(cut.pieces * cut.steps * cut.team_size * 4 >= 3072);
  STATIC_REQUIRE((cut.pieces - 1) * cut.steps * cut.team_size * 4 < 3072);
}

TEST_CASE("Rows that are held, by a part of a warp, a warp or several") {
  check_width<37, 16>();
  check_width<9, 48>();
  check_width<19, 768>();
  check_width<2, 2048>();
  check_width<3, 4096>();
}

TEST_CASE("Sums over rows that are held, with dropout, fewer rows than teams and several shares") {
  CHECK(norm_gradient<3, 768>() < 2e-4);
  CHECK(norm_gradient<150, 112>() < 2e-5);
  CHECK(norm_gradient<21, 1024>() < 2e-4);
}

TEST_CASE("Rows of more values than a thread has registers for are read again, and are summed in scratch where shared memory is too small for the sums") {
  using step = dropping<6, 4096>;
  STATIC_REQUIRE(held_kernels<step>() == 0);
  CHECK(distance_from_reference<step>(2, numbers<float>(6 * 4096, -1, 1)) < 4e-4);
}

TEST_CASE("Sums over rows of pieces of them, of f32, halves and f64") {
  constexpr auto singles = [](t<float, 70, 3088> x) { return tx::sum<0>(x * 2 + 1); };
  STATIC_REQUIRE(held_kernels<tx::function<singles>>() == 1);
  CHECK(distance_from_reference<tx::function<singles>>(1, numbers<float>(70 * 3088, -1, 1)) < 1e-4);
  constexpr auto doubles = [](t<double, 40, 1040> x) { return tx::cast<float>(tx::sum<0>(x * x)); };
  CHECK(distance_from_reference<tx::function<doubles>>(1, numbers<double>(40 * 1040, -1, 1)) < 1e-5);
  constexpr auto halves = [](t<tx::bf16, 33, 544> x) { return tx::sum<0>(tx::cast<float>(x)); };
  std::vector<tx::bf16> h;
  for (float const x : numbers<float>(33 * 544, -1, 1)) h.push_back(tx::bf16::from(x));
  CHECK(distance_from_reference<tx::function<halves>>(1, h) < 1e-5);
}

TEST_CASE("Rows of so many sums that they would be cut into more pieces than there are counters") {
  constexpr auto sums = [](t<double, 9, 4096> x) {
    return [&]<int... K>(std::integer_sequence<int, K...>) { return sums_of_f64{tx::sum<0>(x * x + (K + 1) * x)...}; }(std::make_integer_sequence<int, 17>{});
  };
  CHECK(distance_from_reference<tx::function<sums>>(1, numbers<double>(9 * 4096, -1, 1)) < 1e-12);
}

TEST_CASE("The same bits in whatever order blocks and threads come, where rows are held") {
  constexpr auto f = [](t<float, 300, 768> x) { return tx::sum<0>(tx::softmax(x)); };
  auto const x = numbers<float>(300 * 768, -1, 1);
  CHECK(same_in_both_orders<tx::function<f>>(2, x));
}

TEST_CASE("A row that lies at several distances is not held") {
  constexpr auto turned = [](t<float, 3, 5, 48> x) { return tx::softmax(tx::transpose<1, 0, 2>(x)); };
  STATIC_REQUIRE(held_kernels<tx::function<turned>>() == 0);
  CHECK(distance_from_reference<tx::function<turned>>(1, numbers<float>(720, -1, 1)) < 1e-6);
}
