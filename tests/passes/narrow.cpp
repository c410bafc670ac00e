// Rows that nothing reads are not computed, and what is computed stays what it was.
#include "../drawn/words.hpp"
#include "../furthest.hpp"
#include "../interpreter/evaluator.hpp"

#include <tx/autodiff/reverse.hpp>
#include <tx/graph/verify.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/sum.hpp>
#include <tx/passes/narrow.hpp>

#include <catch2/catch.hpp>

#include <random>

namespace {

using namespace tx;

// A body that hands out a sum of the program; beside it one element is read of what the sum is of.
graph sum_in_a_body() {
  graph g{};
  var const y = exp(emit_leaf(g, parameter_info, {dtype::f64, shape{1, {}, {4}}}, attributes{{0}}));
  drawn::repeated body(g, 2, false);
  body.carry(constant(g, dtype::f64, 0));
  body.next(sum_all(y));
  body.close();
  g.outputs.push_back({body.result(0).id});
  g.outputs.push_back({slice(y, 0, 3, 1, 1).id});
  return g;
}

// Views, sums and products of arguments, then slices of the last values; every extent is one of few, so that axes meet.
graph random_views(unsigned seed) {
  std::mt19937 random(seed);
  auto const draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  graph g{};
  std::vector<var> v;
  auto leaf = [&](shape const& dims) { return emit_leaf(g, parameter_info, {dtype::f64, dims}, attributes{{g.size()}}); };
  v.push_back(leaf(shape{3, {}, {2, 3, 4}}));
  int const values = 3 + draw(10);
  for (int k = 0; k < values; ++k) {
    var const p = v[v.size() - 1 - static_cast<std::size_t>(draw(std::min<int>(2, static_cast<int>(v.size()))))];
    shape const dims = p.dims();
    switch (draw(8)) {
      case 0: v.push_back(p + v.front().g->size() * 0.25); break;
      case 1: v.push_back(p * leaf(shape{1, {}, {dims.last()}})); break;
      case 2: v.push_back(matmul(p, leaf(shape{2, {}, {dims.last(), 4}}))); break;
      case 3: {  // two axes change places
        attributes order{};
        for (int i = 0; i < dims.rank; ++i) order.v[i] = i;
        std::swap(order.v[draw(dims.rank)], order.v[draw(dims.rank)]);
        v.push_back(transpose(p, order));
        break;
      }
      case 4: {  // two axes become one
        if (dims.rank < 3) break;
        int const at = draw(dims.rank - 1);
        shape merged{};
        for (int i = 0; i < dims.rank; ++i) {
          if (i == at + 1) merged.dim[merged.rank - 1] *= dims.dim[i];
          else merged.dim[merged.rank++] = dims.dim[i];
        }
        v.push_back(reshape(p, merged));
        break;
      }
      case 5: {  // one axis becomes two
        if (dims.rank > 3) break;
        int const at = draw(dims.rank);
        shape split{};
        for (int i = 0; i < dims.rank; ++i) {
          int const part = i == at && dims.dim[i] % 2 == 0 ? 2 : 1;
          if (i == at) split.dim[split.rank++] = draw(2) == 0 ? part : dims.dim[i] / part;
          split.dim[split.rank] = i == at ? dims.dim[i] / split.dim[split.rank - 1] : dims.dim[i];
          ++split.rank;
        }
        v.push_back(reshape(p, split));
        break;
      }
      case 6: v.push_back(p - broadcast_to(sum<-1>(p), dims)); break;
      default: {
        int const axis = draw(dims.rank);
        int const start = draw(dims.dim[axis]);
        int const step = 1 + draw(2);
        int const most = (dims.dim[axis] - start + step - 1) / step;
        v.push_back(slice(p, axis, start, 1 + draw(most), step));
      }
    }
  }
  for (int k = 0; k < 2; ++k) {
    var const p = v[v.size() - 1 - static_cast<std::size_t>(draw(static_cast<int>(v.size())))];
    int const axis = draw(p.dims().rank);
    g.outputs.push_back({slice(p, axis, draw(p.dims().dim[axis]), 1, 1).id});
  }
  return g;
}

std::vector<values> outputs_of(graph const& g) {
  evaluator const result(g, [&](node const& leaf) {
    values x(static_cast<std::size_t>(leaf.info.count()));
    for (std::size_t i = 0; i < x.size(); ++i)  // ids; labels of two classes; parameters
      x[i] = is_integer(leaf.info.type) ? static_cast<double>(leaf.info.dims.rank == 2 ? i * 7 % 20 : i % 2)
                                        : std::sin(static_cast<double>(leaf.at.v[0] * 37) + static_cast<double>(i));
    return x;
  });
  std::vector<values> out;
  for (output const& o : g.outputs) out.push_back(result[o.value]);
  return out;
}

std::int64_t products_of(graph const& g) {  // multiplications
  std::int64_t n = 0;
  for (node const& p : g.nodes)
    if (p.op->kind == op_kind::product) n += p.info.count() * g.info(g.input(p, 0)).dims.last();
  return n;
}

struct config {
  static constexpr int layers = 2, hidden = 8, heads = 2, ffn = 16, vocabulary = 20, positions = 8, types = 2;
};
constexpr int batch = 3, seq = 8;
constexpr auto loss = [](auto const& m, tensor<i32, batch, seq> ids, tensor<i32, batch> y) { return cross_entropy(m(ids), y); };

template <class Pooler>
graph recorded() {
  graph g{};
  g.training = false;
  trace<nn::bert_classifier<config, 2, Pooler>, loss>(g);
  return g;
}

}  // namespace

TEST_CASE("drawn graphs compute the same with parts left out") {
  int narrower = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    graph const g = random_views(seed);
    graph const narrow = passes::narrow(g);
    verify(narrow);
    narrower += products_of(narrow) < products_of(passes::rewrite(g, passes::detail::as_it_is{}));
    auto const wanted = outputs_of(g);
    auto const got = outputs_of(narrow);
    INFO("seed " << seed);
    for (std::size_t k = 0; k < wanted.size(); ++k) REQUIRE(distance(got[k], wanted[k]) < 1e-12);
  }
  CHECK(narrower > 200);
}

TEST_CASE("the last layer has one row of each text where the first token alone is read") {
  graph const g = recorded<nn::bert_pooler<config>>();
  graph const narrow = passes::narrow(g);
  verify(narrow);
  int rows_of_batch = 0;  // query, attention's output, two of the feed-forward, pooler, classifier
  int all_rows = 0;       // key and value of the peeled layer
  for (node const& n : narrow.nodes) {
    if (n.op != &matmul_info || n.region != 0 || n.info.dims.rank != 2) continue;
    rows_of_batch += n.info.dims[0] == batch;
    all_rows += n.info.dims[0] == batch * seq;
  }
  CHECK(rows_of_batch == 6);
  CHECK(all_rows == 2);
  CHECK(distance(outputs_of(narrow)[0], outputs_of(g)[0]) < 1e-12);
}

TEST_CASE("nothing is left out where every row is read") {
  graph const g = recorded<nn::bert_mean_pooler<config>>();
  CHECK(products_of(passes::narrow(g)) == products_of(g));
}

TEST_CASE("what a body reads without being handed it is read whole") {
  graph const g = sum_in_a_body();
  graph const narrow = passes::narrow(g);
  verify(narrow);
  CHECK(distance(outputs_of(narrow)[0], outputs_of(g)[0]) < 1e-12);
}

TEST_CASE("gradients of a narrowed model are those of the whole one") {
  auto with_gradients = [](bool narrowed) {
    graph g = recorded<nn::bert_pooler<config>>();
    if (narrowed) g = passes::narrow(g);
    vec<int> leaves{};
    for (int i = 0; i < g.size(); ++i)
      if (g[i].op == &parameter_info) leaves.push_back(i);
    vec<int> const grads = gradients(g, g.outputs[0].value, leaves);
    for (int id : grads)
      if (id >= 0) g.outputs.push_back({id});
    return outputs_of(g);
  };
  auto const wanted = with_gradients(false);
  auto const got = with_gradients(true);
  REQUIRE(got.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(distance(got[k], wanted[k]) < 1e-12);
}
