// repeat<N> against the same blocks written out: values, gradients of stacked parameters, carries and invariants.
#include "../interpreter/evaluator.hpp"
#include "../interpreter/passes.hpp"
#include "../ops/arrays.hpp"

#include <tx/autodiff/reverse.hpp>
#include <tx/graph/verify.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/passes/rewrite.hpp>

#include <catch2/catch.hpp>

namespace {

using tx::param;
template <auto... D>
using t = tx::tensor<double, D...>;

// Uses its weight twice, reads the invariants in more than one place, and leaves one parameter unused.
struct block {
  param<t<3, 3>> weight;
  param<t<3>> bias;
  param<t<3>> unused;
  constexpr auto operator()(auto const& x, auto const& scale, auto const& shift) const {
    auto const y = tx::tanh(tx::matmul(x, weight) * scale + bias);
    return x + tx::matmul(y, tx::transpose(weight)) * shift + tx::softmax(x * scale);
  }
};
struct plain_block {
  param<t<3>> gain;
  constexpr auto operator()(auto const& x) const { return tx::tanh(x * gain) + x; }
};

template <int N>
struct looped {
  param<t<2, 3>> start;
  param<t<3>> scale;
  param<t<1>> shift;
  tx::repeat<N, block> layer;
  constexpr auto operator()() const { return layer(start * 1.0, scale, shift); }
};
struct by_hand {
  param<t<2, 3>> start;
  param<t<3>> scale;
  param<t<1>> shift;
  block a, b, c;
};

struct run {
  values loss;
  std::vector<std::pair<std::string, values>> gradients;  // by the name of the parameter
};

// Records F, differentiates its first result by all parameters and evaluates both, simplified if asked for.
template <class Model, auto F>
run differentiate(bool simplified, values const& block_values) {
  tx::graph g{};
  tx::trace<Model, F>(g);
  tx::vec<int> leaves{};
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &tx::parameter_info) leaves.push_back(i);
  tx::vec<int> const grads = at_run_time::gradients(g, g.outputs[0].value, leaves);
  for (int id : grads)
    if (id >= 0) g.outputs.push_back({id});
  tx::vec<std::int64_t> offsets{};
  for (int leaf : leaves) offsets.push_back(g[leaf].at.v[0]);
  if (simplified) g = at_run_time::simplified(g);
  evaluator const result(g, [&](tx::node const& leaf) {
    auto const first = block_values.begin() + leaf.at.v[0];
    return values(first, first + leaf.info.count());
  });
  // Back into the order of the flat block, so that names can be looked up.
  values flat(block_values.size(), 0.0);
  int next = 1;
  for (int k = 0; k < leaves.size(); ++k) {
    if (grads[k] < 0) continue;
    values const& v = result[g.outputs[next++].value];
    std::copy(v.begin(), v.end(), flat.begin() + offsets[k]);
  }
  run out{result[g.outputs[0].value], {}};
  for (auto const& p : tx::parameters_of<Model>()) {
    auto const first = flat.begin() + p.offset;
    out.gradients.push_back({p.name, values(first, first + p.info.count())});
  }
  return out;
}

// Values for a model: each parameter's by its name, so that two models of one structure agree.
template <class Model>
values parameters(auto canonical) {
  values block_values(static_cast<std::size_t>(tx::layout<Model>::size), 0.0);
  for (auto const& p : tx::parameters_of<Model>()) {
    number_source numbers(static_cast<unsigned>(tx::fnv1a(canonical(p.name))));
    array const v = numbers.spread(p.info.dims, -0.8, 0.9);
    std::copy(v.v.begin(), v.v.end(), block_values.begin() + p.offset);
  }
  return block_values;
}

void same_runs(run const& a, run const& b, auto canonical) {
  CHECK(std::abs(a.loss[0] - b.loss[0]) < 1e-13);
  REQUIRE(a.gradients.size() == b.gradients.size());
  for (auto const& [name, g] : a.gradients)
    for (auto const& [other, h] : b.gradients) {
      if (canonical(name) != canonical(other)) continue;
      INFO(name << " and " << other);
      REQUIRE(g.size() == h.size());
      for (std::size_t i = 0; i < g.size(); ++i) CHECK(std::abs(g[i] - h[i]) < 1e-12);
    }
}

constexpr auto sum_of_squares = [](auto const& y) { return tx::sum(y * y); };
template <class Model>
constexpr auto looped_loss = [](Model const& m) { return sum_of_squares(m()); };
constexpr auto hand_loss = [](by_hand const& m) {
  return sum_of_squares(m.c(m.b(m.a(m.start * 1.0, m.scale, m.shift), m.scale, m.shift), m.scale, m.shift));
};
struct one_by_hand {
  param<t<2, 3>> start;
  param<t<3>> scale;
  param<t<1>> shift;
  block a;
};
constexpr auto one_loss = [](one_by_hand const& m) { return sum_of_squares(m.a(m.start * 1.0, m.scale, m.shift)); };

// a, b, c are layer.0, layer.1, layer.2.
std::string canonical(std::string name) {
  for (int i = 0; i < 3; ++i)
    if (name[1] == '.' && name[0] == static_cast<char>('a' + i)) name = "layer." + std::to_string(i) + name.substr(1);
  return name;
}

// Two repeats in a row, the first one's last value also used after them; and a repeat of one block.
struct chained {
  param<t<2, 3>> start;
  tx::repeat<2, plain_block> first;
  tx::repeat<1, plain_block> middle;
  tx::repeat<3, plain_block> second;
};
struct chained_by_hand {
  param<t<2, 3>> start;
  plain_block a0, a1, m0, b0, b1, b2;
};
constexpr auto chained_loss = [](chained const& m) {
  auto const x = m.first(m.start);
  return sum_of_squares(m.second(m.middle(x)) * x);
};
constexpr auto chained_hand_loss = [](chained_by_hand const& m) {
  auto const x = m.a1(m.a0(m.start));
  return sum_of_squares(m.b2(m.b1(m.b0(m.m0(x)))) * x);
};
std::string chained_name(std::string name) {
  for (auto const& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"first.0", "a0"}, {"first.1", "a1"}, {"middle.0", "m0"}, {"second.0", "b0"}, {"second.1", "b1"}, {"second.2", "b2"}})
    if (name.rfind(from, 0) == 0) name = to + name.substr(from.size());
  return name;
}

// Its gradient reads what it returns: a carry, and one of the values to stack.
struct max_block {
  param<t<3>> gain;
  constexpr auto operator()(auto const& x) const { return tx::max<-1>(x * gain); }
};
struct looped_max {
  param<t<2, 1>> start;
  tx::repeat<3, max_block> layer;
};
struct max_by_hand {
  param<t<2, 1>> start;
  max_block a, b, c;
};
constexpr auto looped_max_loss = [](looped_max const& m) { return sum_of_squares(m.layer(m.start)); };
constexpr auto max_hand_loss = [](max_by_hand const& m) { return sum_of_squares(m.c(m.b(m.a(m.start)))); };

}  // namespace

TEST_CASE("repeat<3> is three blocks by hand") {
  auto const a = parameters<looped<3>>(canonical);
  auto const b = parameters<by_hand>(canonical);
  run const hand = differentiate<by_hand, hand_loss>(false, b);
  for (bool simplified : {false, true}) same_runs(differentiate<looped<3>, looped_loss<looped<3>>>(simplified, a), hand, canonical);
  for (auto const& [name, g] : hand.gradients)
    if (name.find("unused") != std::string::npos) CHECK(g == values(3, 0.0));
}

TEST_CASE("repeat<1> is one block") {
  auto const a = parameters<looped<1>>(canonical);
  auto const b = parameters<one_by_hand>(canonical);
  for (bool simplified : {false, true})
    same_runs(differentiate<looped<1>, looped_loss<looped<1>>>(simplified, a), differentiate<one_by_hand, one_loss>(simplified, b), canonical);
}

TEST_CASE("repeats after each other") {
  auto const a = parameters<chained>(chained_name);
  auto const b = parameters<chained_by_hand>(chained_name);
  for (bool simplified : {false, true})
    same_runs(differentiate<chained, chained_loss>(simplified, a), differentiate<chained_by_hand, chained_hand_loss>(simplified, b), chained_name);
}

TEST_CASE("a block whose gradient reads its result") {
  auto const a = parameters<looped_max>(canonical);
  auto const b = parameters<max_by_hand>(canonical);
  for (bool simplified : {false, true})
    same_runs(differentiate<looped_max, looped_max_loss>(simplified, a), differentiate<max_by_hand, max_hand_loss>(simplified, b),
              canonical);
}

TEST_CASE("a repeat that nothing reads is left out, however often a graph is rebuilt") {
  tx::graph g{};
  tx::trace<chained, [](chained const& m) {
    (void)m.first(m.start);
    return sum_of_squares(m.second(m.start));
  }>(g);
  for (int pass = 0; pass < 2; ++pass) {
    g = at_run_time::verified(at_run_time::simplified(g));
    int repeats = 0;
    for (tx::node const& n : g.nodes) repeats += n.op == &tx::repeat_info;
    CHECK(repeats == 1);
  }
}

TEST_CASE("gradients through a repeat are those of differences") {
  values p = parameters<looped<3>>(canonical);
  run const told = differentiate<looped<3>, looped_loss<looped<3>>>(true, p);
  auto const names = tx::parameters_of<looped<3>>();
  for (std::size_t k = 0; k < names.size(); ++k)
    for (std::size_t i = 0; i < told.gradients[k].second.size(); ++i) {
      auto loss_at = [&](double by) {
        values moved = p;
        moved[static_cast<std::size_t>(names[k].offset) + i] += by;
        return differentiate<looped<3>, looped_loss<looped<3>>>(false, moved).loss[0];
      };
      double const h = 1e-3;
      double const measured = (8 * (loss_at(h) - loss_at(-h)) - (loss_at(2 * h) - loss_at(-2 * h))) / (12 * h);
      INFO(names[k].name << " [" << i << "]");
      CHECK(std::abs(told.gradients[k].second[i] - measured) < 1e-7 * std::max(1.0, std::abs(measured)));
    }
}
