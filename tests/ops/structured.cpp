// Views, products, look-ups and losses: values against plain loops, gradients against central differences.
#include "../interpreter/passes.hpp"
#include "check_op.hpp"

#include <tx/ops/binary_cross_entropy.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/normalize.hpp>
#include <tx/ops/slice.hpp>

namespace {

using vars = std::vector<tx::var>;
using arrays = std::vector<array>;

array softmax_of(array const& x) {
  array const most = largest(x, {-1});
  array const e = each([](double a, double m) { return std::exp(a - m); }, x, most);
  return each([](double a, double b) { return a / b; }, e, summed(e, {-1}));
}
array matmul_of(array const& a, array const& b) {
  tx::shape dims = a.dims;
  dims.dim[dims.rank - 1] = b.dims.last();
  array out = filled(dims);
  for (std::size_t e = 0; e < out.v.size(); ++e) {
    auto const at = position_of(dims, e);
    for (int k = 0; k < a.dims.last(); ++k) {
      auto left = at;
      auto right = at;
      left.back() = k;
      right[right.size() - 2] = k;
      out.v[e] += a.v[element_at(a.dims, left)] * b.v[element_at(b.dims, right)];
    }
  }
  return out;
}
double product(std::vector<int> const& v) {
  double p = 1;
  for (int x : v) p *= x;
  return p;
}

}  // namespace

TEST_CASE("reshape, broadcast_to and transpose") {
  number_source numbers(14);
  array const x = numbers.spread(make_dims({2, 3, 1, 5}), -2, 2);
  for (auto const& to : std::vector<std::vector<int>>{{30}, {6, 5}, {1, 30, 1}, {3, 2, 5}, {5, 1, 3, 2}, {2, 1, 15, 1, 1}}) {
    REQUIRE(product(to) == 30);
    check_op("reshape", {x}, [&](vars const& v) { return tx::reshape(v[0], make_dims(to)); },
             [&](arrays const& v) { return array{make_dims(to), v[0].v}; });
  }
  check_op("reshape with -1", {x}, [&](vars const& v) { return tx::reshape<-1, 3>(v[0]); },
           [&](arrays const& v) { return array{make_dims({10, 3}), v[0].v}; });
  for (int rank : {1, 2, 2, 3, 3, 4}) {
    tx::shape const full = numbers.dims(rank);
    check_op("broadcast_to", {numbers.spread(numbers.against(full), -2, 2)}, [&](vars const& v) { return tx::broadcast_to(v[0], full); },
             [&](arrays const& v) { return each([](double a, double) { return a; }, v[0], filled(full)); });
  }
  for (int rank : {2, 3, 4}) {
    array const y = numbers.spread(numbers.dims(rank), -2, 2);
    std::vector<int> order = axes_of(y.dims);
    do {
      auto plain = [&](arrays const& v) {
        tx::shape to = v[0].dims;
        for (int i = 0; i < rank; ++i) to.dim[i] = v[0].dims.dim[order[static_cast<std::size_t>(i)]];
        array out = filled(to);
        for (std::size_t e = 0; e < out.v.size(); ++e) {
          auto const at = position_of(to, e);
          std::vector<int> from(at.size());
          for (std::size_t i = 0; i < at.size(); ++i) from[static_cast<std::size_t>(order[i])] = at[i];
          out.v[e] = v[0].v[element_at(v[0].dims, from)];
        }
        return out;
      };
      tx::attributes axes{};
      for (int i = 0; i < rank; ++i) axes.v[i] = order[static_cast<std::size_t>(i)];
      check_op("transpose", {y}, [&](vars const& v) { return tx::transpose(v[0], axes); }, plain);
      check_op("transpose twice", {y}, [&](vars const& v) { return tx::transpose(tx::transpose(tx::transpose(v[0], axes))); }, plain);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("slice and pad") {
  number_source numbers(15);
  for (int trial = 0; trial < 24; ++trial) {
    array const x = numbers.spread(numbers.dims(1 + trial % 4), -2, 2);
    int const axis = numbers.below(x.dims.rank);
    int const extent = x.dims.dim[axis];
    int const start = numbers.below(extent);
    int const step = 1 + numbers.below(3);
    int const count = 1 + numbers.below((extent - 1 - start) / step + 1);
    auto shifted = [&](array const& from, tx::shape const& to, bool slicing) {
      array out = filled(to);
      array const& small = slicing ? out : from;
      for (std::size_t e = 0; e < small.v.size(); ++e) {
        auto at = position_of(small.dims, e);
        at[static_cast<std::size_t>(axis)] = start + at[static_cast<std::size_t>(axis)] * step;
        if (slicing) out.v[e] = from.v[element_at(from.dims, at)];
        else out.v[element_at(to, at)] = from.v[e];
      }
      return out;
    };
    tx::shape sliced = x.dims;
    sliced.dim[axis] = count;
    check_op("slice", {x}, [&](vars const& v) { return tx::slice(v[0], axis - (trial % 2) * x.dims.rank, start, count, step); },
             [&](arrays const& v) { return extent == 1 ? v[0] : shifted(v[0], sliced, true); });
    tx::shape padded = x.dims;
    padded.dim[axis] = start + (extent - 1) * step + 1 + numbers.below(3);
    check_op("pad", {x}, [&](vars const& v) { return tx::pad(v[0], axis, start, step, padded.dim[axis]); },
             [&](arrays const& v) { return padded.dim[axis] == 1 ? v[0] : shifted(v[0], padded, false); });
  }
}

TEST_CASE("pad sets zeros before and after an axis") {
  array const x = number_source(24).spread(make_dims({2, 3, 1}), -2, 2);
  auto check = [&](int axis, int before, int after, std::function<tx::var(tx::var)> const& op) {
    check_op("pad", {x}, [&](vars const& v) { return op(v[0]); }, [=](arrays const& v) {
      tx::shape dims = v[0].dims;
      dims.dim[axis] += before + after;
      return built(dims, [&](std::vector<int> const& at) {
        int const from = at[static_cast<std::size_t>(axis)] - before;
        return from < 0 || from >= v[0].dims.dim[axis] ? 0.0 : element(v[0], moved_to(at, axis, from));
      });
    });
  };
  check(0, 1, 2, [](tx::var v) { return tx::pad<0, 1, 2>(v); });
  check(1, 0, 4, [](tx::var v) { return tx::pad<-2, 0, 4>(v); });
  check(2, 3, 0, [](tx::var v) { return tx::pad<2, 3, 0>(v); });
  check(1, 0, 0, [](tx::var v) { return tx::pad<1, 0, 0>(v); });
}

TEST_CASE("products") {
  number_source numbers(16);
  for (auto const& [m, k, n] : std::vector<std::array<int, 3>>{{1, 1, 1}, {1, 7, 1}, {7, 1, 17}, {5, 17, 3}, {17, 2, 7}}) {
    for (auto const& batch : std::vector<std::vector<int>>{{}, {1}, {3}, {2, 2}}) {
      auto with = [&](int a, int b) {
        std::vector<int> dims = batch;
        dims.push_back(a);
        dims.push_back(b);
        return numbers.spread(make_dims(dims), -1, 1);
      };
      auto const op = [](vars const& v) { return tx::matmul(v[0], v[1]); };
      auto const plain = [](arrays const& v) { return matmul_of(v[0], v[1]); };
      check_op("matmul", {with(m, k), with(k, n)}, op, plain);
      check_op("matmul with a matrix", {with(m, k), numbers.spread(make_dims({k, n}), -1, 1)}, op, plain);
      check_op("(a b)^T", {with(m, k), with(k, n)}, [](vars const& v) { return tx::transpose(tx::matmul(v[0], v[1])); },
               [](arrays const& v) {
                 auto swapped = [](array const& a) {
                   array t = a;
                   std::swap(t.dims.dim[t.dims.rank - 1], t.dims.dim[t.dims.rank - 2]);
                   for (std::size_t e = 0; e < t.v.size(); ++e) {
                     auto at = position_of(t.dims, e);
                     std::swap(at.back(), at[at.size() - 2]);
                     t.v[e] = a.v[element_at(a.dims, at)];
                   }
                   return t;
                 };
                 return swapped(matmul_of(v[0], v[1]));
               });
    }
  }
  array const x = numbers.spread(make_dims({3, 3}), -1, 1);
  check_op("x x", {x}, [](vars const& v) { return tx::matmul(v[0], v[0]); }, [](arrays const& v) { return matmul_of(v[0], v[0]); });
}

TEST_CASE("softmax, log_softmax, layer_norm, normalize, cosine_similarity") {
  number_source numbers(17);
  for (int rank : {1, 2, 2, 3, 4}) {
    tx::shape const dims = numbers.dims(rank, 120);
    array const x = numbers.spread(dims, -3, 3);
    check_op("softmax", {x}, [](vars const& v) { return tx::softmax(v[0]); }, [](arrays const& v) { return softmax_of(v[0]); });
    check_op("log_softmax", {x}, [](vars const& v) { return tx::log_softmax(v[0]); },
             [](arrays const& v) { return each([](double a) { return std::log(a); }, softmax_of(v[0])); });
    array const scale = numbers.spread(make_dims({dims.last()}), 0.5, 1.5);
    array const shift = numbers.spread(make_dims({dims.last()}), -1, 1);
    double const n = dims.last();
    check_op("layer_norm", {x, scale, shift}, [](vars const& v) { return tx::layer_norm(v[0], v[1], v[2], 0.1); },
             [n](arrays const& v) {
               array const centred = each([n](double a, double s) { return a - s / n; }, v[0], summed(v[0], {-1}));
               array const square = each([](double a) { return a * a; }, centred);
               array const normal = each([n](double a, double s) { return a / std::sqrt(s / n + 0.1); }, centred, summed(square, {-1}));
               return each([](double a, double b) { return a + b; }, each([](double a, double b) { return a * b; }, normal, v[1]), v[2]);
             });
    auto unit = [](array const& a) {
      array const square = each([](double y) { return y * y; }, a);
      return each([](double y, double s) { return y / std::sqrt(s + 1e-12); }, a, summed(square, {-1}));
    };
    array const y = numbers.spread(dims, 0.4, 3);
    array const z = numbers.spread(dims, 0.3, 2.5);
    check_op("normalize", {y}, [](vars const& v) { return tx::normalize(v[0]); }, [&](arrays const& v) { return unit(v[0]); });
    check_op("cosine_similarity", {y, z}, [](vars const& v) { return tx::cosine_similarity(v[0], v[1]); },
             [&](arrays const& v) { return summed(each([](double a, double b) { return a * b; }, unit(v[0]), unit(v[1])), {-1}); });
  }
}

TEST_CASE("losses") {
  number_source numbers(18);
  for (auto const& rows : std::vector<std::vector<int>>{{}, {1}, {7}, {2, 3}})
    for (int classes : {1, 2, 5}) {
      std::vector<int> dims = rows;
      dims.push_back(classes);
      for (tx::dtype type : {tx::dtype::i32, tx::dtype::i64})
        check_op("cross_entropy", {numbers.spread(make_dims(dims), -2, 2), numbers.integers(make_dims(rows), 0, classes, type)},
                 [](vars const& v) { return tx::cross_entropy(v[0], v[1]); },
                 [classes](arrays const& v) {
                   array const p = softmax_of(v[0]);
                   double loss = 0;
                   for (std::size_t r = 0; r < v[1].v.size(); ++r)
                     loss -= std::log(p.v[r * static_cast<std::size_t>(classes) + static_cast<std::size_t>(v[1].v[r])]);
                   return array{tx::shape{}, {loss / static_cast<double>(v[1].v.size())}};
                 });
    }
  for (auto const& weights : std::vector<std::vector<double>>{{1, 1, 1}, {0.5, 0, 2}, {0, 0, 0}})
    check_op("cross_entropy", {numbers.spread(make_dims({3, 4}), -2, 2), numbers.integers(make_dims({3}), 0, 4, tx::dtype::i32)},
             [&](vars const& v) {
               auto const weight = [&](double w) { return tx::constant(*v[0].g, v[0].type(), w); };
               auto const row = [&](int k) { return tx::cast(tx::equal(tx::iota(*v[0].g, make_dims({3}), 0), k), v[0].type()) * weight(weights[static_cast<std::size_t>(k)]); };
               return tx::cross_entropy(v[0], v[1], row(0) + row(1) + row(2));
             },
             [&](arrays const& v) {
               array const p = softmax_of(v[0]);
               double loss = 0, total = 0;
               for (std::size_t r = 0; r < 3; ++r) {
                 loss -= weights[r] * std::log(p.v[r * 4 + static_cast<std::size_t>(v[1].v[r])]);
                 total += weights[r];
               }
               return array{tx::shape{}, {total == 0 ? 0 : loss / total}};
             });
  for (int rank : {0, 1, 2, 3}) {
    tx::shape const dims = numbers.dims(rank);
    check_op("binary_cross_entropy_with_logits", {numbers.spread(dims, -5.1, 5), numbers.spread(dims, 0, 1)},
             [](vars const& v) { return tx::binary_cross_entropy_with_logits(v[0], v[1]); },
             [](arrays const& v) {
               double loss = 0;
               for (std::size_t e = 0; e < v[0].v.size(); ++e) {
                 double const p = 1 / (1 + std::exp(-v[0].v[e]));
                 loss -= v[1].v[e] * std::log(p) + (1 - v[1].v[e]) * std::log1p(-p);
               }
               return array{tx::shape{}, {loss / static_cast<double>(v[0].v.size())}};
             }, true, 1e-7);
  }
}

TEST_CASE("embedding sums the rows that ids name; negative ids name none") {
  number_source numbers(19);
  for (auto const& ids : std::vector<std::vector<int>>{{1}, {7, 1}, {5, 3}, {2, 3, 4}, {2, 1, 3, 2}})
    for (int width : {1, 7})
      for (tx::dtype type : {tx::dtype::i32, tx::dtype::i64, tx::dtype::i16})
        check_op("embedding", {numbers.spread(make_dims({6, width}), -1, 1), numbers.integers(make_dims(ids), -2, 6, type)},
                 [](vars const& v) { return tx::embedding(v[0], v[1]); },
                 [width](arrays const& v) {
                   tx::shape dims = v[1].dims;
                   auto const bag = static_cast<std::size_t>(dims.last());
                   dims.dim[dims.rank - 1] = width;
                   array out = filled(dims);
                   for (std::size_t i = 0; i < v[1].v.size(); ++i)
                     for (std::size_t j = 0; j < static_cast<std::size_t>(width) && v[1].v[i] >= 0; ++j)
                       out.v[i / bag * static_cast<std::size_t>(width) + j] += v[0].v[static_cast<std::size_t>(v[1].v[i]) * static_cast<std::size_t>(width) + j];
                   return out;
                 });
}

TEST_CASE("iota is the position along an axis") {
  number_source numbers(20);
  array const x = numbers.spread(make_dims({2, 3, 5}), -1, 1);
  auto along = [](int axis) {
    return [axis](arrays const& v) {
      array out = filled(v[0].dims);
      for (std::size_t e = 0; e < out.v.size(); ++e) out.v[e] = position_of(v[0].dims, e)[static_cast<std::size_t>(axis)] + v[0].v[e];
      return out;
    };
  };
  check_op("iota<0>", {x}, [](vars const& v) { return tx::cast<tx::f64>(tx::iota<0>(v[0])) + v[0]; }, along(0));
  check_op("iota<1>", {x}, [](vars const& v) { return tx::cast<tx::f64>(tx::iota<1>(v[0])) + v[0]; }, along(1));
  check_op("iota<-1>", {x}, [](vars const& v) { return tx::cast<tx::f64>(tx::iota<-1>(v[0])) + v[0]; }, along(2));
}

TEST_CASE("wrong shapes are refused with what to do about it") {
  using tx::dtype;
  auto f = [](std::vector<int> const& dims) { return filled(make_dims(dims)); };
  auto i = [](std::vector<int> const& dims) { return array{make_dims(dims), {}, dtype::i32}; };
  using Catch::Contains;
  auto const product_of = [](vars const& v) { return tx::matmul(v[0], v[1]); };
  CHECK_THAT(refusal({f({2, 3}), f({2, 3})}, product_of), Contains("matmul: the last extent") && Contains("FIX"));
  CHECK_THAT(refusal({f({3}), f({3, 2})}, product_of), Contains("two axes") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 2, 3}), f({3, 3, 2})}, product_of), Contains("batch extents differ") && Contains("FIX"));
  CHECK_THAT(refusal({i({2, 3}), i({3, 2})}, product_of), Contains("floating-point"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::reshape<4>(v[0]); }), Contains("reshape") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::reshape<4, -1>(v[0]); }), Contains("-1") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::broadcast_to<4, 3>(v[0]); }), Contains("broadcast_to") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::broadcast_to<3>(v[0]); }), Contains("more axes") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::transpose<0, 0>(v[0]); }), Contains("transpose") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::transpose<1, 0, 2>(v[0]); }), Contains("as many axes"));
  CHECK_THAT(refusal({f({3})}, [](vars const& v) { return tx::transpose(v[0]); }), Contains("fewer than two axes"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::slice<1, 2, 2>(v[0]); }), Contains("slice") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::slice<2, 0, 1>(v[0]); }), Contains("no such axis"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::sum<2>(v[0]); }), Contains("no such axis") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::max<-3>(v[0]); }), Contains("no such axis"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::min<2>(v[0]); }), Contains("no such axis"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::pad<2, 1, 0>(v[0]); }), Contains("no such axis") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 0})}, [](vars const& v) { return tx::mean<1>(v[0]); }), Contains("no elements") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3}), i({3})}, [](vars const& v) { return tx::cross_entropy(v[0], v[1]); }), Contains("labels"));
  CHECK_THAT(refusal({f({2, 3}), f({2})}, [](vars const& v) { return tx::cross_entropy(v[0], v[1]); }), Contains("integers"));
  CHECK_THAT(refusal({f({2, 3, 4}), i({2})}, [](vars const& v) { return tx::embedding(v[0], v[1]); }), Contains("table"));
  CHECK_THAT(refusal({f({2, 3}), f({2})}, [](vars const& v) { return tx::embedding(v[0], v[1]); }), Contains("integer") && Contains("FIX"));
  tx::graph g{};
  tx::var const x = tx::emit_leaf(g, tx::parameter_info, {dtype::f32, make_dims({2})}, {});
  CHECK_THROWS_AS(at_run_time::gradients(g, x.id, tx::vec<int>{x.id}), tx::invalid);
}
