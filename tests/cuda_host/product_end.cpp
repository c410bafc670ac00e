// What a library does behind a product is one thing to kernels, which know types, and to the roofline, which knows tables.
#include <tx/backends/device/product_end.hpp>

#include <catch2/catch.hpp>

#include <vector>

using tx::dtype;
using tx::backends::device::end_let;
using tx::backends::device::end_op;
using tx::backends::device::product_end;
using tx::exec::access;
using tx::exec::form;

namespace {

struct kernel {
  dtype sides;
  std::vector<tx::exec::in_sig> in;
  std::vector<end_let> lets;
  std::vector<tx::exec::out_sig> outs;
  product_end end() const { return product_end::of(sides, in, lets, outs); }
};
constexpr tx::exec::in_sig product{dtype::f32, access::product}, row{dtype::bf16, access::contiguous}, whole{dtype::f32, access::contiguous}, row_scales{dtype::f32, access::row}, column_scales{dtype::f32, access::contiguous};
constexpr end_let widened(int v) { return {end_op::cast, dtype::f32, form::map, {v, 0}}; }
constexpr end_let rounded(int v) { return {end_op::cast, dtype::bf16, form::map, {v, 0}}; }
constexpr end_let sum(int a, int b) { return {end_op::add, dtype::f32, form::map, {a, b}}; }
constexpr end_let scaled(int a, int b) { return {end_op::mul, dtype::f32, form::map, {a, b}}; }
constexpr tx::exec::out_sig stores(int v, dtype to) { return {v, to, form::map, false}; }

// Every change of one of its parts makes it another one, or none.
void check_each_part(kernel const& k) {
  auto const none = [](kernel const& other) { CHECK_FALSE(other.end().known); };
  REQUIRE(k.end().known);
  for (std::size_t i = 0; i < k.lets.size(); ++i) {
    CAPTURE(i);
    kernel other = k;
    other.lets[i].op = end_op::other;
    none(other);
    other = k;
    other.lets[i].shape = form::row_reduce;
    none(other);
    other = k;
    other.lets[i].type = k.lets[i].type == dtype::f32 ? dtype::f16 : dtype::f32;
    none(other);
    other = k;
    other.lets[i].operand[0] = 40;
    none(other);
    other = k;
    other.lets.erase(other.lets.begin() + static_cast<std::ptrdiff_t>(i));
    if (other.end().known) CHECK(other.outs[0].value != k.outs[0].value);
  }
  kernel other = k;
  other.outs.push_back(k.outs[0]);
  none(other);
  other = k;
  other.outs[0].per_row = true;
  none(other);
  other = k;
  other.outs[0].shape = form::col_reduce;
  none(other);
  other = k;
  other.outs[0].type = dtype::f16;
  none(other);
  other = k;
  other.outs[0].value = 0;
  if (!k.lets.empty()) none(other);
  other = k;
  other.in[0].how = access::contiguous;
  none(other);
  for (std::size_t i = 1; i < k.in.size(); ++i) {
    other = k;
    other.in[i].type = dtype::f16;
    none(other);
  }
}

}  // namespace

TEST_CASE("results of halves are stored, rounded, added to values, or have a row added") {
  kernel const plain{dtype::bf16, {product}, {}, {stores(0, dtype::f32)}};
  check_each_part(plain);
  CHECK(plain.end().to == dtype::f32);
  kernel const halves{dtype::bf16, {product}, {rounded(0)}, {stores(1, dtype::bf16)}};
  check_each_part(halves);
  CHECK(halves.end().to == dtype::bf16);
  kernel const more{dtype::f32, {product, whole}, {sum(1, 0)}, {stores(2, dtype::f32)}};
  check_each_part(more);
  CHECK(more.end().added == 1);
  kernel const carried{dtype::f32, {product, whole}, {sum(0, 1), {end_op::copy, dtype::f32, form::map, {2, 0}}}, {stores(3, dtype::f32)}};
  check_each_part(carried);
  CHECK(carried.end().added == 1);
  kernel const biased{dtype::bf16, {product, row}, {widened(1), sum(0, 2), rounded(3)}, {stores(4, dtype::bf16)}};
  check_each_part(biased);
  CHECK(biased.end().row == 1);
  CHECK(biased.end().to == dtype::bf16);
  CHECK_FALSE(kernel{dtype::f16, biased.in, biased.lets, biased.outs}.end().known);  // halves of another kind
  CHECK_FALSE(kernel{dtype::f32, {product, whole}, {sum(0, 0)}, {stores(2, dtype::f32)}}.end().known);
  CHECK_FALSE(kernel{dtype::f32, {product, row_scales}, {sum(0, 1)}, {stores(2, dtype::f32)}}.end().known);  // a number for each row
}

TEST_CASE("results of E4M3 are scaled before") {
  kernel const scales{dtype::e4m3, {product, row_scales, column_scales}, {scaled(0, 1), scaled(2, 3)}, {stores(4, dtype::f32)}};
  check_each_part(scales);
  CHECK(scales.end().row_scales == 1);
  CHECK(scales.end().column_scales == 2);
  kernel const halves{dtype::e4m3, scales.in, {scaled(0, 1), scaled(2, 3), rounded(4)}, {stores(5, dtype::bf16)}};
  check_each_part(halves);
  kernel const biased{dtype::e4m3, {product, row_scales, column_scales, row}, {scaled(0, 1), scaled(2, 4), widened(3), sum(5, 6), rounded(7)}, {stores(8, dtype::bf16)}};
  check_each_part(biased);
  CHECK(biased.end().row == 3);
  CHECK(biased.end().to == dtype::bf16);
  CHECK_FALSE(kernel{dtype::bf16, scales.in, scales.lets, scales.outs}.end().known);
  CHECK_FALSE(kernel{dtype::e4m3, {product, column_scales, row_scales}, scales.lets, scales.outs}.end().known);
}
