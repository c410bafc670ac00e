// Convolutions and pools: values against seven plain loops, gradients against central differences.
#include "check_op.hpp"
#include "../interpreter/evaluator.hpp"

#include <tx/ops/conv2d.hpp>
#include <tx/ops/pool2d.hpp>

namespace {

using vars = std::vector<tx::var>;
using arrays = std::vector<array>;

knows_whole<&tx::patches_info> const patches_rule;
knows_whole<&tx::folded_info> const folded_rule;
knows_whole<&tx::pool_places_info> const places_rule;
knows_whole<&tx::gather_info> const gather_rule;
knows_whole<&tx::scatter_along_info> const scatter_rule;

// How often a window fits: counted, not computed.
int windows(int extent, int size, int stride, int padding, int dilation) {
  int n = 0;
  for (int first = -padding; first + (size - 1) * dilation < extent + padding; first += stride) ++n;
  return n;
}
// f(row, column, element of the window) over what a window at (r, s) holds of a picture.
template <class F>
void each_in_window(array const& x, tx::height_width size, tx::height_width stride, tx::height_width padding,
                    tx::height_width dilation, int r, int s, F f) {
  for (int i = 0; i < size.height; ++i)
    for (int j = 0; j < size.width; ++j) {
      int const y = r * stride.height - padding.height + i * dilation.height;
      int const z = s * stride.width - padding.width + j * dilation.width;
      if (y >= 0 && y < x.dims.dim[2] && z >= 0 && z < x.dims.dim[3]) f(y, z, i, j);
    }
}
double pixel(array const& x, int n, int c, int y, int z) {
  return x.v[static_cast<std::size_t>(((n * x.dims.dim[1] + c) * x.dims.dim[2] + y) * x.dims.dim[3] + z)];
}
tx::shape result_dims(array const& x, int channels, tx::height_width size, tx::height_width stride,
                      tx::height_width padding, tx::height_width dilation) {
  return make_dims({x.dims.dim[0], channels,
                    windows(x.dims.dim[2], size.height, stride.height, padding.height, dilation.height),
                    windows(x.dims.dim[3], size.width, stride.width, padding.width, dilation.width)});
}
array convolved(array const& x, array const& w, array const* bias, tx::conv2d_options const& o) {
  tx::height_width const size{w.dims.dim[2], w.dims.dim[3]};
  int const out = w.dims.dim[0];
  int const depth = w.dims.dim[1];
  return built(result_dims(x, out, size, o.stride, o.padding, o.dilation), [&](std::vector<int> const& at) {
    double sum = bias == nullptr ? 0 : bias->v[static_cast<std::size_t>(at[1])];
    for (int c = 0; c < depth; ++c)
      each_in_window(x, size, o.stride, o.padding, o.dilation, at[2], at[3], [&](int y, int z, int i, int j) {
        sum += pixel(w, at[1], c, i, j) * pixel(x, at[0], at[1] / (out / o.groups) * depth + c, y, z);
      });
    return sum;
  });
}
template <tx::conv2d_options O>
void check_conv(number_source& numbers, std::vector<int> const& x, std::vector<int> const& w) {
  arrays args{numbers.spread(make_dims(x), -1, 1), numbers.spread(make_dims(w), -1, 1)};
  check_op(
      "conv2d", args, [](vars const& v) { return tx::conv2d<O>(v[0], v[1]); },
      [](arrays const& v) { return convolved(v[0], v[1], nullptr, O); });
  args.push_back(numbers.spread(make_dims({w[0]}), -1, 1));
  check_op(
      "conv2d with a bias", args, [](vars const& v) { return tx::conv2d<O>(v[0], v[1], v[2]); },
      [](arrays const& v) { return convolved(v[0], v[1], &v[2], O); });
}

struct plain_pool {
  tx::height_width size, stride, padding;
  tx::height_width dilation{1};
  bool mean = false;

  array operator()(arrays const& v) const {
    array const& x = v[0];
    return built(result_dims(x, x.dims.dim[1], size, stride, padding, dilation), [&](std::vector<int> const& at) {
      double sum = 0, most = -INFINITY;
      each_in_window(x, size, stride, padding, dilation, at[2], at[3], [&](int y, int z, int, int) {
        double const p = pixel(x, at[0], at[1], y, z);
        sum += p;
        if (std::isnan(p) || p > most) most = p;
      });
      return mean ? sum / (size.height * size.width) : most;
    });
  }
};

}  // namespace

TEST_CASE("convolutions of every stride, padding, dilation and number of groups") {
  number_source numbers(51);
  using o = tx::conv2d_options;
  check_conv<o{}>(numbers, {1, 1, 1, 1}, {1, 1, 1, 1});
  check_conv<o{}>(numbers, {2, 3, 5, 4}, {2, 3, 3, 2});
  check_conv<o{}>(numbers, {1, 2, 3, 7}, {3, 2, 3, 7});  // one window
  check_conv<o{.padding = 1}>(numbers, {2, 2, 4, 3}, {3, 2, 3, 3});
  check_conv<o{.stride = 2, .padding = {2, 1}}>(numbers, {1, 2, 7, 6}, {2, 2, 3, 2});
  check_conv<o{.stride = {3, 2}}>(numbers, {2, 1, 8, 7}, {2, 1, 2, 3});  // the last rows are in no window
  check_conv<o{.padding = 2, .dilation = {2, 3}}>(numbers, {1, 2, 5, 6}, {2, 2, 3, 2});
  check_conv<o{.stride = 2, .padding = 1, .dilation = 2}>(numbers, {1, 1, 7, 7}, {1, 1, 3, 3});
  check_conv<o{.padding = 1, .groups = 2}>(numbers, {2, 4, 3, 4}, {6, 2, 3, 3});
  check_conv<o{.stride = 2, .groups = 3}>(numbers, {2, 3, 5, 5}, {3, 1, 2, 2});  // each channel alone
}

TEST_CASE("a convolution of a view") {
  number_source numbers(52);
  check_op(
      "conv2d", {numbers.spread(make_dims({1, 4, 5, 2}), -1, 1), numbers.spread(make_dims({3, 2, 2, 3}), -1, 1)},
      [](vars const& v) { return tx::conv2d(tx::transpose<0, 3, 1, 2>(v[0]), v[1]); },
      [](arrays const& v) {
        array const x = built(make_dims({1, 2, 4, 5}), [&](std::vector<int> const& at) {
          return element(v[0], {at[0], at[2], at[3], at[1]});
        });
        return convolved(x, v[1], nullptr, {});
      });
}

TEST_CASE("pools") {
  number_source numbers(53);
  using o = tx::pool2d_options;
  array const x = numbers.spread(make_dims({2, 3, 6, 7}), -2, 2);
  check_op(
      "max_pool2d<2>", {x}, [](vars const& v) { return tx::max_pool2d<2>(v[0]); }, plain_pool{2, 2, 0});
  check_op(
      "max_pool2d of one window", {x},
      [](vars const& v) {
        return tx::max_pool2d<o{.size = {6, 7}}>(v[0]);
      },
      plain_pool{{6, 7}, {6, 7}, 0});
  check_op(
      "max_pool2d of overlapping windows", {x},
      [](vars const& v) { return tx::max_pool2d<o{.size = 3, .stride = 2, .padding = 1}>(v[0]); }, plain_pool{3, 2, 1});
  check_op(
      "max_pool2d of dilated windows", {x},
      [](vars const& v) {
        return tx::max_pool2d<o{.size = 2, .stride = 1, .padding = {1, 0}, .dilation = 2}>(v[0]);
      },
      plain_pool{2, 1, {1, 0}, 2});
  check_op(
      "avg_pool2d<2>", {x}, [](vars const& v) { return tx::avg_pool2d<2>(v[0]); }, plain_pool{2, 2, 0, 1, true});
  check_op(
      "avg_pool2d of overlapping windows", {x},
      [](vars const& v) {
        return tx::avg_pool2d<o{.size = {3, 2}, .stride = {2, 1}, .padding = 1}>(v[0]);
      },
      plain_pool{{3, 2}, {2, 1}, 1, 1, true});
  // The first of equals has the gradient; NaN is taken; negative numbers are larger than padding.
  array const odd{make_dims({1, 1, 2, 4}), {3, 3, -INFINITY, NAN, 3, 3, -INFINITY, 5}};
  built_op op({odd}, [](vars const& v) { return tx::max_pool2d<2>(v[0]); });
  op.g.outputs.push_back({op.result.id});
  op.g.outputs.push_back({op.differentiate(filled(make_dims({1, 1, 1, 2}), 1))[0]});
  auto const out = run_graph(op.g, {odd, filled(make_dims({1, 1, 1, 2}), 1)}, true);
  CHECK((out[0][0] == 3 && std::isnan(out[0][1])));
  CHECK(out[1] == values{1, 0, 0, 1, 0, 0, 0, 0});
  array const negative{make_dims({1, 1, 1, 1}), {-7}};
  check_op(
      "max_pool2d beside padding", {negative},
      [](vars const& v) { return tx::max_pool2d<o{.size = 2, .stride = 1, .padding = 1}>(v[0]); }, plain_pool{2, 1, 1});
}

TEST_CASE("convolutions and pools refuse what does not fit, with what to do about it") {
  using Catch::Contains;
  auto f = [](std::vector<int> const& dims) { return filled(make_dims(dims)); };
  auto plain = [](vars const& v) { return tx::conv2d(v[0], v[1]); };
  auto grouped = [](vars const& v) { return tx::conv2d<tx::conv2d_options{.groups = 2}>(v[0], v[1]); };
  CHECK_THAT(refusal({f({3, 4, 4}), f({2, 3, 2, 2})}, plain), Contains("four axes") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 3, 4, 4}), f({2, 3, 4})}, plain), Contains("weight needs four axes") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 3, 4, 4}), f({2, 4, 2, 2})}, plain),
             Contains("another number of channels") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 3, 4, 4}), f({2, 3, 5, 2})}, plain), Contains("larger than") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 3, 4, 4}), f({2, 1, 2, 2})}, grouped), Contains("groups") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 4, 4, 4}), f({3, 2, 2, 2})}, grouped), Contains("groups") && Contains("FIX"));
  CHECK_THAT(
      refusal({f({1, 3, 4, 4}), f({2, 3, 2, 2}), f({3})}, [](vars const& v) { return tx::conv2d(v[0], v[1], v[2]); }),
      Contains("bias") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 3, 4, 4}), f({2, 3, 2, 2})},
                     [](vars const& v) { return tx::conv2d<tx::conv2d_options{.stride = 0}>(v[0], v[1]); }),
             Contains("stride") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 3, 4, 4})},
                     [](vars const& v) { return tx::max_pool2d<tx::pool2d_options{.size = 2, .padding = 2}>(v[0]); }),
             Contains("padding") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 3, 4, 4})}, [](vars const& v) { return tx::max_pool2d<5>(v[0]); }),
             Contains("larger than") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 3, 6, 6})},
                     [](vars const& v) { return tx::avg_pool2d<tx::pool2d_options{.size = 2, .dilation = 2}>(v[0]); }),
             Contains("dilation") && Contains("FIX"));
}
