// Compiled programs on both backends, fused and not, against the interpreter that the other tests hold to plain functions.
#include "../grad_program.hpp"

#include <tx/ops/abs.hpp>
#include <tx/ops/binary_cross_entropy.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/expm1.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/log1p.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/normalize.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/sqrt.hpp>

#include <catch2/catch.hpp>

namespace {

template <class T, auto... D>
using p = tx::param<tx::tensor<T, D...>, tx::init::uniform<2, 1>>;
template <class T, auto... D>
using positive = tx::param<tx::tensor<T, D...>, tx::init::ones>;
template <class T>
using number = tx::tensor<T>;

constexpr auto weighed = [](auto const& y, double by) { return tx::sum(y * (tx::cast<typename std::remove_cvref_t<decltype(y)>::element_type>(tx::iota<-1>(y)) * 0.25 + by)); };

// ---- every elementwise op, broadcast in several ways ----------------------------------------------------------------

template <class T>
struct elementwise_model {
  p<T, 7, 17> a;
  p<T, 17> row;
  p<T, 7, 1> column;
  p<T, 1> one;
  p<T> scalar;
  p<T, 3, 1, 17> deep;
};
template <class T>
struct elementwise_result {
  number<T> loss;
  tx::tensor<T, 7, 17> first;
  tx::tensor<T, 3, 7, 17> second;
  tx::tensor<bool, 7, 17> third;
};
template <class T>
constexpr auto elementwise_loss = [](elementwise_model<T> const& m) {
  auto const x = tx::tanh(m.a + m.row) * tx::sigmoid(m.column - m.one);
  auto const y = tx::gelu(m.a * m.column) + tx::gelu_tanh(m.row) / (tx::exp(m.scalar) + 1) - tx::erf(-x);
  auto const z = tx::log(tx::abs(m.deep) + 0.5) + tx::log1p(tx::maximum(m.a, 0)) * tx::minimum(m.row, m.column);
  auto const w = tx::sqrt(m.a * m.a + 0.3) + tx::rsqrt(tx::expm1(tx::abs(m.column)) + 0.7);
  auto const inside = tx::logical_and(tx::less(m.a, m.row), tx::less_equal(-1, m.column));
  auto const v = tx::where(inside, m.a * m.one, tx::where(tx::equal(m.a, m.row), w, 2.0));
  return elementwise_result<T>{weighed(x, 1) + weighed(y, 0.5) + weighed(z, 2) + weighed(w, 0.1) + weighed(v, 0.7), y, z, inside};
};

// ---- reductions over any axes, normalisations -----------------------------------------------------------------------

template <class T>
struct reduction_model {
  p<T, 3, 5, 7> x;
  p<T, 3, 5, 7> y;
  positive<T, 7> scale;
  p<T, 7> shift;
  p<T, 2, 1, 17> wide;
};
template <class T>
struct reduction_result {
  number<T> loss;
  tx::tensor<T, 3, 5, 7> normal;
  tx::tensor<T, 3, 1, 7> middle;
  tx::tensor<T, 1, 5, 1> outer;
  tx::tensor<T, 2, 1, 17> shares;
};
template <class T>
constexpr auto reduction_loss = [](reduction_model<T> const& m) {
  auto const normal = tx::layer_norm(m.x, m.scale, m.shift, 1e-3);
  auto const middle = tx::max<1>(m.x) + tx::sum<1>(m.y * m.x);
  auto const outer = tx::mean<0, 2>(m.y * m.scale) + tx::max<0, -1>(m.x);
  auto const shares = tx::softmax(m.wide * 3);
  auto const sharp = tx::log_softmax(m.x + m.shift);
  auto const angle = tx::cosine_similarity(m.x, m.y) * tx::max(m.y) + tx::mean<0>(tx::normalize(m.y));
  auto const total = weighed(normal, 1) + weighed(middle, 2) + weighed(outer, 0.5) + weighed(shares, 3) + weighed(sharp, 0.2) + weighed(angle, 1) +
                     tx::mean(m.x * m.x) + tx::sum(tx::sum<0>(m.x) * tx::sum<0>(m.x));
  return reduction_result<T>{total, normal, middle, outer, shares};
};

// ---- products and views ---------------------------------------------------------------------------------------------

template <class T>
struct product_model {
  p<T, 2, 3, 5, 7> q;
  p<T, 2, 3, 4, 7> k;
  p<T, 7, 9> w;
  p<T, 9> bias;
  p<T, 17, 1> thin;
  p<T, 1, 3> flat;
};
template <class T>
struct product_result {
  number<T> loss;
  tx::tensor<T, 2, 3, 5, 4> scores;
  tx::tensor<T, 2, 5, 27> merged;
  tx::tensor<T, 17, 3> outer;
  tx::tensor<T, 3, 4> few;
};
template <class T>
constexpr auto product_loss = [](product_model<T> const& m) {
  auto const scores = tx::matmul(m.q, tx::transpose(m.k)) * 0.3;
  auto const mixed = tx::matmul(tx::softmax(scores), m.k);                                       // [2, 3, 5, 7]
  auto const merged = tx::reshape<2, 5, 27>(tx::transpose<0, 2, 1, 3>(tx::gelu(tx::matmul(mixed, m.w) + m.bias)));
  auto const outer = tx::matmul(m.thin, m.flat);
  auto const part = tx::slice<1, 0, 2, 2>(tx::slice<0, 1, 1>(m.k));  // [1, 2, 4, 7]
  auto const few = tx::reshape<3, 4>(tx::slice<-1, 0, 4, 2>(tx::slice<2, 2, 1>(tx::slice<0, 0, 1>(m.q))));
  auto const wide = tx::broadcast_to<4, 3, 4>(few) * tx::reshape<4, 1, 1>(tx::slice<0, 3, 4, 4>(m.thin));
  auto const total = weighed(scores, 1) + weighed(merged * merged, 0.2) + weighed(outer, 0.3) + weighed(part, 0.4) + weighed(few * few, 1) +
                     weighed(wide, 0.1) + weighed(tx::transpose(merged) * 0.5, 1) + tx::sum(tx::matmul(tx::transpose(outer), outer));
  return product_result<T>{total, scores, merged, outer, few};
};

// ---- look-ups, losses, casts ----------------------------------------------------------------------------------------

template <class T>
struct lookup_model {
  p<T, 11, 5> table;
  p<T, 5, 3> out;
  p<T, 6> logits;
};
template <class T>
struct lookup_result {
  number<T> loss;
  tx::tensor<T, 2, 3, 5> words;
  number<T> entropy, binary;
  tx::tensor<tx::i32, 2, 3> positions;
};
template <class T>
constexpr auto lookup_loss = [](lookup_model<T> const& m, tx::tensor<tx::i32, 2, 3, 4> ids, tx::tensor<tx::i64, 2, 3> labels, tx::tensor<tx::f32, 6> targets) {
  auto const words = tx::embedding(m.table, ids) + tx::embedding(m.table, tx::reshape<2, 3, 1>(labels));
  auto const keep = tx::less(labels, 9);
  auto const kept = tx::where(tx::reshape<2, 3, 1>(keep), words, -0.5);
  auto const entropy = tx::cross_entropy(tx::matmul(kept, m.out), tx::minimum(labels, 2));
  auto const binary = tx::binary_cross_entropy_with_logits(m.logits * 4, tx::cast<T>(targets));
  auto const positions = tx::iota<0>(labels) * 10 + tx::iota<1>(labels) + tx::cast<tx::i32>(keep) + tx::cast<tx::i32>(labels);
  auto const counted = tx::sum(tx::cast<T>(positions) * tx::reshape<2, 3>(m.logits));
  return lookup_result<T>{entropy + binary * 2 + counted * 0.01, words, entropy, binary, positions};
};

// ---- a repeat with an invariant -------------------------------------------------------------------------------------

template <class T>
struct block {
  p<T, 5, 5> weight;
  positive<T, 5> scale;
  p<T, 5> shift;
  constexpr auto operator()(auto const& x, auto const& bias) const {
    auto const y = tx::layer_norm(x + tx::tanh(tx::matmul(x, weight) + bias), scale, shift, 1e-3);
    return y + tx::softmax(tx::matmul(y, tx::transpose(weight)));
  }
};
template <class T>
struct repeat_model {
  p<T, 3, 5> start;
  p<T, 3, 1> bias;
  tx::repeat<3, block<T>> layer;
};
template <class T>
constexpr auto repeat_loss = [](repeat_model<T> const& m) {
  auto const y = m.layer(m.start, m.bias);
  return weighed(y * y, 1) + tx::sum(m.start);
};

// The reference in f64 and the cpu backend in f32, both fused.
template <template <class> class Model, auto Loss64, auto Loss32, class... In>
void check_programs(std::vector<In> const&... in) {
  CHECK(distance_from_interpreter<grad_program<Model<double>, Loss64>, tx::reference, Loss64>(in...) < 1e-11);
  CHECK(distance_from_interpreter<grad_program<Model<float>, Loss32>, tx::cpu, Loss32>(in...) < 2e-5);
}

}  // namespace

TEST_CASE("compiled elementwise ops") { check_programs<elementwise_model, elementwise_loss<double>, elementwise_loss<float>>(); }
TEST_CASE("compiled reductions, a kernel for each op") {
  CHECK(distance_from_interpreter<grad_program<reduction_model<double>, reduction_loss<double>, unfused>, tx::reference, reduction_loss<double>>() < 1e-11);
}
TEST_CASE("compiled reductions") { check_programs<reduction_model, reduction_loss<double>, reduction_loss<float>>(); }
TEST_CASE("compiled products and views") { check_programs<product_model, product_loss<double>, product_loss<float>>(); }
TEST_CASE("compiled look-ups and losses") {
  std::vector<tx::i32> const ids{0, 3, -1, -1, 10, 10, 2, -5, -1, -1, -1, -1, 4, 5, 6, 7, 1, -1, 1, 1, 9, 0, 0, 8};
  std::vector<tx::i64> const labels{0, 2, 1, 7, 10, 0};
  check_programs<lookup_model, lookup_loss<double>, lookup_loss<float>>(ids, labels, std::vector<float>{0, 1, 0.25f, 0.75f, 1, 0});
}
TEST_CASE("a compiled repeat") {
  check_programs<repeat_model, repeat_loss<double>, repeat_loss<float>>();
  CHECK(distance_from_interpreter<grad_program<repeat_model<double>, repeat_loss<double>>, tx::cpu, repeat_loss<double>>() < 1e-11);
  CHECK(distance_from_interpreter<grad_program<repeat_model<float>, repeat_loss<float>, unfused>, tx::cpu, repeat_loss<float>>() < 2e-5);
}
