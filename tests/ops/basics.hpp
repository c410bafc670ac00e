// Arithmetic, elementary functions, reductions, products, views and look-ups against PyTorch's values and gradients
// (tests/parity/basics.py): ties, infinities, NaN, masked rows, views by stride.
#pragma once

#include "torch_groups.hpp"

#include <tx/ops/abs.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/binary_cross_entropy.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/erf.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/expm1.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/floor.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/log1p.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/normalize.hpp>
#include <tx/ops/pad.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/rsqrt.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/split.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/stack.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/ops/triangle.hpp>
#include <tx/ops/where.hpp>

namespace {

template <class T, auto... D>
using p = tx::param<tx::tensor<T, D...>>;
template <class T, auto... D>
using t = tx::tensor<T, D...>;

torch_numbers const& file() {
  static torch_numbers const f{"basics"};
  return f;
}

// ---- arithmetic: members are named as in the file -------------------------------------------------------------------

template <class T>
struct arithmetic {
  p<T, 3, 17> negated, exp, expm1, log, log1p, sqrt, rsqrt, tanh, sigmoid, erf, gelu, gelu_tanh, abs, ceil;
  p<T, 9, 1> left;
  p<T, 9> right;
  p<T, 7, 1, 2> tall;
  p<T, 3, 1> wide;
  p<T, 3, 17> first, second, bounded, halved, cut;
};
template <class T>
struct functions {
  t<T, 3, 17> negated;
  t<T, 17, 3> exp;
  t<T, 3, 17> expm1, log;
  t<T, 17, 3> log1p;
  t<T, 3, 17> sqrt, rsqrt, tanh, sigmoid, erf, gelu, gelu_tanh, abs, ceil;
};
template <class T>
struct operations {
  t<T, 9, 9> sum, difference, product, quotient;
  t<tx::i32, 9, 9> ordered;
  t<T, 7, 3, 2> mixed;
  t<T, 3, 17> larger, smaller, chosen, bf16, f16;
  t<tx::i32, 3, 17> cut;
  t<T, 3, 17> stopped;
};
template <class T>
struct arithmetic_values {
  t<T> loss;
  functions<T> of_one;
  operations<T> of_two;
};
template <class T>
constexpr auto arithmetic_loss = [](arithmetic<T> const& m) {
  auto const bit = [](auto const& b, int value) { return tx::cast<tx::i32>(b) * value; };
  functions<T> const f{-m.negated,
                       tx::exp(tx::transpose(m.exp)),
                       tx::expm1(m.expm1),
                       tx::log(m.log),
                       tx::log1p(tx::transpose(m.log1p)),
                       tx::sqrt(m.sqrt),
                       tx::rsqrt(m.rsqrt),
                       tx::tanh(m.tanh),
                       tx::sigmoid(m.sigmoid),
                       tx::erf(m.erf),
                       tx::gelu(m.gelu),
                       tx::gelu_tanh(m.gelu_tanh),
                       tx::abs(m.abs),
                       tx::ceil(m.ceil)};
  operations<T> const o{m.left + m.right,
                        m.left - m.right,
                        m.left * m.right,
                        m.left / m.right,
                        bit(tx::less(m.left, m.right), 1) + bit(tx::less_equal(m.left, m.right), 2) +
                            bit(tx::equal(m.left, m.right), 4) +
                            bit(tx::logical_and(tx::less(0, m.left), tx::less(0, m.right)), 8),
                        (m.tall + m.wide) * m.wide - m.tall / m.wide + 2 / m.wide - m.tall * 0.5,
                        tx::maximum(m.first, m.second),
                        tx::minimum(m.first, m.second),
                        tx::where(tx::less(m.bounded, 0.5), m.bounded * 3, tx::exp(m.bounded)),
                        tx::cast<T>(tx::cast<tx::bf16>(m.halved)),
                        tx::cast<T>(tx::cast<tx::f16>(m.halved)),
                        tx::cast<tx::i32>(m.cut),
                        m.bounded * tx::stop_gradient(m.bounded)};
  auto const loss = weighed(f.negated) + weighed(f.exp) + weighed(f.expm1) + weighed(f.log) + weighed(f.log1p) +
                    weighed(f.sqrt) + weighed(f.rsqrt) + weighed(f.tanh) + weighed(f.sigmoid) + weighed(f.erf) +
                    weighed(f.gelu) + weighed(f.gelu_tanh) + weighed(f.abs) + weighed(f.ceil) + weighed(o.mixed) +
                    weighed(o.larger) + weighed(o.smaller, 2) + weighed(o.chosen) + weighed(o.bf16) +
                    weighed(o.f16, 2) + weighed(o.stopped, 3);
  return arithmetic_values<T>{loss, f, o};
};
std::vector<std::string> const arithmetic_names{
    "negated", "exp",   "expm1",     "log",     "log1p",  "sqrt", "rsqrt",      "tanh",    "sigmoid",
    "erf",     "gelu",  "gelu_tanh", "abs",     "ceil",   "sum",  "difference", "product", "quotient",
    "ordered", "mixed", "larger",    "smaller", "chosen", "bf16", "f16",        "cut",     "stopped"};

// ---- reductions -----------------------------------------------------------------------------------------------------

template <class T>
struct reductions {
  p<T, 3, 5, 7> x;
  p<T, 4, 6, 1> tied;
  p<T, 4, 17> rows;
  p<T, 3, 17> normal;
  p<T, 17> scale, shift;
  p<T, 3, 7> logits;
  p<T, 4, 7> unit, one, other;
};
template <class T>
struct reductions_values {
  t<T> loss;
  t<T, 1, 5, 7> sum_first;
  t<T, 3, 1, 7> sum_middle;
  t<T, 1, 5, 1> sum_outer;
  t<T> sum_all;
  t<T, 3, 5, 1> mean_last;
  t<T, 3, 1, 1> mean_inner;
  t<T, 3, 1, 7> product;
  t<T, 1, 6, 1> max_first;
  t<T> max_all;
  t<T, 4, 1, 1> min_last, min_middle;
  t<T> min_all;
  t<T, 3, 5, 7> running;
  t<T, 4, 17> softmax;
  t<T, 3, 5, 7> softmax_first;
  t<T, 3, 17> layer_norm;
  t<T> entropy;
  t<T, 3, 7> entropies;
  t<T, 4, 7> unit;
  t<T, 4, 1> cosine;
};
template <class T>
constexpr auto reductions_loss = [](reductions<T> const& m, t<T, 3, 7> targets) {
  reductions_values<T> v{{},
                         tx::sum<0>(m.x),
                         tx::sum<1>(m.x),
                         tx::sum<0, 2>(m.x),
                         tx::sum(m.x),
                         tx::mean<-1>(m.x),
                         tx::mean<1, 2>(m.x),
                         tx::prod<1>(m.x),
                         tx::max<0>(m.tied),
                         tx::max(m.tied),
                         tx::min<1, -1>(m.tied),
                         tx::min<1>(m.tied),
                         tx::min(m.tied),
                         tx::cumsum<1>(m.x),
                         tx::softmax(m.rows),
                         tx::softmax<0>(m.x * 3),
                         tx::layer_norm(m.normal, m.scale, m.shift, 0.1),
                         tx::binary_cross_entropy_with_logits(m.logits, targets),
                         tx::binary_cross_entropy_with_logits<tx::reduction::none>(m.logits, targets),
                         tx::normalize(m.unit),
                         tx::cosine_similarity(m.one, m.other)};
  v.loss = weighed(v.sum_first) + weighed(v.sum_middle, 2) + weighed(v.sum_outer, 3) + v.sum_all * 0.5 +
           weighed(v.mean_last, 5) + weighed(v.mean_inner, 7) + weighed(v.product, 1.5) + weighed(v.max_first) +
           v.max_all * 3 + weighed(v.min_last, 2) + weighed(v.min_middle, 0.7) + v.min_all * 5 +
           weighed(v.running, 0.3) + weighed(v.softmax) + weighed(v.softmax_first, 2) + weighed(v.layer_norm) +
           v.entropy * 3 + weighed(v.entropies) + weighed(v.unit) + weighed(v.cosine, 2);
  return v;
};
std::vector<std::string> const reductions_names{"sum_first",  "sum_middle", "sum_outer", "sum_all", "mean_last",
                                                "mean_inner", "product",    "max_first", "max_all", "min_last",
                                                "min_middle", "min_all",    "running",   "softmax", "softmax_first",
                                                "layer_norm", "entropy",    "entropies", "unit",    "cosine"};

// ---- products, views, look-ups --------------------------------------------------------------------------------------

template <class T>
struct products {
  p<T, 2, 3, 5, 7> a;
  p<T, 2, 3, 7, 4> b;
  p<T, 2, 3, 4, 7> c;
  p<T, 2, 3, 7, 5> d;
  p<T, 2, 3, 7, 1> e;
  p<T, 2, 3, 17, 7> f;
  p<T, 7, 17> w;
  p<T, 17, 1> column;
  p<T, 1, 7> row;
  p<T, 2, 3, 8> x;
  p<T, 3, 1> thin;
  p<T, 6, 5> table;
};
template <class T>
struct products_values {
  t<T> loss;
  t<T, 2, 3, 5, 4> batched, right_turned, left_turned;
  t<T, 2, 3, 1, 17> both_turned;
  t<T, 2, 3, 5, 17> shared;
  t<T, 17, 7> outer;
  t<T, 2, 3, 3> stepped;
  t<T, 2, 6, 8> padded;
  t<T, 4, 3, 4> parted;
  t<T, 2, 3, 8, 2> stacked;
  t<T, 4, 12> permuted;
  t<T, 2, 3, 17> repeated;
  t<T, 7, 17> triangle;
  t<T, 2, 4, 5> words;
  t<T, 2, 5> bags;
};
template <class T>
constexpr auto products_loss = [](products<T> const& m, t<tx::i32, 2, 4> ids) {
  auto const [front, back] = tx::split<-1, 2>(m.x);
  products_values<T> v{{},
                       tx::matmul(m.a, m.b),
                       tx::matmul(m.a, tx::transpose(m.c)),
                       tx::matmul(tx::transpose(m.d), m.b),
                       tx::matmul(tx::transpose(m.e), tx::transpose(m.f)),
                       tx::matmul(m.a, m.w),
                       tx::matmul(m.column, m.row),
                       tx::slice<2, 1, 3, 3>(m.x),
                       tx::pad<1, 1, 2>(m.x),
                       tx::concat<0>(back, front),
                       tx::stack<-1>(m.x, tx::flip<1>(m.x)),
                       tx::reshape<4, 12>(tx::transpose<2, 0, 1>(m.x)),
                       tx::broadcast_to<2, 3, 17>(m.thin),
                       tx::tril(m.w),
                       tx::take(m.table, ids),
                       tx::embedding(m.table, ids)};
  v.loss = weighed(v.batched) + weighed(v.right_turned, 2) + weighed(v.left_turned, 0.5) + weighed(v.both_turned, 0.7) +
           weighed(v.shared, 0.2) + weighed(v.outer, 3) + weighed(v.stepped) + weighed(v.padded, 0.3) +
           weighed(v.parted, 2) + weighed(v.stacked, 0.4) + weighed(v.permuted, 0.1) + weighed(v.repeated, 0.6) +
           weighed(v.triangle, 0.9) + weighed(v.words) + weighed(v.bags, 2);
  return v;
};
std::vector<std::string> const products_names{"batched",  "right_turned", "left_turned", "both_turned", "shared",
                                              "outer",    "stepped",      "padded",      "parted",      "stacked",
                                              "permuted", "repeated",     "triangle",    "words",       "bags"};

template <class T, tx::compile_options Options = tx::compile_options{}>
void check_arithmetic(double tolerance) {
  check_group<tx::cpu, T, arithmetic<T>, arithmetic_loss<T>, Options>(file(), "arithmetic", arithmetic_names,
                                                                      tolerance);
}
template <class T, tx::compile_options Options = tx::compile_options{}>
void check_reductions(double tolerance) {
  check_group<tx::cpu, T, reductions<T>, reductions_loss<T>, Options>(file(), "reductions", reductions_names, tolerance,
                                                                      file().as<T>("reductions.constant.targets"));
}
template <class T, tx::compile_options Options = tx::compile_options{}>
void check_products(double tolerance) {
  check_group<tx::cpu, T, products<T>, products_loss<T>, Options>(file(), "products", products_names, tolerance,
                                                                  file().as<tx::i32>("products.constant.ids"));
}

}  // namespace
