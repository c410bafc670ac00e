// What the rules of ops refuse. A program that breaks one does not compile; here the same rules run on handles without
// types. (What compilers print is tested by tests/fail.)
#include <tx/dist/all_reduce.hpp>
#include <tx/dist/shard.hpp>
#include <tx/dist/shard_add.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/expr/trace.hpp>
#include <tx/nn/rotary.hpp>
#include <tx/ops/abs.hpp>
#include <tx/ops/argmax.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/conv2d.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/einsum.hpp>
#include <tx/ops/embedding_bag.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/gather_all.hpp>
#include <tx/ops/group_norm.hpp>
#include <tx/ops/huber.hpp>
#include <tx/ops/logical_not.hpp>
#include <tx/ops/mse.hpp>
#include <tx/ops/one_hot.hpp>
#include <tx/ops/pool2d.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/reciprocal.hpp>
#include <tx/ops/scatter_add.hpp>
#include <tx/ops/sign.hpp>
#include <tx/ops/split.hpp>
#include <tx/ops/stack.hpp>
#include <tx/ops/top_k.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/ops/triangle.hpp>
#include <tx/ops/update_at.hpp>
#include <tx/train/updates.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

// Arguments of a graph, each a new one.
struct inputs {
  graph g{};
  int count = 0;

  template <class T, auto... Dims>
  var of() {
    return emit_leaf(g, input_info, tensor<T, Dims...>::info, attributes{{count++}});
  }
  template <auto... Dims>
  var f32s() {
    return of<float, Dims...>();
  }
  template <auto... Dims>
  var ids() {
    return of<i32, Dims...>();
  }
  template <auto... Dims>
  var halves() {
    return of<bf16, Dims...>();
  }
};

// The text, from its first letter on, is what `record` throws; every one says what to do.
void refused(std::string const& text, void (*record)(inputs& in)) {
  INFO(text);
  inputs in;
  std::string said = "nothing";
  try {
    record(in);
  } catch (invalid const& e) {
    said = e.what();
  }
  CHECK_THAT(said, Catch::StartsWith(text) && Catch::Contains(". FIX: "));
}

constexpr auto some = dyn<4>;

struct scaled {
  param<tensor<float, 4>> scale;
  constexpr auto operator()(auto const& x) const { return x * scale; }
};
struct twice {
  repeat<2, scaled, peel::last> body;
  constexpr auto operator()(auto const& x) const { return body(x); }
};
struct six_times {
  repeat<3, twice> body;
};

}  // namespace

TEST_CASE("elementwise ops refuse shapes and types that do not meet", "[refused]") {
  refused("shapes do not broadcast: aligned at the right, extents must be equal or 1. FIX: ",
          [](inputs& in) { in.f32s<2, 3>() + in.f32s<2>(); });
  refused("a bounded extent meets another extent. FIX: ", [](inputs& in) { in.f32s<some>() + in.f32s<dyn<4, 2>>(); });
  refused("element types differ. FIX: ", [](inputs& in) { in.f32s<2>() + in.halves<2>(); });
  refused("shapes differ. FIX: broadcast_to", [](inputs& in) { emit(add_info, {in.f32s<2>(), in.f32s<3>()}); });
  refused("this op needs floating-point elements. FIX: ", [](inputs& in) { exp(in.ids<2>()); });
  refused("this op needs numbers, not bool. FIX: ", [](inputs& in) { sign(in.of<bool, 2>()); });
  refused("this op needs bool tensors. FIX: ", [](inputs& in) { logical_not(in.f32s<2>()); });
  refused("where: the condition is no bool tensor. FIX: ", [](inputs& in) { where(in.f32s<2>(), 1.0, in.f32s<2>()); });
  refused("where: shapes differ. FIX: ", [](inputs& in) {
    emit(where_info, {in.of<bool, 2>(), in.f32s<3>(), in.f32s<3>()});
  });
  refused("reciprocal: an integer has none. FIX: ", [](inputs& in) { reciprocal(in.ids<2>()); });
  refused("a fraction meets an integer tensor. FIX: ", [](inputs& in) { in.ids<2>() * 0.5; });
  constexpr auto beyond_type = "a number meets integers of a type that does not hold it. FIX: ";
  refused(beyond_type, [](inputs& in) { in.ids<2>() + 5000000000; });
  refused(beyond_type, [](inputs& in) { 2147483648u - in.ids<2>(); });
  refused(beyond_type, [](inputs& in) { less(in.of<u8, 2>(), -1); });
  refused(beyond_type, [](inputs& in) { maximum(in.of<i8, 2>(), 128.0); });
  refused(beyond_type, [](inputs& in) { maximum(in.ids<2>(), -std::numeric_limits<double>::infinity()); });
  constexpr auto beyond_f64 = "a number meets integers, and f64 does not hold it. FIX: ";
  refused(beyond_f64, [](inputs& in) { in.of<i64, 2>() + 9007199254740993; });
  refused(beyond_f64, [](inputs& in) { in.of<i64, 2>() + std::numeric_limits<i64>::max(); });
  refused(beyond_f64, [](inputs& in) { in.of<i64, 2>() + (std::uint64_t{1} << 63); });
  refused(beyond_f64, [](inputs& in) { in.of<i64, 2>() + 1e300; });
  refused("a result of a run is a view of numbers, not a part of a graph. FIX: ",
          [](inputs&) { exp(tensor<float, 2>{}); });
}

TEST_CASE("views refuse axes and extents that are not there", "[refused]") {
  refused("slice: the tensor has no such axis", [](inputs& in) { slice<1, 0, 1>(in.f32s<4>()); });
  refused("slice: it reaches beyond the axis. FIX: ", [](inputs& in) { slice<0, 1, 4>(in.f32s<4>()); });
  refused("slice: it reaches beyond the axis. FIX: ", [](inputs& in) { slice<0, 0, 3, 2>(in.f32s<4>()); });
  refused("slice: it reaches beyond the axis. FIX: ", [](inputs& in) { slice<0, -1, 1>(in.f32s<4>()); });
  refused("slice: of a bounded axis as many elements are asked for as it has at the most", [](inputs& in) { slice<0, 0, 4>(in.f32s<some>()); });
  refused("pad: the tensor has no such axis", [](inputs& in) { pad(in.f32s<4>(), 1, 0, 1, 4); });
  refused("pad: the tensor does not fit the new extent", [](inputs& in) { pad(in.f32s<4>(), 0, 0, 1, 3); });
  refused("split: the tensor has no such axis. FIX: ", [](inputs& in) { split<1, 2>(in.f32s<4>()); });
  refused("split: the extent is no multiple of the number of parts. FIX: ",
          [](inputs& in) { split<0, 3>(in.f32s<4>()); });
  refused("split_sizes: the sizes do not add up to the extent. FIX: ",
          [](inputs& in) { split_sizes<0, 1, 2>(in.f32s<4>()); });
  refused("concat: the tensors have no such axis. FIX: ", [](inputs& in) { concat<1>(in.f32s<4>(), in.f32s<4>()); });
  refused("concat: a bounded axis has no fixed end to go on from. FIX: ",
          [](inputs& in) { concat<0>(in.f32s<some>(), in.f32s<4>()); });
  refused("concat: element types differ. FIX: ", [](inputs& in) { concat<0>(in.f32s<4>(), in.halves<4>()); });
  refused("concat: extents of axes that are not joined differ. FIX: ",
          [](inputs& in) { concat<0>(in.f32s<2, 3>(), in.f32s<2, 4>()); });
  refused("stack: the tensors have as many axes as a tensor may have. FIX: ",
          [](inputs& in) { stack<0>(in.f32s<1, 1, 1, 1, 1, 1>(), in.f32s<1, 1, 1, 1, 1, 1>()); });
  refused("stack: the result has no such axis. FIX: ", [](inputs& in) { stack<2>(in.f32s<4>(), in.f32s<4>()); });
  refused("broadcast_to: an extent is neither 1 nor the one asked for. FIX: ",
          [](inputs& in) { broadcast_to<3, 4>(in.f32s<2, 4>()); });
  refused("broadcast_to: the tensor has more axes than asked for. FIX: ",
          [](inputs& in) { broadcast_to<4>(in.f32s<2, 4>()); });
  refused("broadcast_to: a bounded extent meets a fixed one. FIX: ",
          [](inputs& in) { broadcast_to<4, 3>(in.f32s<some, 1>()); });
  refused("reshape: the new extents hold another number of elements. FIX: ",
          [](inputs& in) { reshape<5>(in.f32s<2, 2>()); });
  refused("reshape: it is not told which of the new extents is the bounded one. FIX: ",
          [](inputs& in) { reshape<3, 4>(in.f32s<some, 3>()); });
  refused("reshape: a bounded extent is lost. FIX: ", [](inputs& in) { reshape<dyn<4, 2>, 3>(in.f32s<some, 3>()); });
  refused("a tensor has one bounded extent more than three times. FIX: ", [](inputs& in) { broadcast_to<some, some, some, some>(in.f32s<some>()); });
  refused("reshape: the extent asked for with -1 would not be whole. FIX: ",
          [](inputs& in) { reshape<-1, 3>(in.f32s<4>()); });
  refused("transpose: the axes must name each axis of the tensor once. FIX: ",
          [](inputs& in) { transpose<0, 0>(in.f32s<2, 3>()); });
  refused("transpose: as many axes must be named as the tensor has", [](inputs& in) { transpose<0>(in.f32s<2, 3>()); });
  refused("transpose: the tensor has fewer than two axes", [](inputs& in) { transpose(in.f32s<2>()); });
  refused("tril, triu: a triangle lies in two axes, the last ones. FIX: ", [](inputs& in) { tril(in.f32s<4>()); });
  refused("flip: the tensor has no such axis. FIX: ", [](inputs& in) { flip<1>(in.f32s<4>()); });
  refused("iota: the shape has no such axis", [](inputs& in) { iota(in.g, shape{1, {}, {3}}, 1); });
}

TEST_CASE("products and windows refuse extents that do not meet", "[refused]") {
  refused("matmul: both sides need one floating-point type. FIX: ",
          [](inputs& in) { matmul(in.ids<2, 2>(), in.ids<2, 2>()); });
  refused("matmul: both sides need at least two axes. FIX: ", [](inputs& in) { matmul(in.f32s<2>(), in.f32s<2>()); });
  refused("matmul: the last extent of the left side is not the last but one of the right side. FIX: ",
          [](inputs& in) { matmul(in.f32s<2, 3>(), in.f32s<2, 3>()); });
  refused("matmul: batch extents differ. FIX: ", [](inputs& in) { matmul(in.f32s<2, 3, 3>(), in.f32s<4, 3, 3>()); });
  refused("matmul: what is summed over is a bounded extent on one side, and on the other another one, or a fixed one. FIX: ",
          [](inputs& in) { matmul(in.f32s<2, 4>(), in.f32s<some, 3>()); });
  refused("a window runs along a bounded axis, whose end is known at run time only. FIX: ",
          [](inputs& in) { avg_pool2d<pool2d_options{.size = 2}>(in.f32s<1, 1, some, 4>()); });
  refused("einsum: the string holds something else than letters, commas and one \"->\". FIX: ",
          [](inputs& in) { einsum<"i?->i">(in.f32s<3>()); });
  refused("einsum: the string has neither commas nor \"->\". FIX: ", [](inputs& in) { einsum<"ij">(in.f32s<3, 3>()); });
  refused("einsum: the string does not name the result. FIX: ",
          [](inputs& in) { einsum<"ij,jk">(in.f32s<3, 3>(), in.f32s<3, 3>()); });
  refused("einsum: a letter is twice in one operand or in the result. FIX: ",
          [](inputs& in) { einsum<"ii->i">(in.f32s<3, 3>()); });
  refused("einsum: the result names a letter that no operand has. FIX: ",
          [](inputs& in) { einsum<"i->ij">(in.f32s<3>()); });
  refused("einsum: the string names another number of operands than there are. FIX: ",
          [](inputs& in) { einsum<"i,j->ij">(in.f32s<3>()); });
  refused("einsum: an operand has another number of axes than letters. FIX: ",
          [](inputs& in) { einsum<"ij->i">(in.f32s<3>()); });
  refused("einsum: a letter stands for two extents. FIX: ",
          [](inputs& in) { einsum<"i,i->i">(in.f32s<3>(), in.f32s<4>()); });
  refused("einsum: a tensor in between has more axes than a tensor may have. FIX: ",
          [](inputs& in) { einsum<"abcdefg->a">(in.f32s<3>()); });
  refused("convolutions and pools need four axes, [batch, channel, height, width]. FIX: ",
          [](inputs& in) { max_pool2d<2>(in.f32s<8, 8>()); });
  refused("a window's size, stride and dilation are at least 1, its padding at least 0. FIX: ",
          [](inputs& in) { max_pool2d<pool2d_options{.size = 2, .dilation = 0}>(in.f32s<1, 1, 8, 8>()); });
  refused("a window is larger than the padded tensor. FIX: ", [](inputs& in) { max_pool2d<9>(in.f32s<1, 1, 8, 8>()); });
  refused("max_pool2d, avg_pool2d: the padding is more than half a window. FIX: ",
          [](inputs& in) { max_pool2d<pool2d_options{.size = 2, .padding = 2}>(in.f32s<1, 1, 8, 8>()); });
  refused("avg_pool2d: windows have no dilation. FIX: ",
          [](inputs& in) { avg_pool2d<pool2d_options{.size = 2, .dilation = 2}>(in.f32s<1, 1, 8, 8>()); });
  refused("conv2d: the weight needs four axes", [](inputs& in) { conv2d(in.f32s<1, 3, 8, 8>(), in.f32s<3, 3>()); });
  refused("conv2d: the weight is for another number of channels. FIX: ",
          [](inputs& in) { conv2d(in.f32s<1, 3, 8, 8>(), in.f32s<2, 4, 3, 3>()); });
  refused("conv2d: the groups do not divide the channels. FIX: ",
          [](inputs& in) { conv2d<conv2d_options{.groups = 2}>(in.f32s<1, 3, 8, 8>(), in.f32s<2, 3, 3, 3>()); });
  refused("conv2d: the bias needs one number for each channel of the result. FIX: ",
          [](inputs& in) { conv2d(in.f32s<1, 3, 8, 8>(), in.f32s<2, 3, 3, 3>(), in.f32s<3>()); });
}

TEST_CASE("look-ups refuse ids and tables that are none", "[refused]") {
  refused("in_range: ids and labels must be an integer tensor. FIX: ",
          [](inputs& in) { gather<0>(in.f32s<4>(), in.f32s<4>()); });
  refused("gather: the tensor has no such axis. FIX: ", [](inputs& in) { gather<1>(in.f32s<4>(), in.ids<4>()); });
  refused("gather: the tensor and its ids differ beside the axis. FIX: ",
          [](inputs& in) { gather<1>(in.f32s<3, 4>(), in.ids<2, 4>()); });
  refused("gather, scatter_add: a bounded axis has no fixed range of ids. FIX: ",
          [](inputs& in) { gather<0>(in.f32s<some>(), in.ids<some>()); });
  refused("gather, scatter_add: ids must be an integer tensor. FIX: ",
          [](inputs& in) { scatter_add<0>(in.f32s<4>(), in.f32s<2>(), in.f32s<2>()); });
  refused("scatter_add: the tensor has no such axis. FIX: ",
          [](inputs& in) { scatter_add<1>(in.f32s<4>(), in.ids<2>(), in.f32s<2>()); });
  refused("scatter_add: there is not one value for each id. FIX: ",
          [](inputs& in) { scatter_add<0>(in.f32s<4>(), in.ids<2>(), in.f32s<3>()); });
  refused("scatter_add: element types differ. FIX: ",
          [](inputs& in) { scatter_add<0>(in.f32s<4>(), in.ids<2>(), in.halves<2>()); });
  refused("scatter_add: elements are bool. FIX: ",
          [](inputs& in) { scatter_add<0>(in.of<bool, 4>(), in.ids<2>(), in.of<bool, 2>()); });
  refused("scatter_add: the tensor and its ids differ beside the axis. FIX: ",
          [](inputs& in) { scatter_add<0>(in.f32s<4, 2>(), in.ids<2, 3>(), in.f32s<2, 3>()); });
  refused("embedding: the table needs two axes", [](inputs& in) { embedding(in.f32s<4>(), in.ids<2>()); });
  refused("embedding: ids must be an integer tensor. FIX: ",
          [](inputs& in) { embedding(in.f32s<4, 2>(), in.of<i32>()); });
  refused("embedding: a bag of a bounded number of ids. FIX: ",
          [](inputs& in) { embedding(in.f32s<4, 2>(), in.ids<some>()); });
  refused("embedding: bags without room for an id. FIX: ",
          [](inputs& in) { embedding(in.f32s<4, 2>(), in.ids<2, 0>()); });
  refused("embedding_bag: ids have as many axes as a tensor may have. FIX: ",
          [](inputs& in) { embedding_bag<bag_mode::max>(in.f32s<4, 2>(), in.ids<1, 1, 1, 1, 1, 1>()); });
  refused("take: ids have as many axes as a tensor may have. FIX: ",
          [](inputs& in) { take(in.f32s<4, 2>(), in.ids<1, 1, 1, 1, 1, 1>()); });
  refused("slice_at, update_at: the start is one integer. FIX: ", [](inputs& in) { slice_at<0, 2>(in.f32s<4>(), in.f32s<>()); });
  refused("slice_at, update_at: the start is one integer. FIX: ", [](inputs& in) { slice_at<0, 2>(in.f32s<4>(), in.ids<1>()); });
  refused("slice_at, update_at: there are more elements than the axis has. FIX: ", [](inputs& in) { slice_at<0, 5>(in.f32s<4>(), in.ids<>()); });
  refused("slice_at, update_at: a bounded axis has no fixed starts. FIX: ", [](inputs& in) { slice_at<0, 2>(in.f32s<some>(), in.ids<>()); });
  refused("slice_at: the tensor has no such axis. FIX: ", [](inputs& in) { slice_at<1, 1>(in.f32s<4>(), in.ids<>()); });
  refused("update_at: the tensor has no such axis. FIX: ", [](inputs& in) { update_at<1>(in.f32s<4>(), in.f32s<2>(), in.ids<>()); });
  refused("update_at: element types differ. FIX: ", [](inputs& in) { update_at<0>(in.f32s<4>(), in.ids<2>(), in.ids<>()); });
  refused("update_at: the tensor and what is put into it differ beside the axis. FIX: ",
          [](inputs& in) { update_at<0>(in.f32s<4, 3>(), in.f32s<2, 2>(), in.ids<>()); });
  refused("slice_at, update_at: there are more elements than the axis has. FIX: ", [](inputs& in) { update_at<0>(in.f32s<4>(), in.f32s<5>(), in.ids<>()); });
  refused("rotary: there is not one integer for each place. FIX: ", [](inputs& in) { nn::rotary(in.f32s<3, 4>(), in.ids<2>()); });
  refused("rotary: it takes [..., places, head] with an even head. FIX: ", [](inputs& in) { nn::rotary(in.f32s<3, 5>()); });
  refused("embedding_bag: a mean or maximum over a table with a bounded number of rows. FIX: ",
          [](inputs& in) { embedding_bag<bag_mode::mean>(in.f32s<some, 2>(), in.ids<3>()); });
  refused("embedding_bag: there is not one weight of the table's type for each id. FIX: ",
          [](inputs& in) { embedding_bag(in.f32s<4, 2>(), in.ids<3>(), in.f32s<2>()); });
  refused("embedding_bag: ids need one axis, and room for one more. FIX: ",
          [](inputs& in) { embedding_bag(in.f32s<4, 2>(), in.ids<>(), in.f32s<>()); });
  refused("one_hot: the result would have too many axes. FIX: ",
          [](inputs& in) { one_hot<3>(in.ids<1, 1, 1, 1, 1, 1>()); });
  refused("top_k: more elements are asked for than the last axis has. FIX: ",
          [](inputs& in) { top_k<5>(in.f32s<2, 4>()); });
  refused("top_k: a bounded axis may have fewer elements than K. FIX: ", [](inputs& in) { top_k<2>(in.f32s<some>()); });
  refused("argmax, argmin: the tensor has no such axis. FIX: ", [](inputs& in) { argmax<1>(in.f32s<4>()); });
  refused("argmax, argmin: the axis is empty and has no largest element. FIX: ",
          [](inputs& in) { argmax<1>(in.f32s<2, 0>()); });
}

TEST_CASE("reductions and losses refuse what they cannot reduce", "[refused]") {
  refused("reduction: the tensor has no such axis. FIX: ", [](inputs& in) { sum<1>(in.f32s<4>()); });
  refused("a reduction over the last axis needs a last axis", [](inputs& in) { emit(row_sum_info, {in.f32s<>()}); });
  refused("a reduction over a bounded vector is not a row reduction",
          [](inputs& in) { emit(row_sum_info, {in.f32s<some>()}); });
  constexpr auto number_wanted = "this op needs numbers, not bool. FIX: ";
  refused(number_wanted, [](inputs& in) { in.of<bool, 4>() + in.of<bool, 4>(); });
  refused(number_wanted, [](inputs& in) { in.of<bool, 4>() - in.of<bool, 4>(); });
  refused(number_wanted, [](inputs& in) { in.of<bool, 4>() * in.of<bool, 4>(); });
  refused(number_wanted, [](inputs& in) { in.of<bool, 4>() / in.of<bool, 4>(); });
  refused(number_wanted, [](inputs& in) { -in.of<bool, 4>(); });
  refused(number_wanted, [](inputs& in) { abs(in.of<bool, 4>()); });
  refused("sum, mean: elements are bool. FIX: ", [](inputs& in) { sum(in.of<bool, 4>()); });
  refused("sum, mean: elements are bool. FIX: ", [](inputs& in) { sum<1>(in.of<bool, 4, 1>()); });
  refused("sum, mean: elements are bool. FIX: ", [](inputs& in) { mean<0>(in.of<bool, 4>()); });
  refused("prod: elements are bool. FIX: ", [](inputs& in) { prod<-1>(in.of<bool, 2, 2>()); });
  refused("cumsum: elements are bool. FIX: ", [](inputs& in) { cumsum<0>(in.of<bool, 2>()); });
  refused("cumsum: the tensor has no such axis. FIX: ", [](inputs& in) { cumsum<1>(in.f32s<2>()); });
  refused("reduction::batch_mean: axis 0 has no extent that is known while compiling. FIX: ",
          [](inputs& in) { mse<reduction::batch_mean>(in.f32s<some, 2>(), in.f32s<some, 2>()); });
  refused("a loss compares tensors of one shape. FIX: ", [](inputs& in) { mse(in.f32s<2, 1>(), in.f32s<2>()); });
  refused("huber: delta must be above 0. FIX: ", [](inputs& in) { huber(in.f32s<2>(), in.f32s<2>(), 0.0); });
  refused("smooth_l1: beta must be above 0. FIX: ", [](inputs& in) { smooth_l1(in.f32s<2>(), in.f32s<2>(), -1.0); });
  refused("cross_entropy, nll: labels must be integers. FIX: ", [](inputs& in) { nll(in.f32s<2, 3>(), in.f32s<2>()); });
  refused("cross_entropy, nll: labels have the axes of the logits less the last one, the classes, and these have others. FIX: ", [](inputs& in) { nll(in.f32s<2, 1, 3>(), in.ids<2>()); });
  refused("cross_entropy, nll: labels and logits differ in their leading extents. FIX: ",
          [](inputs& in) { nll(in.f32s<2, 3>(), in.ids<4>()); });
  refused("cross_entropy, nll: per_class holds one weight for each class. FIX: ",
          [](inputs& in) { cross_entropy(in.f32s<2, 3>(), in.ids<2>(), per_class<var>{in.f32s<2>()}); });
  refused("cross_entropy, nll: options are numbers known while compiling. FIX: ",
          [](inputs& in) { tx::detail::nll_fn{}(in.ids<2>(), in.f32s<2, 3>(), in.f32s<>(), in.f32s<>()); });
  refused("cross_entropy: weights must have the shape of the labels. FIX: ",
          [](inputs& in) { cross_entropy(in.f32s<2, 3>(), in.ids<2>(), in.f32s<3>()); });
  refused("label_smoothing is a share. FIX: ",
          [](inputs& in) { nll(in.f32s<2, 3>(), in.ids<2>(), label_options{.label_smoothing = 1.5}); });
  refused("ignore_index is beyond any label. FIX: ",
          [](inputs& in) { nll(in.f32s<2, 3>(), in.ids<2>(), label_options{.ignore_index = 1 << 25}); });
  refused("group_norm: the tensor has no axis of channels. FIX: ",
          [](inputs& in) { group_norm<1>(in.f32s<4>(), in.f32s<4>(), in.f32s<4>()); });
  refused("group_norm: the channels do not divide into the groups. FIX: ",
          [](inputs& in) { group_norm<4>(in.f32s<2, 6>(), in.f32s<6>(), in.f32s<6>()); });
  refused("group_norm: scale and shift hold one number for each channel. FIX: ",
          [](inputs& in) { group_norm<3>(in.f32s<2, 6>(), in.f32s<6>(), in.f32s<2>()); });
}

TEST_CASE("what steps are made of refuses shapes that it cannot divide or gather", "[refused]") {
  refused("gather_all: nothing to gather", [](inputs& in) {
    in.g.emit(&gather_all_info, nullptr, 0, attributes{{0, 1}});
  });
  refused("all_reduce: sums are of floating-point numbers. FIX: ", [](inputs& in) { all_reduce(in.ids<2>()); });
  refused("shard_add: two values of one type and shape",
          [](inputs& in) { shard_add(in.f32s<2>(), in.f32s<3>()); });
  refused("shards: a result of the loss, or what a state of the model becomes",
          [](inputs& in) { shard_add(in.ids<2>(), in.ids<2>()); });
  refused("virtual_shards: an argument needs a fixed leading axis that can be cut",
          [](inputs& in) { dist::detail::shard_leaf(in.g, in.g[in.f32s<>().id], 0, 2); });
  refused("virtual_shards: an argument needs a fixed leading axis that can be cut",
          [](inputs& in) { dist::detail::shard_leaf(in.g, in.g[in.f32s<some>().id], 0, 2); });
  refused("repeat: inside another repeat nothing can be peeled", [](inputs& in) {
    six_times m{};
    bind_parameters(m, in.g);
    m.body(tensor<float, 4>{&in.g, in.f32s<4>().id});
  });
  refused("a gradient rule gave a gradient of another shape or type than its input", [](inputs& in) {
    static constexpr op_info wide =
        elementwise_op<rules::exp, 1>("wide", [](vjp_context& c) { c.accumulate(0, sum_all(c.gradient)); });
    var const w = emit_leaf(in.g, parameter_info, tensor<float, 4>::info);
    gradients(in.g, sum_all(emit(wide, {w})).id, vec<int>{w.id});
  });
  refused("a loss must be a floating-point scalar. FIX: ", [](inputs& in) {
    var const w = emit_leaf(in.g, parameter_info, tensor<float, 4>::info);
    gradients(in.g, exp(w).id, vec<int>{w.id});
  });
}
