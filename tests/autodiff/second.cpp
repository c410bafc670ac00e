// Second derivatives of every op that has them against central differences of first ones; those that have none are
// refused.
#include "../interpreter/passes.hpp"
#include "second.hpp"

#include <tx/ops/binary_cross_entropy.hpp>
#include <tx/ops/clamp.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/cos.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/einsum.hpp>
#include <tx/ops/elu.hpp>
#include <tx/ops/embedding_bag.hpp>
#include <tx/ops/expm1.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/floor.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/group_norm.hpp>
#include <tx/ops/huber.hpp>
#include <tx/ops/kl_div.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/leaky_relu.hpp>
#include <tx/ops/log1p.hpp>
#include <tx/ops/logsumexp.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/mse.hpp>
#include <tx/ops/normalize.hpp>
#include <tx/ops/pow.hpp>
#include <tx/ops/reciprocal.hpp>
#include <tx/ops/relu.hpp>
#include <tx/ops/rms_norm.hpp>
#include <tx/ops/sign.hpp>
#include <tx/ops/silu.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/softplus.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/square.hpp>
#include <tx/ops/stack.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/triangle.hpp>
#include <tx/ops/variance.hpp>

namespace {

using tx::var;
using vars = std::vector<var>;

knows_whole<&tx::concat_info> const concat_rule;
knows_whole<&tx::flip_info> const flip_rule;

struct unary_op {
  char const* name;
  var (*op)(var);
  double lo, hi;
};
unary_op const unary_ops[] = {
    {"neg", [](var x) { return -x; }, -3, 3},
    {"abs", [](var x) { return tx::abs(x); }, -3.1, 3},
    {"exp", [](var x) { return tx::exp(x); }, -2, 1},
    {"expm1", [](var x) { return tx::expm1(x); }, -2, 1},
    {"log", [](var x) { return tx::log(x); }, 0.5, 4},
    {"log1p", [](var x) { return tx::log1p(x); }, -0.5, 4},
    {"sqrt", [](var x) { return tx::sqrt(x); }, 0.5, 4},
    {"rsqrt", [](var x) { return tx::rsqrt(x); }, 0.5, 4},
    {"tanh", [](var x) { return tx::tanh(x); }, -2, 2},
    {"sigmoid", [](var x) { return tx::sigmoid(x); }, -4, 4},
    {"erf", [](var x) { return tx::erf(x); }, -2, 2},
    {"gelu", [](var x) { return tx::gelu(x); }, -3, 3},
    {"gelu_tanh", [](var x) { return tx::gelu_tanh(x); }, -3, 3},
    {"sin", [](var x) { return tx::sin(x); }, -4, 4},
    {"cos", [](var x) { return tx::cos(x); }, -4, 4},
    {"x^0", [](var x) { return tx::pow(x, 0) * x; }, -2, 2},
    {"x^1", [](var x) { return tx::pow(x, 1); }, -2, 2},
    {"x^2", [](var x) { return tx::pow(x, 2); }, -2, 2},
    {"x^5", [](var x) { return tx::pow(x, 5); }, -1.5, 1.5},
    {"x^-1.5", [](var x) { return tx::pow(x, -1.5); }, 0.6, 3},
    {"1.7^x", [](var x) { return tx::pow(1.7, x); }, -2, 2},
    {"softplus", [](var x) { return tx::softplus(x); }, -4, 4},
    {"relu", [](var x) { return tx::relu(x); }, -3.1, 3},
    {"leaky_relu", [](var x) { return tx::leaky_relu(x); }, -3.1, 3},
    {"elu", [](var x) { return tx::elu(x, 0.7); }, -3.1, 3},
    {"silu", [](var x) { return tx::silu(x); }, -4, 4},
    {"square", [](var x) { return tx::square(x); }, -2, 2},
    {"reciprocal", [](var x) { return tx::reciprocal(x); }, 0.5, 3},
    {"floor x", [](var x) { return tx::floor(x) * x + x; }, 0.1, 0.9},
    {"sign x", [](var x) { return tx::sign(x) * x; }, -3.1, 3},
    {"clamp", [](var x) { return tx::clamp(x, -1, 1.2); }, -3.1, 3},
    {"maximum(x, number)", [](var x) { return tx::maximum(x, 0.3); }, -3.1, 3},
    {"minimum(x, number)", [](var x) { return tx::minimum(x, 0.3); }, -3.1, 3},
    {"x * x * x", [](var x) { return x * x * x; }, -2, 2},
    {"cast", [](var x) { return tx::cast<tx::f64>(tx::cast<tx::f32>(x) * 2); }, -2, 2},
};

struct binary_op {
  char const* name;
  var (*op)(var, var);
  double lo, hi;
};
binary_op const binary_ops[] = {
    {"add", [](var a, var b) { return a + b; }, -2, 2},
    {"sub", [](var a, var b) { return a - b; }, -2, 2},
    {"mul", [](var a, var b) { return a * b; }, -2, 2},
    {"div", [](var a, var b) { return a / b; }, 0.5, 3},
    {"pow", [](var a, var b) { return tx::pow(a, b); }, 0.5, 2.5},
    {"maximum", [](var a, var b) { return tx::maximum(a, b); }, -2, 2},
    {"minimum", [](var a, var b) { return tx::minimum(a, b); }, -2, 2},
    {"where", [](var a, var b) { return tx::where(tx::less(a, b), a * a, b * a); }, -2, 2},
    {"clamp", [](var a, var b) { return tx::clamp(a, b, 5); }, -2, 2},
};

array spread(std::vector<int> const& dims, double lo = -1, double hi = 1, double phase = 0.5) {
  number_source numbers(3);
  return numbers.spread(make_dims(dims), lo, hi, phase);
}
array integers(std::vector<int> const& dims, int lo, int hi) {
  number_source numbers(5);
  return numbers.integers(make_dims(dims), lo, hi);
}
// Squared, what is linear has second derivatives too.
void check(std::string const& name, std::vector<array> const& args, op_builder const& build) {
  check_second(name, args, [&](vars const& v) {
    var const y = build(v);
    return y * y + y;
  });
}

}  // namespace

TEST_CASE("second derivatives of elementwise ops", "[second]") {
  for (unary_op const& u : unary_ops)
    check(u.name, {spread({2, 3}, u.lo, u.hi)}, [&](vars const& v) { return u.op(v[0]); });
  for (binary_op const& b : binary_ops) {  // either side broadcast
    check(b.name, {spread({2, 3}, b.lo, b.hi, 0.25), spread({3}, b.lo, b.hi, 0.7)},
          [&](vars const& v) { return b.op(v[0], v[1]); });
    check(b.name, {spread({2, 1}, b.lo, b.hi, 0.25), spread({2, 3}, b.lo, b.hi, 0.7)},
          [&](vars const& v) { return b.op(v[0], v[1]); });
  }
}

TEST_CASE("second derivatives of products, reductions and views", "[second]") {
  check("matmul", {spread({2, 3}), spread({3, 4}, -1, 1.1)}, [](vars const& v) { return tx::matmul(v[0], v[1]); });
  check("matmul of a batch", {spread({2, 2, 3}), spread({2, 3, 2}, -1, 1.1)},
        [](vars const& v) { return tx::matmul(v[0], v[1]); });
  check("matmul, one right side", {spread({2, 2, 3}), spread({3, 2}, -1, 1.1)},
        [](vars const& v) { return tx::matmul(v[0], v[1]); });
  check("einsum", {spread({2, 3}), spread({4, 3}, -1, 1.1)},
        [](vars const& v) { return tx::einsum<"ij,kj->ki">(v[0], v[1]); });
  check("sum<0>", {spread({2, 3})}, [](vars const& v) { return tx::sum<0>(v[0]); });
  check("sum<1>", {spread({2, 3, 2})}, [](vars const& v) { return tx::sum<1>(v[0]); });
  check("mean", {spread({2, 3})}, [](vars const& v) { return tx::mean(v[0]); });
  check("variance", {spread({2, 3})}, [](vars const& v) { return tx::variance<-1>(v[0]); });
  check("max<-1>", {spread({2, 3})}, [](vars const& v) { return tx::max<-1>(v[0]); });
  check("logsumexp", {spread({2, 3})}, [](vars const& v) { return tx::logsumexp<-1>(v[0]); });
  check("transpose", {spread({2, 3}), spread({3, 2}, 1, 2)}, [](vars const& v) { return tx::transpose(v[0]) * v[1]; });
  check("reshape", {spread({2, 3})}, [](vars const& v) { return tx::reshape<3, 2>(v[0]); });
  check("broadcast_to", {spread({3})}, [](vars const& v) { return tx::broadcast_to<2, 3>(v[0]); });
  check("slice", {spread({5, 2})}, [](vars const& v) { return tx::slice<0, 1, 2, 2>(v[0]); });
  check("triangle", {spread({3, 3})}, [](vars const& v) { return tx::tril(v[0]); });
}

TEST_CASE("second derivatives of norms and losses", "[second]") {
  check("softmax", {spread({2, 4}, -2, 2)}, [](vars const& v) { return tx::softmax(v[0]); });
  check("softmax<0>", {spread({3, 2}, -2, 2)}, [](vars const& v) { return tx::softmax<0>(v[0]); });
  check("log_softmax", {spread({2, 4}, -2, 2)}, [](vars const& v) { return tx::log_softmax(v[0]); });
  check("layer_norm", {spread({2, 4}), spread({4}, 0.5, 1.5), spread({4})},
        [](vars const& v) { return tx::layer_norm(v[0], v[1], v[2]); });
  check("rms_norm", {spread({2, 4}), spread({4}, 0.5, 1.5)}, [](vars const& v) { return tx::rms_norm(v[0], v[1]); });
  check("group_norm", {spread({2, 4, 3}), spread({4}, 0.5, 1.5), spread({4})},
        [](vars const& v) { return tx::group_norm<2>(v[0], v[1], v[2]); });
  check("normalize", {spread({2, 4}, 0.2, 1)}, [](vars const& v) { return tx::normalize(v[0]); });
  check("cross_entropy", {spread({3, 4}, -2, 2), integers({3}, 0, 4)},
        [](vars const& v) { return tx::cross_entropy(v[0], v[1]); });
  check("cross_entropy, weighted", {spread({3, 4}, -2, 2), integers({3}, 0, 4), spread({3}, 0.5, 1)},
        [](vars const& v) { return tx::cross_entropy(v[0], v[1], v[2]); });
  check("cross_entropy, smoothed", {spread({3, 4}, -2, 2), integers({3}, 0, 4)}, [](vars const& v) {
    return tx::cross_entropy(v[0], v[1], tx::label_options{.ignore_index = 2, .label_smoothing = 0.2});
  });
  check("binary_cross_entropy", {spread({3}, -2, 2), spread({3}, 0.1, 0.9)},
        [](vars const& v) { return tx::binary_cross_entropy_with_logits(v[0], v[1]); });
  check("mse", {spread({3}), spread({3}, -2, 1)}, [](vars const& v) { return tx::mse(v[0], v[1]); });
  check("huber", {spread({4}, -3.1, 3), spread({4}, 0.1, 0.2)}, [](vars const& v) { return tx::huber(v[0], v[1]); });
  check("kl_div", {spread({3}, -2, -1), spread({3}, 0.1, 0.9)}, [](vars const& v) { return tx::kl_div(v[0], v[1]); });
}

TEST_CASE("second derivatives of look-ups and of ops along axes", "[second]") {
  check("embedding", {spread({5, 2}), integers({3, 2}, -1, 5)},
        [](vars const& v) { return tx::embedding(v[0], v[1]); });
  check("embedding_bag, weighted", {spread({5, 2}), integers({3, 2}, 0, 5), spread({3, 2}, 0.5, 1)},
        [](vars const& v) { return tx::embedding_bag(v[0], v[1], v[2]); });
  check("gather", {spread({3, 4}), integers({3, 2}, 0, 4)}, [](vars const& v) { return tx::gather<1>(v[0], v[1]); });
  check("scatter_add", {spread({3, 4}), integers({3, 2}, 0, 4), spread({3, 2})},
        [](vars const& v) { return tx::scatter_add<1>(v[0], v[1], v[2]); });
  check("slice_at", {spread({3, 4}), integers({}, 1, 2)}, [](vars const& v) { return tx::slice_at<1, 2>(v[0], v[1]); });
  check("update_at", {spread({3, 4}), spread({3, 2}), integers({}, 1, 2)},
        [](vars const& v) { return tx::update_at<1>(v[0], v[1], v[2]); });
  check("concat", {spread({2, 3}), spread({2, 2})}, [](vars const& v) { return tx::concat<1>(v[0], v[1]); });
  check("stack", {spread({3}), spread({3}, 1, 2)}, [](vars const& v) { return tx::stack<0>(v[0], v[1]); });
  check("flip", {spread({2, 3}), spread({2, 3}, 1, 2)}, [](vars const& v) { return tx::flip<1>(v[0]) * v[1]; });
  check("cumsum", {spread({2, 3})}, [](vars const& v) { return tx::cumsum<1>(v[0]); });
  check("conv2d", {spread({1, 2, 4, 4}), spread({2, 2, 3, 3}, -1, 1.1)},
        [](vars const& v) { return tx::conv2d(v[0], v[1]); });
  check("max_pool2d", {spread({1, 1, 4, 4})}, [](vars const& v) { return tx::max_pool2d<2>(v[0]); });
  check("avg_pool2d", {spread({1, 1, 4, 4})}, [](vars const& v) { return tx::avg_pool2d<2>(v[0]); });
}

TEST_CASE("derivatives of powers at 0 are no quotients of zeros", "[second]") {
  array const x{make_dims({3}), {0, 1, -2}};
  built_op op({x}, [](vars const& v) { return tx::pow(v[0], 2); });
  int gradient = op.differentiate(filled(x.dims, 1))[0];
  for (double wanted : {2.0, 0.0, 0.0}) {  // the second, third and fourth; -1: it does not depend on x
    if (gradient >= 0) gradient = at_run_time::gradients(op.g, tx::sum_all(var{&op.g, gradient}).id, {op.leaves[0].id})[0];
    if (gradient < 0) {
      CHECK(wanted == 0);
      continue;
    }
    op.g.outputs.clear();
    op.g.outputs.push_back({gradient});
    for (bool simplified : {false, true})
      CHECK(run_graph(op.g, {x, filled(x.dims, 1)}, simplified)[0] == values(3, wanted));
  }
}

TEST_CASE("second derivatives of powers are finite at 0, with a tensor as exponent", "[second]") {
  array const x{make_dims({7}), {0, 0, 0, 0, 2, 2, -2}};
  array const y{make_dims({7}), {0, 1, 2, 3, 0, 3, 2}};
  double const unknown = std::nan("");  // infinite, or no number
  double const mixed = 4 * (1 + 3 * std::log(2.0)), twice = 8 * std::log(2.0) * std::log(2.0);
  values const to_xx{0, 0, 2, 0, 0, 12, 2};
  values const to_xy{unknown, unknown, 0, 0, 0.5, mixed, unknown};
  values const to_yy{0, 0, 0, 0, std::log(2.0) * std::log(2.0), twice, unknown};
  built_op op({x, y}, [](vars const& v) { return tx::pow(v[0], v[1]); });
  auto const first = op.differentiate(filled(x.dims, 1));
  for (int by : {0, 1}) {
    INFO("first to operand " << by);
    var const all = tx::sum_all(var{&op.g, first[by]});
    auto const second = at_run_time::gradients(op.g, all.id, {op.leaves[0].id, op.leaves[1].id});
    op.g.outputs.clear();
    for (int id : second) op.g.outputs.push_back({id});
    for (bool simplified : {false, true}) {
      auto const told = run_graph(op.g, {x, y, filled(x.dims, 1)}, simplified);
      for (int to : {0, 1}) {
        values const& wanted = by != to ? to_xy : to == 0 ? to_xx : to_yy;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          INFO("then to operand " << to << ", " << x.v[i] << " to the power " << y.v[i]);
          if (!std::isnan(wanted[i])) CHECK(told[static_cast<std::size_t>(to)][i] == Approx(wanted[i]).margin(1e-15));
        }
      }
    }
  }
}

TEST_CASE("an op whose gradient has none is named", "[second]") {
  array const x = spread({2, 3});
  built_op op({x}, [](vars const& v) { return tx::prod<1>(v[0]); });
  int const gradient = op.differentiate(filled(make_dims({2, 1}), 1))[0];
  REQUIRE(op.g.no_gradient.op == nullptr);
  at_run_time::gradients(op.g, tx::sum_all(var{&op.g, gradient}).id, {op.leaves[0].id});
  CHECK(op.g.no_gradient.op == &tx::products_of_others_info);
  // And is not forgotten by a pass before differentiation.
  op.g.outputs.push_back({gradient});
  CHECK(at_run_time::simplified(op.g).no_gradient.op == &tx::products_of_others_info);
}
