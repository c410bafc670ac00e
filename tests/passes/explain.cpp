// Why two neighbouring ops are in different kernels: a graph for each answer.
#include <tx/expr/repeat.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/passes/fuse.hpp>

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

namespace {

using namespace tx;
using passes::explain;
using passes::fusion_answer;

using matrix = tensor<f32, 8, 8>;  // rows are as many as columns: what would fit is still read wrong

struct recorded {
  graph g{};
  int count = 0;

  template <class T>
  T input() {
    return T{&g, emit_leaf(g, input_info, T::info, attributes{{count++}}).id};
  }
  matrix parameter() { return {&g, emit_leaf(g, parameter_info, matrix::info).id}; }
  template <class... T>
  void results(T const&... values) {
    (g.outputs.push_back({values.id}), ...);
  }
  void replace(matrix const& old, var const& next) { g.outputs.push_back({next.id, output_kind::assign, old.id}); }

  // Of the last node of an op: of what typed handles do not name.
  int last(op_info const& op) const {
    int found = -1;
    for (int i = 0; i < g.size(); ++i)
      if (g[i].op == &op) found = i;
    REQUIRE(found >= 0);
    return found;
  }
};

struct squashed {
  constexpr auto operator()(auto const& x) const { return tanh(x); }
};

}  // namespace

TEST_CASE("explain: they are fused", "[explain]") {
  recorded r;
  auto const y = exp(r.input<matrix>());
  auto const z = y + 1.0;
  r.results(z);
  CHECK(explain(r.g, y.id, z.id) == fusion_answer::fused);
  // An epilogue is one with its product.
  auto const p = matmul(r.input<matrix>(), r.input<matrix>());
  auto const q = tanh(p);
  r.results(q);
  CHECK(explain(r.g, p.id, q.id) == fusion_answer::fused);
}

TEST_CASE("explain: one is inside a repeated block, the other is not", "[explain]") {
  recorded r;
  auto const before = exp(r.input<matrix>());
  auto const after = repeat<3, squashed>{}(before)*2.0;
  auto const product = matmul(after, after);
  r.results(product);
  int const inside = r.last(tanh_info);
  CHECK(explain(r.g, before.id, inside) == fusion_answer::other_region);
  CHECK(explain(r.g, inside, after.id) == fusion_answer::other_region);
  CHECK(explain(r.g, inside, product.id) == fusion_answer::other_region);  // also of what begins a kernel
}

TEST_CASE("explain: the producer is not computed", "[explain]") {
  recorded r;
  auto const x = r.input<matrix>();
  auto const w = r.parameter();
  auto const bias = r.input<tensor<f32, 8>>();
  auto const y = x * 2.0 + w;
  auto const z = y + bias;
  r.results(z);
  for (int from : {x.id, w.id, bias.id}) CHECK(explain(r.g, from, z.id) == fusion_answer::not_computed);
  CHECK(explain(r.g, r.last(constant_info), z.id) == fusion_answer::not_computed);
  CHECK(explain(r.g, r.last(broadcast_info), z.id) == fusion_answer::not_computed);  // of the bias
}

TEST_CASE("explain: a view shows what another kernel has computed, or this one", "[explain]") {
  recorded r;
  auto const x = r.input<matrix>();
  auto const total = sum<-1>(exp(x));
  auto const share = x / total;
  auto const rows = embedding(x, r.input<tensor<i32, 8, 1>>());
  auto const flat = reshape<64>(rows);
  auto const again = exp(flat);
  r.results(share, again);
  CHECK(explain(r.g, r.last(row_sum_info), r.last(broadcast_info)) == fusion_answer::view);
  CHECK(explain(r.g, r.last(broadcast_info), share.id) == fusion_answer::fused);
  CHECK(explain(r.g, flat.id, again.id) == fusion_answer::not_fusible);
}

TEST_CASE("explain: the producer is a kernel of its own", "[explain]") {
  recorded r;
  auto const rows = embedding(r.input<matrix>(), r.input<tensor<i32, 8, 1>>());
  auto const y = exp(rows);
  auto const p = matmul(y, y);
  r.results(p);
  CHECK(explain(r.g, r.last(embedding_info), y.id) == fusion_answer::not_fusible);
  CHECK(explain(r.g, y.id, p.id) == fusion_answer::not_fusible);  // a product begins a kernel
}

TEST_CASE("explain: the consumer has other rows and columns", "[explain]") {
  recorded r;
  auto const y = exp(r.input<tensor<f32, 8, 16>>());
  auto const t = transpose(y) + 1.0;
  r.results(y, t);
  CHECK(explain(r.g, y.id, t.id) == fusion_answer::other_space);
}

TEST_CASE("explain: the consumer needs other rows, or a sum that is not complete", "[explain]") {
  recorded r;
  auto const x = r.input<matrix>();
  auto const y = exp(x);
  auto const t = transpose(y) + x;
  auto const sums = sum<0>(y);
  auto const scaled = y * sums;
  r.results(y, t, scaled);
  CHECK(explain(r.g, y.id, t.id) == fusion_answer::other_access);
  int const total = r.last(col_sum_info);
  CHECK(explain(r.g, y.id, total) == fusion_answer::fused);
  CHECK(explain(r.g, total, scaled.id) == fusion_answer::other_access);
}

TEST_CASE("explain: another operand is computed after the producer's kernel", "[explain]") {
  recorded r;
  auto const x = r.input<matrix>();
  auto const y = exp(x);
  auto const p = matmul(x, r.input<matrix>());
  auto const z = y + p;
  r.results(y, z);
  CHECK(explain(r.g, y.id, z.id) == fusion_answer::order);
  CHECK(explain(r.g, p.id, z.id) == fusion_answer::fused);
}

TEST_CASE("explain: the consumer overwrites what the kernel still reads", "[explain]") {
  recorded r;
  auto const w = r.parameter();
  auto const length = sum<-1>(w * w);  // of each row, once all of the row is read
  auto const next = w * length;
  r.results(length);
  r.replace(w, next);
  int const total = r.last(row_sum_info);
  CHECK(explain(r.g, total, next.id) == fusion_answer::hazard);
  // Where nothing is overwritten the same ops are one kernel.
  recorded s;
  auto const x = s.input<matrix>();
  auto const y = x * sum<-1>(x * x);
  s.results(y);
  CHECK(explain(s.g, s.last(row_sum_info), y.id) == fusion_answer::fused);
}

TEST_CASE("explain: the kernel has as many operations as one may have", "[explain]") {
  recorded r;
  auto const first = matmul(r.input<matrix>(), r.input<matrix>());
  std::vector<int> chain{first.id};
  matrix x = first;
  for (int k = 0; k < 150; ++k) chain.push_back((x = tanh(x)).id);
  r.results(x);
  int full = 0, fused = 0;
  for (std::size_t k = 1; k < chain.size(); ++k) {
    fusion_answer const a = explain(r.g, chain[k - 1], chain[k]);
    full += a == fusion_answer::full;
    fused += a == fusion_answer::fused;
  }
  CHECK(full == 1);
  CHECK(fused == 149);
}

TEST_CASE("explain: every answer has a text of its own", "[explain]") {
  std::set<std::string> texts;
  for (int a = 0; a <= static_cast<int>(fusion_answer::full); ++a) texts.insert(to_text(static_cast<fusion_answer>(a)));
  CHECK(texts.size() == 10);
  CHECK(std::string(to_text(fusion_answer::hazard)) == "the consumer overwrites a value that the kernel still reads");
}
