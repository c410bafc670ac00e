// Which products of the backward pass are handed on as halves, and that nothing but rounding changes.
#include "../furthest.hpp"
#include "../interpreter/evaluator.hpp"
#include "stacked.hpp"

#include <tx/nn/attend.hpp>
#include <tx/nn/attention.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/passes/hoist.hpp>
#include <tx/passes/joined_gradients.hpp>
#include <tx/passes/neighbours.hpp>
#include <tx/passes/rounded_gradients.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/sgd.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace stacked;

struct feeding {
  nn::linear<width, 2 * width> up;
  nn::linear<2 * width, width> down;
  constexpr auto operator()(auto const& x) const { return x + down(gelu(up(x))); }
};
struct feeding_net {
  repeat<layers, feeding> layer;
};
struct attending {
  nn::self_attention<16, 2> attention;
  constexpr auto operator()(auto const& x) const { return x * 0.5f + attention(x); }
};
struct attending_net {
  repeat<2, attending> layer;
};
constexpr auto attending_loss = [](auto const& m, tensor<float, 2, 4, 16> x) {
  auto const y = m.layer(x);
  return mean(y * y);
};

template <class Step>
graph recorded_step() {
  graph g;
  Step::record(g);
  return at_run_time::simplified(g);
}
bool all(passes::product_shape const&) { return true; }
bool none(passes::product_shape const&) { return false; }

// Products of the backward pass that are rounded by their only reader, and results of attention's gradient that are halves.
struct rounded {
  int products = 0, of_attention = 0, widened = 0;
};
rounded counted(graph const& g) {
  rounded n;
  for (int i = 0; i < g.size(); ++i) {
    bool const half = is_half(g.info(i).type);
    if (g[i].op == &cast_info && half && g[g.input(i, 0)].op->kind == op_kind::product && g[g.input(i, 0)].when == step_phase::backward) ++n.products;
    if (g[i].op == &cast_info && !half && g[g.input(i, 0)].op == &cast_info && g[g.input(g.input(i, 0), 0)].op->kind == op_kind::product) ++n.widened;
    if (g.is_result_of_op(i) && g[g.input(i, 0)].op == &attention_gradient_info) n.of_attention += half;
  }
  return n;
}

std::vector<values> outputs(graph const& g) {
  evaluator const every(g, [](node const& leaf) {
    values v(static_cast<std::size_t>(leaf.info.count()));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.07 * static_cast<double>((5 * i + static_cast<std::size_t>(leaf.at.v[0])) % 17) - 0.5;
    return v;
  }, {.every_leaf = true, .random = true});
  std::vector<values> out;
  for (output const& o : g.outputs) {
    out.push_back(every[o.value]);
    for (double& x : out.back()) x = x != x ? 1e300 : x;  // roots of what no state is
  }
  return out;
}

template <class Step>
void check(int products, int of_attention) {
  graph const before = recorded_step<Step>(), after = passes::rounded_gradients(before, all);
  at_run_time::verified(after);
  CHECK(counted(after).products - counted(before).products == products);
  CHECK(counted(after).widened - counted(before).widened == products);
  CHECK(counted(after).of_attention == of_attention);
  CHECK(outputs(after) == outputs(before));  // computed in f64: but for rounding it is the same
}

}  // namespace

TEST_CASE("a gradient that waits for gelu's is handed on as halves, what is added and what updates is not", "[rounded]") {
  check<train_step<feeding_net, loss, sgd, mixed<bf16>>>(1, 0);
  check<train_step<feeding_net, loss, sgd, mixed<f16>, accumulate_runs<2>>>(1, 0);
  check<train_step<feeding_net, loss, sgd>>(0, 0);
  check<train_step<feeding_net, loss, adamw, mixed<bf16>>>(1, 0);  // whose update reads the gradient by products of its own
}

TEST_CASE("gradients of queries, keys and values are halves", "[rounded]") { check<train_step<attending_net, attending_loss, sgd, mixed<bf16>>>(0, 3); }

TEST_CASE("gradients of queries that a loop hands out, or that are added up, stay as they are", "[rounded]") {
  // Keys that are values too: both gradients are added up.
  constexpr auto shared = [](attending_net const& m, tensor<float, 2, 4, 16> x) {
    auto const y = m.layer(x);
    auto const heads = reshape<2, 4, 2, 8>(y);
    auto const turned = transpose<0, 2, 1, 3>(heads);
    return mean(nn::attend(turned, turned, turned));
  };
  graph const before = recorded_step<train_step<attending_net, shared, sgd, mixed<bf16>>>(), after = passes::rounded_gradients(before, all);
  at_run_time::verified(after);
  CHECK(counted(after).of_attention == 3);  // of the layers alone
  CHECK(outputs(after) == outputs(before));
}

namespace {
double apart_by(std::vector<values> const& a, std::vector<values> const& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) keep_furthest(most, distance(a[k], b[k]));
  return most;
}
// Gradients of attention that come side by side, and joins of gradients.
template <class Step>
std::vector<int> side_by_side() {
  graph const rounded = passes::rounded_gradients(recorded_step<Step>(), all), joined = passes::joined_gradients(rounded);
  at_run_time::verified(joined);
  CHECK(outputs(joined) == outputs(rounded));
  graph const planned = passes::neighbours(passes::hoist(joined)), copied = passes::neighbours(passes::hoist(rounded));
  at_run_time::verified(planned);
  CHECK(apart_by(outputs(planned), outputs(copied)) < 1e-9);  // one sum may be of other terms than the other
  int together = 0, joins = 0;
  for (int i = 0; i < planned.size(); ++i) {
    together += planned[i].op == &joined_attention_gradient_info;
    joins += planned[i].op == &join_info && planned[i].when == step_phase::backward;
  }
  return {together, joins};
}
}  // namespace

TEST_CASE("gradients of queries, keys and values come side by side where these have the same tokens", "[rounded]") {
  CHECK(side_by_side<train_step<attending_net, attending_loss, sgd, mixed<bf16>>>() == std::vector{1, 0});
  CHECK(side_by_side<train_step<attending_net, attending_loss, sgd>>() == std::vector{0, 0});  // they are no halves
  // Of the attention the first token is all that anybody reads.
  constexpr auto of_first = [](attending const& m, tensor<float, 2, 4, 16> x) {
    auto const y = slice<1, 0, 1>(m(x));
    return mean(y * y);
  };
  constexpr auto of_all = [](attending const& m, tensor<float, 2, 4, 16> x) {
    auto const y = m(x);
    return mean(y * y);
  };
  CHECK(side_by_side<train_step<attending, of_first, sgd, mixed<bf16>>>() == std::vector{0, 0});
  CHECK(side_by_side<train_step<attending, of_all, sgd, mixed<bf16>>>() == std::vector{1, 0});
}

namespace {
// Tokens in another order than the products have their rows.
struct turned {
  nn::linear<16, 16> query, key, value;
  constexpr auto operator()(auto const& x) const {  // [4, 2, 16]
    auto const texts = [](auto const& y) { return transpose<0, 2, 1, 3>(reshape<2, 4, 2, 8>(transpose<1, 0, 2>(y))); };
    auto const y = nn::attend(texts(query(x)), texts(key(x)), texts(value(x)));
    return x * 0.5f + transpose<1, 0, 2>(reshape<2, 4, 16>(transpose<0, 2, 1, 3>(y)));
  }
};
// Keys of other tokens, of which there are as many; and the gradients in another order than weights lie.
struct apart {
  nn::linear<16, 16> key, value, query;
  constexpr auto operator()(auto const& x) const {
    auto const heads = [](auto const& y) { return transpose<0, 2, 1, 3>(reshape<2, 4, 2, 8>(y)); };
    auto const z = tanh(x) * 0.25f;
    auto const y = nn::attend(heads(query(x)), heads(key(z)), heads(value(z)));
    return x * 0.5f + reshape<2, 4, 16>(transpose<0, 2, 1, 3>(y));
  }
};
struct reordered {
  nn::linear<16, 16> value, key, query;
  constexpr auto operator()(auto const& x) const {
    auto const heads = [](auto const& y) { return transpose<0, 2, 1, 3>(reshape<2, 4, 2, 8>(y)); };
    auto const y = nn::attend(heads(query(x)), heads(key(x)), heads(value(x)));
    return x * 0.5f + reshape<2, 4, 16>(transpose<0, 2, 1, 3>(y));
  }
};
template <class Layer>
struct twice {
  repeat<2, Layer> layer;
};
constexpr auto twice_loss = [](auto const& m, tensor<float, 2, 4, 16> x) {
  auto const y = m.layer(x);
  return mean(y * y);
};
constexpr auto turned_loss = [](auto const& m, tensor<float, 4, 2, 16> x) {
  auto const y = m.layer(x);
  return mean(y * y);
};
}  // namespace

TEST_CASE("gradients that lie side by side are read so where rows are in their order, and follow each other as weights do", "[rounded]") {
  CHECK(side_by_side<train_step<twice<turned>, turned_loss, sgd, mixed<bf16>>>()[0] == 1);
  CHECK(side_by_side<train_step<twice<apart>, twice_loss, sgd, mixed<bf16>>>() == std::vector{1, 0});
  CHECK(side_by_side<train_step<twice<reordered>, twice_loss, sgd, mixed<bf16>>>()[0] == 1);
}

TEST_CASE("products that are no library's stay as they are", "[rounded]") {
  graph const before = recorded_step<train_step<feeding_net, loss, sgd, mixed<bf16>>>(), after = passes::rounded_gradients(before, none);
  CHECK(counted(after).products == counted(before).products);
  CHECK(outputs(after) == outputs(before));
}
