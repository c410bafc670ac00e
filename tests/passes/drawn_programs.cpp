// Drawn graphs over rows of which there may be fewer than planned: what their programs compute, with every pass, is what
// the graph of so many rows says, node by node.
#include "../furthest.hpp"
#include "../ops/whole_rules.hpp"
#include "walked_program.hpp"

#include <tx/autodiff/reverse.hpp>
#include <tx/exec/compile.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/pad.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/square.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/ops/where.hpp>

#include <catch2/catch.hpp>

#include <random>

namespace {

using namespace tx;

knows_whole<&concat_info> const concat_rule;
knows_whole<&cumsum_info> const cumsum_rule;
knows_whole<&flip_info> const flip_rule;
knows_whole<&pad_info> const pad_rule;

constexpr int most = 5;

// What is done to the values made so far.
struct decision {
  int op, a, b;
};

struct drawing {
  graph g{};
  std::vector<var> v;
  int inputs = 0, weights = 0;

  // Rows: a fixed number, or -1 for the bounded extent.
  explicit drawing(int rows) {
    shape one{1, {}, {rows}};
    if (rows < 0) one = {1, {1, most, 0}, {most}};
    auto const with = [&](std::vector<int> const& rest) {
      shape s = one;
      for (int d : rest) s.dim[s.rank++] = d;
      return s;
    };
    for (auto const& rest : {std::vector<int>{}, {1}, {3}, {4}, {2, 3}}) input(with(rest));
    for (shape const& s : {shape{1, {}, {3}}, shape{2, {}, {1, 4}}, shape{2, {}, {3, 4}}, shape{2, {}, {4, 3}}, shape{}}) weight(s);
  }
  void input(shape const& s) { v.push_back(emit_leaf(g, input_info, {dtype::f64, s}, attributes{{inputs++}})); }
  void weight(shape const& s) {
    v.push_back(emit_leaf(g, parameter_info, {dtype::f64, s}, attributes{{weights}}));
    weights += static_cast<int>(s.count());
  }

  void apply(decision const& d) {
    var const a = v[static_cast<std::size_t>(d.a)], b = v[static_cast<std::size_t>(d.b)];
    auto const made = [&]() -> var {
      switch (d.op) {
        case 0: return a + b;
        case 1: return a * b;
        case 2: return a - tanh(b);
        case 3: return tx::sin(a) * 0.5;
        case 4: return where(less(a, b), a, b * 2);
        case 5: return sum<-1>(a);
        case 6: return sum<0>(a);
        case 7: return sum(a);
        case 8: return max<-1>(a);
        case 9: return softmax(a);
        case 10: return matmul(a, b);
        case 11: return matmul(transpose(a), b);
        case 12: return reshape<-1, 1>(a);
        case 13: return reshape<-1>(a);
        case 14: return reshape<-1, 2, 3>(a);
        case 15: return flip<-1>(a);
        case 16: return slice<-1, 1, 2>(a);
        case 17: return pad<-1, 1, 0>(a);
        case 18: return concat<-1>(a, b);
        case 19: return cast<f64>(iota<0>(a)) + a;
        case 20: return cast<f64>(iota<-1>(a)) * a;
        case 21: return a + cast<f64>(less(b, 0.2));
        case 22: return cumsum<-1>(a);
        case 23: return transpose(a);
        case 24: return matmul(a, transpose<0, 2, 1>(b));
        case 25: return matmul(softmax(matmul(a, transpose<0, 2, 1>(b)) * 0.5), b);
        default: return square(a) + 1.0;
      }
    }();
    if (made.dims().rank > 4 || made.info().count() > 400) throw invalid("too large");
    v.push_back(made);
  }
};
constexpr int ops = 27;

struct drawn_program {
  std::vector<decision> decisions;
  std::vector<std::size_t> results;
  bool differentiated = false;
};

// Decisions that the rules for bounded extents accept.
drawn_program draw(unsigned seed) {
  std::mt19937 random(seed);
  auto const below = [&](std::size_t n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  drawing d(-1);
  drawn_program p;
  int const values = 3 + below(14);
  for (int tries = 0; static_cast<int>(p.decisions.size()) < values && tries < 400; ++tries) {
    int const recent = below(2) == 0 ? below(d.v.size()) : static_cast<int>(d.v.size()) - 1 - below(4);
    decision const next{below(ops), recent, below(d.v.size())};
    try {
      d.apply(next);
    } catch (invalid const&) {
      continue;
    }
    p.decisions.push_back(next);
  }
  std::size_t const first = d.v.size() - p.decisions.size();
  for (std::size_t i = first; i < d.v.size(); ++i)
    if (d.v[i].dims().tag.axis == 0 && (i + 1 == d.v.size() || below(4) == 0)) p.results.push_back(i);
  p.differentiated = !p.results.empty() && below(2) == 0;
  return p;
}

// The graph of a number of rows, or of the bounded extent; false where a gradient has no rule for bounded rows.
bool build(drawing& d, drawn_program const& p) {
  for (decision const& next : p.decisions) d.apply(next);
  for (std::size_t r : p.results) d.g.outputs.push_back({d.v[r].id, output_kind::result, -1});
  if (!p.differentiated) return true;
  vec<int> leaves{};
  for (int i = 0; i < d.g.size(); ++i)
    if (d.g[i].op == &parameter_info) leaves.push_back(i);
  var loss = sum(d.v[p.results[0]]);
  for (std::size_t r : p.results) loss = loss + sum(tx::sin(d.v[r]));
  try {
    for (int id : gradients(d.g, loss.id, leaves))
      if (id >= 0) d.g.outputs.push_back({id, output_kind::result, -1});
  } catch (invalid const&) {
    return false;
  }
  return true;
}

double number(int k) { return std::sin(1.7 * k + 0.3) * 1.5; }

// Results of the program of a graph, run with so many rows.
std::vector<values> walked(exec::lowered const& l, int inputs, int weights, int rows) {
  std::vector<std::byte> arena(static_cast<std::size_t>(l.memory.arena) + 64, std::byte{0x7f});
  std::vector<f64> block(static_cast<std::size_t>(weights));
  for (int i = 0; i < weights; ++i) block[static_cast<std::size_t>(i)] = number(-i);
  std::vector<std::vector<f64>> arguments(static_cast<std::size_t>(inputs));
  exec::frame f{};
  f.extent[1] = rows;
  f.base[exec::base_arena] = arena.data();
  f.base[exec::base_block] = reinterpret_cast<std::byte*>(block.data());
  for (int k = 0; k < inputs; ++k) {
    auto& a = arguments[static_cast<std::size_t>(k)];
    for (int i = 0; i < 6 * rows; ++i) a.push_back(number(100 * k + i));
    f.base[exec::base_input + k] = reinterpret_cast<std::byte*>(a.data());
  }
  walked_program(l).run(f);
  std::vector<values> out;
  for (exec::result_ref const& r : l.results) {
    std::int64_t const count = r.info.dims.tag ? r.info.count() / r.info.dims.tag.max * rows : r.info.count();
    values v;
    for (std::int64_t i = 0; i < count; ++i) v.push_back(exec::element_at(r.info.type, arena.data() + r.offset, i));
    out.push_back(v);
  }
  return out;
}

std::vector<values> evaluated(graph const& g) {
  evaluator const all(g, [](node const& leaf) {
    values v;
    bool const input = leaf.op == &input_info;
    auto const at = static_cast<int>(leaf.at.v[0]);
    for (int i = 0; i < static_cast<int>(leaf.info.count()); ++i) v.push_back(input ? number(100 * at + i) : number(-at - i));
    return v;
  });
  std::vector<values> out;
  for (output const& o : g.outputs) out.push_back(all[o.value]);
  return out;
}

}  // namespace

CATCH_TRANSLATE_EXCEPTION(invalid const& e) { return e.text; }

TEST_CASE("programs of drawn graphs compute what the graphs say, of as many rows as there are") {
  std::pair<char const*, compile_options> const variants[] = {{"fused", {}},
                                                              {"fused, in bands of a matrix", {.band_bytes = 16}},
                                                              {"a kernel for each op", {.fuse = false}},
                                                              {"as recorded", {.fuse = false, .schedule = false}}};
  int differentiated = 0, banded = 0;
  for (unsigned seed = 0; seed < 2500; ++seed) {
    drawn_program const p = draw(seed);
    drawing bounded(-1);
    if (!build(bounded, p)) continue;
    differentiated += p.differentiated;
    for (int const rows : {most, 1, 0, most - 1}) {
      INFO("seed " << seed << ", rows " << rows);
      drawing fixed(rows);
      REQUIRE(build(fixed, p));
      auto const wanted = evaluated(fixed.g);
      for (auto const& [name, options] : variants) {
        INFO(name);
        for (drawing const* planned : {&bounded, &fixed}) {
          INFO((planned == &fixed ? "planned for so many rows" : "planned for more"));
          exec::lowered const l = exec::compile(planned->g, options);
          banded += l.loops.size() > 1;
          auto const told = walked(l, planned->inputs, planned->weights, rows);
          REQUIRE(told.size() == wanted.size());
          for (std::size_t k = 0; k < wanted.size(); ++k) {
            INFO("result " << k);
            REQUIRE(distance(told[k], wanted[k]) < 1e-9);
          }
        }
      }
    }
  }
  CHECK(differentiated > 300);
  CHECK(banded > 10);
}
