// grad: gradients as parts of a graph, of numbers, tensors and models, of gradients, beside constants, through repeated
// blocks.
#include "traced.hpp"

#include <tx/autodiff/hessian_vector.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/tanh.hpp>

namespace {

template <auto... D>
using t = tx::tensor<double, D...>;
template <class Tensor, class Group = tx::decayed>
using p = tx::param<Tensor, tx::init::ones, Group>;

double inside(values const& a, values const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

constexpr auto wave = [](t<> x) { return x * x * tx::sin(x); };
constexpr auto scaled = [](t<> x, t<> y) { return tx::exp(x * y); };

// x^T x at a vector of zeros, its Hessian times v: 2 v. And d2 (x^y) / dx dy at y = 2: x (1 + 2 log x).
constexpr auto with_itself = [](auto const& x) { return tx::inner_product(x, x); };
constexpr auto twice_at_zeros = [](t<5> v) { return tx::hessian_vector<with_itself>(tx::zeros(v), v); };
constexpr auto powers = [](auto const& x, auto const& y) { return tx::sum(tx::pow(x, y)); };
constexpr auto slopes_of_powers = [](auto const& x, auto const& y) { return tx::sum(tx::grad<powers>(x, y)); };
constexpr auto by_base_then_exponent = [](t<5> x) { return tx::grad<slopes_of_powers, 1>(x, tx::full(x, 2.0)); };

// ---- tensors --------------------------------------------------------------------------------------------------------

// Products, a norm, softmax and cross entropy in one function of x [2, 3] and w [3, 4].
constexpr auto classified = [](auto const& x, auto const& w, t<4> const& scale, tx::tensor<tx::i32, 2> const& y) {
  return tx::cross_entropy(tx::layer_norm(tx::tanh(tx::matmul(x, w)), scale, scale * 0.5) * 2, y);
};
constexpr auto by_both = [](t<2, 3> x, t<3, 4> w, t<4> scale, tx::tensor<tx::i32, 2> y) {
  return tx::grad<classified, 0, 1>(x, w, scale, y);
};
constexpr auto along_both = [](t<2, 3> x, t<3, 4> w, t<4> scale, tx::tensor<tx::i32, 2> y, t<2, 3> v) {
  return tx::hessian_vector<classified>(x, v, w, scale, y);
};
constexpr auto quadratic = [](t<1, 3> x, t<3, 3> a) { return tx::sum(tx::matmul(tx::matmul(x, a), tx::transpose(x))); };
constexpr auto twice = [](t<1, 3> x, t<3, 3> a, t<1, 3> v) { return tx::hessian_vector<quadratic>(x, v, a); };

// ---- what is constant -----------------------------------------------------------------------------------------------

constexpr auto weighted = [](auto const& x, auto const& y) { return tx::sum(x * x * y); };
struct partial {
  t<3> by_x, by_y, of_both, of_one;
};
constexpr auto partials = [](t<3> x) {
  auto const y = tx::exp(x);  // computed from x, a constant beside it all the same
  return partial{tx::grad<weighted>(x, y), tx::grad<weighted, 1>(x, y), tx::grad<weighted>(x, x),
                 tx::grad<[](t<3> z) { return weighted(z, tx::exp(z)); }>(x)};
};
// The outer gradient sees y move.
constexpr auto outer = [](t<3> x) { return tx::sum(tx::grad<weighted>(x, tx::exp(x))); };
struct stops {
  t<3> within, around, result;
};
constexpr auto stopped = [](t<3> x) {
  return stops{tx::grad<[](t<3> z) { return tx::sum(z * z * tx::stop_gradient(z)); }>(x),
               tx::grad<[](t<3> z) { return tx::sum(z * tx::grad<weighted>(tx::stop_gradient(z), z)); }>(x),
               tx::grad<[](t<3> z) { return tx::sum(z * tx::stop_gradient(tx::grad<weighted>(z, z))); }>(x)};
};
constexpr auto unrelated = [](t<3> x, t<2> y) { return tx::grad<[](t<3>, t<2> b) { return tx::sum(b * b); }>(x, y); };
struct valued {
  t<> value;
  t<3> gradient, also;
};
struct aggregate {
  t<> loss;
  t<3> square;
};
constexpr auto squares = [](auto const& x) { return aggregate{tx::sum(x * x * x), x * x}; };
constexpr auto with_value = [](t<3> x) {
  auto const r = tx::with_grad<squares>(x);
  return valued{r.value.loss, r.gradient, r.value.square};
};
constexpr auto product_twice = [](t<3> x) {
  return tx::grad<[](t<3> z) { return tx::sum(tx::grad<[](t<3> u) { return tx::prod(u); }>(z)); }>(x);
};

// ---- models ---------------------------------------------------------------------------------------------------------

struct block {
  p<t<3, 3>> weight;
  p<t<3>, tx::not_decayed> bias;
  constexpr auto operator()(auto const& x, auto const& scale) const {
    return x + tx::tanh(tx::matmul(x, weight) * scale + bias);
  }
};
struct net {
  tx::frozen_module<block> first;
  tx::repeat<3, block> layers;
  p<t<3>> scale;
  constexpr auto operator()(auto const& x) const { return layers(first.body(x, scale), scale); }
};
constexpr auto energy = [](auto const& m, auto const& x) {
  auto const y = m(x);
  return tx::sum(y * y);
};
constexpr auto by_input = [](auto const& x, auto const& m) { return energy(m, x); };
struct penalized {
  t<> loss, of_parameters, of_input;
};
constexpr auto penalties = [](net const& m, t<2, 3> x) {
  auto const d = tx::grad<energy>(m, x);
  auto const slope = tx::grad<by_input>(x, m);
  return penalized{energy(m, x), tx::inner_product(d, d), tx::inner_product(slope, slope)};
};
// Second derivatives through the repeat, forward again for the penalty's own gradient.
template <int Penalty>
constexpr auto penalty_gradient = [](net const& m, t<2, 3> x) {
  constexpr auto penalty = [](net const& n, t<2, 3> z) {
    auto const all = penalties(n, z);
    return Penalty == 0 ? all.of_parameters : all.of_input;
  };
  auto const g = tx::grad<penalty>(m, x);
  return tx::inner_product(g, m);  // along the parameters themselves
};

// Of a model a frozen parameter counts for nothing; by itself it is a tensor like any other.
struct held {
  p<t<3>, tx::frozen> weight;
  p<t<3>> factor;
};
struct held_gradients {
  t<3> frozen, trained, alone;
};
constexpr auto held_slopes = [](held const& m) {
  auto const d = tx::grad<[](held const& n) { return weighted(n.weight, n.factor); }>(m);
  return held_gradients{d.weight, d.factor, tx::grad<weighted>(m.weight, m.factor)};
};

// m^T H m, of the trained parameters.
constexpr auto curvature = [](net const& m, t<2, 3> x) {
  return tx::inner_product(tx::hessian_vector<energy>(m, m, x), m);
};
constexpr auto plain_energy = [](net const& m, t<2, 3> x) { return energy(m, x); };

// grad in a block that a repeat runs.
struct descent {
  p<t<3>> rate;
  constexpr auto operator()(auto const& x) const { return x - tx::grad<weighted>(x, rate) * rate; }
};
struct unrolled {
  tx::repeat<4, descent> steps;
};
constexpr auto descended = [](unrolled const& m, t<3> x) { return m.steps(x); };
constexpr auto descended_slope = [](unrolled const& m, t<3> x) {
  return tx::grad<[](auto const& z, auto const& n) { return tx::sum(descended(n, z)); }>(x, m);
};

// ---- bounded rows ---------------------------------------------------------------------------------------------------

constexpr auto row_total = [](auto const& x, auto const& w) { return tx::sum(tx::tanh(tx::matmul(x, w))); };
constexpr auto row_penalty = [](auto const& w, auto const& x) {
  auto const slope = tx::grad<row_total>(x, w);
  return tx::sum(slope * slope);
};
template <auto Rows>
constexpr auto row_gradient = [](t<3, 2> w, t<Rows, 3> x) { return tx::grad<row_penalty>(w, x); };

// In a constant evaluation, which reads nothing that is not there.
template <auto F, class Model>
constexpr int recorded_nodes() {
  tx::graph g{};
  tx::function<F, Model>::record(g);
  return g.size();
}
static_assert(recorded_nodes<descended_slope, unrolled>() > 0);
static_assert(recorded_nodes<penalty_gradient<0>, net>() > 0);

}  // namespace

TEST_CASE("derivatives of a number, to the third", "[grad]") {
  double const x = 0.7, s = std::sin(x), c = std::cos(x);
  CHECK(distance(traced<tx::grad<wave>>({{x}})[0], {2 * x * s + x * x * c}) < 1e-14);
  CHECK(distance(traced<tx::grad<tx::grad<wave>>>({{x}})[0], {2 * s + 4 * x * c - x * x * s}) < 1e-14);
  CHECK(distance(traced<tx::grad<tx::grad<tx::grad<wave>>>>({{x}})[0], {6 * c - 6 * x * s - x * x * c}) < 1e-13);
  double const y = 0.4, e = std::exp(x * y);
  CHECK(distance(traced<tx::grad<tx::grad<scaled>, 1>>({{x}, {y}})[0], {e + x * y * e}) < 1e-14);  // by x, then by y
}

TEST_CASE("gradients by two arguments, Hessians times vectors", "[grad]") {
  values const x = some(6), w = some(12, 1), scale = some(4, 2), y{1, 3}, v = some(6, 3);
  auto const both = traced<by_both>({x, w, scale, y});
  REQUIRE(both.size() == 2);
  constexpr auto typed = [](t<2, 3> a, t<3, 4> b, t<4> s, tx::tensor<tx::i32, 2> l) { return classified(a, b, s, l); };
  CHECK(distance(both[0], differences(x, [&](values const& at) {
                   return traced<typed>({at, w, scale, y})[0][0];
                 })) < 1e-9);
  CHECK(distance(both[1], differences(w, [&](values const& at) {
                   return traced<typed>({x, at, scale, y})[0][0];
                 })) < 1e-9);
  CHECK(distance(traced<along_both>({x, w, scale, y, v})[0], differences(x, [&](values const& at) {
                   return inside(traced<by_both>({at, w, scale, y})[0], v);
                 })) < 1e-8);

  values const a = some(9), u = some(3, 1);
  values wanted(3, 0.0);  // (A + A^T) v
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) wanted[i] += (a[3 * i + j] + a[3 * j + i]) * u[j];
  CHECK(distance(traced<twice>({some(3), a, u})[0], wanted) < 1e-13);
}

TEST_CASE("what a gradient is taken by is no number, also where its value is one", "[grad]") {
  values const v = some(5);
  values const at_zeros = traced<twice_at_zeros>({v})[0];
  for (std::size_t i = 0; i < 5; ++i) CHECK(at_zeros[i] == Approx(2 * v[i]));
  values const x{0.5, 1.0, 1.5, 2.0, 3.0};
  values const mixed = traced<by_base_then_exponent>({x})[0];
  for (std::size_t i = 0; i < 5; ++i) CHECK(mixed[i] == Approx(x[i] * (1 + 2 * std::log(x[i]))));
}

TEST_CASE("other arguments are constants, also where they were computed from the first", "[grad]") {
  values const x{0.5, -1, 2};
  auto const r = traced<partials>({x});
  auto const moved = traced<tx::grad<outer>>({x})[0];
  for (std::size_t i = 0; i < 3; ++i) {
    double const e = std::exp(x[i]);
    CHECK(r[0][i] == Approx(2 * x[i] * e));
    CHECK(r[1][i] == Approx(x[i] * x[i]));
    CHECK(r[2][i] == Approx(2 * x[i] * x[i]));
    CHECK(r[3][i] == Approx(2 * x[i] * e + x[i] * x[i] * e));
    CHECK(moved[i] == Approx(2 * e + 2 * x[i] * e));
  }
}

TEST_CASE("stop_gradient holds within, around and beside a gradient", "[grad]") {
  values const x{0.5, -1, 2};
  auto const r = traced<stopped>({x});
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(r[0][i] == Approx(2 * x[i] * x[i]));  // d(z^2 c)
    CHECK(r[1][i] == Approx(4 * x[i] * x[i]));  // z * 2 c z, by z
    CHECK(r[2][i] == Approx(2 * x[i] * x[i]));  // z * c
  }
  CHECK(traced<unrelated>({x, {1, 2}})[0] == values(3, 0.0));
  auto const v = traced<with_value>({x});
  CHECK(v[0][0] == Approx(0.125 - 1 + 8));
  for (std::size_t i = 0; i < 3; ++i) CHECK((v[1][i] == Approx(3 * x[i] * x[i]) && v[2][i] == Approx(x[i] * x[i])));
}

TEST_CASE("a second gradient that is missing is remembered by the program", "[grad]") {
  tx::graph g{};
  tx::function<product_twice>::record(g);
  CHECK(g.no_gradient.op == &tx::products_of_others_info);
}

TEST_CASE("gradients of models: frozen parameters, repeated blocks, gradients of both penalties", "[grad]") {
  using all = tx::layout<net>;
  values block_values = some(static_cast<std::size_t>(all::size), 5);
  for (double& v : block_values) v *= 0.4;
  values const x = some(6);
  auto const r = traced<penalties, net>({x}, block_values);
  // Each parameter moved: its slope of the loss, and of the penalties.
  double square = 0;
  double along[2] = {};
  for (tx::layout_entry const& e : all::entries) {
    bool const trained = all::groups[e.group].trained;
    for (std::int64_t i = e.offset; i < e.offset + e.info.count() && trained; ++i) {
      auto const k = static_cast<std::size_t>(i);
      double slopes[3];
      for (std::size_t which = 0; which < 3; ++which)
        slopes[which] = differences({block_values[k]}, [&](values const& at) {
          values moved = block_values;
          moved[k] = at[0];
          return traced<penalties, net>({x}, moved)[which][0];
        })[0];
      square += slopes[0] * slopes[0];
      along[0] += slopes[1] * block_values[k];
      along[1] += slopes[2] * block_values[k];
    }
  }
  CHECK(r[1][0] == Approx(square).epsilon(1e-8));
  values const slope =
      differences(x, [&](values const& at) { return traced<penalties, net>({at}, block_values)[0][0]; });
  CHECK(r[2][0] == Approx(inside(slope, slope)).epsilon(1e-8));
  CHECK(traced<penalty_gradient<0>, net>({x}, block_values)[0][0] == Approx(along[0]).epsilon(1e-7));
  CHECK(traced<penalty_gradient<1>, net>({x}, block_values)[0][0] == Approx(along[1]).epsilon(1e-7));
}

TEST_CASE("the Hessian of a model along itself", "[grad]") {
  values block_values = some(static_cast<std::size_t>(tx::layout<net>::size), 5);
  for (double& v : block_values) v *= 0.4;
  values const x = some(6);
  auto energy_at = [&](double by) {  // parameters that are trained come first
    values moved = block_values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(tx::layout<net>::trained); ++i) moved[i] *= 1 + by;
    return traced<plain_energy, net>({x}, moved)[0][0];
  };
  double const h = 2e-3;
  double const near = energy_at(h) + energy_at(-h), far = energy_at(2 * h) + energy_at(-2 * h);
  double const measured = (16 * near - far - 30 * energy_at(0)) / (12 * h * h);
  CHECK(traced<curvature, net>({x}, block_values)[0][0] == Approx(measured).epsilon(1e-6));
}

TEST_CASE("what several backward passes read is stacked once", "[grad]") {
  tx::graph g{};
  tx::function<penalty_gradient<0>, net>::record(g);
  int stacked = 0;
  for (int r = 1; r < g.regions.size(); ++r) {
    tx::vec<int> const& results = g.regions[r].results;
    for (int k = g.regions[r].carries; k < results.size(); ++k, ++stacked)
      for (int j = g.regions[r].carries; j < k; ++j) CHECK(results[j] != results[k]);
  }
  CHECK(stacked > 4);
  for (tx::node const& n : g.nodes) CHECK(n.when == tx::step_phase::forward);  // all of it is the function's own work
}

TEST_CASE("a frozen parameter has a gradient where it is asked for", "[grad]") {
  values block_values(static_cast<std::size_t>(tx::layout<held>::size), 0.0);
  values const weight = some(3), factor = some(3, 1);
  auto const offset = [](int entry) { return tx::layout<held>::entries[entry].offset; };
  std::copy(weight.begin(), weight.end(), block_values.begin() + offset(0));
  std::copy(factor.begin(), factor.end(), block_values.begin() + offset(1));
  auto const r = traced<held_slopes, held>({}, block_values);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(r[0][i] == 0);
    CHECK(r[1][i] == Approx(weight[i] * weight[i]));
    CHECK(r[2][i] == Approx(2 * weight[i] * factor[i]));
  }
}

TEST_CASE("grad within a block that a repeat runs", "[grad]") {
  values block_values(static_cast<std::size_t>(tx::layout<unrolled>::size), 0.0);
  values const rates = some(12, 2);
  std::copy(rates.begin(), rates.end(), block_values.begin());
  values const x{0.5, -1, 2};
  values wanted = x, slope(3, 1.0);
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < 3; ++i) {
      double const factor = 1 - 2 * rates[3 * k + i] * rates[3 * k + i];
      wanted[i] *= factor;
      slope[i] *= factor;
    }
  CHECK(distance(traced<descended, unrolled>({x}, block_values)[0], wanted) < 1e-13);
  CHECK(distance(traced<descended_slope, unrolled>({x}, block_values)[0], slope) < 1e-13);
}

TEST_CASE("a bounded number of rows", "[grad]") {
  values const w = some(6), x = some(15, 1);
  values const told = traced<row_gradient<tx::dyn<5>>>({w, x})[0];
  CHECK(distance(told, traced<row_gradient<5>>({w, x})[0]) == 0);
  constexpr auto penalty = [](t<3, 2> v, t<5, 3> z) { return row_penalty(v, z); };
  CHECK(distance(told, differences(w, [&](values const& at) { return traced<penalty>({at, x})[0][0]; })) < 1e-9);
}
