// Normalisations, triangles, one_hot and losses with options: values against plain loops, gradients against central
// differences.
#include "check_op.hpp"

#include <tx/ops/binary_cross_entropy.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/group_norm.hpp>
#include <tx/ops/huber.hpp>
#include <tx/ops/kl_div.hpp>
#include <tx/ops/logsumexp.hpp>
#include <tx/ops/mse.hpp>
#include <tx/ops/one_hot.hpp>
#include <tx/ops/rms_norm.hpp>
#include <tx/ops/triangle.hpp>
#include <tx/ops/variance.hpp>

namespace {

using vars = std::vector<tx::var>;
using arrays = std::vector<array>;

constexpr double inf = std::numeric_limits<double>::infinity();

array variance_of(array const& x, std::vector<int> const& axes, double correction) {
  double n = 1;
  for (int a : axes) n *= x.dims[a];
  array const mean = each([=](double s) { return s / n; }, summed(x, axes));
  return each([=](double s) { return s / (n - correction); },
              summed(each([](double a, double m) { return (a - m) * (a - m); }, x, mean), axes));
}
array logsumexp_of(array const& x, std::vector<int> const& axes) {
  return each([](double s) { return std::log(s); }, summed(each([](double a) { return std::exp(a); }, x), axes));
}
array log_softmax_of(array const& x) {
  return each([](double a, double s) { return a - s; }, x, logsumexp_of(x, {-1}));
}

// Szegedy's smoothing, by its definition: cross entropy with (1 - s) of the label and s / C of each class.
struct label_case {
  bool smooth, by_class;
  long long ignore;
};
array label_loss_of(array const& logp, array const& labels, values const& weights, double smoothing, double ignored) {
  auto const classes = static_cast<std::size_t>(logp.dims.last());
  double loss = 0;
  double total = 0;
  for (std::size_t r = 0; r < labels.v.size(); ++r) {
    if (labels.v[r] == ignored) continue;
    total += weights[static_cast<std::size_t>(labels.v[r])];
    for (std::size_t c = 0; c < classes; ++c) {
      double const share =
          smoothing / static_cast<double>(classes) + (static_cast<double>(c) == labels.v[r] ? 1 - smoothing : 0);
      loss -= share * weights[c] * logp.v[r * classes + c];
    }
  }
  return {tx::shape{}, {total == 0 ? 0 : loss / total}};
}
}  // namespace

TEST_CASE("variance over any axes") {
  number_source numbers(41);
  array const x = numbers.spread(make_dims({2, 3, 1, 7}), -2, 2);
  auto check = [&](std::vector<int> const& axes, double correction, std::function<tx::var(tx::var)> const& op) {
    check_op(
        "variance", {x}, [&](vars const& v) { return op(v[0]); },
        [&](arrays const& v) { return variance_of(v[0], axes, correction); });
  };
  check({-1}, 1, [](tx::var v) { return tx::variance<-1>(v); });
  check({0}, 1, [](tx::var v) { return tx::variance<0>(v); });
  check({1, -1}, 0, [](tx::var v) { return tx::variance<1, -1>(v, 0); });
  check({0, 3}, 1.5, [](tx::var v) { return tx::variance<0, 3>(v, 1.5); });
  check({2}, 0, [](tx::var v) { return tx::variance<2>(v, 0); });  // one element does not vary
  check_op(
      "variance of all", {x}, [](vars const& v) { return tx::variance(v[0]); },
      [](arrays const& v) {
        return as_scalar(variance_of(v[0], {0, 1, 2, 3}, 1));
      });
  CHECK_THAT(refusal({x}, [](vars const& v) { return tx::variance<2>(v[0]); }),
             Catch::Contains("no more elements") && Catch::Contains("FIX"));
  CHECK_THAT(refusal({x}, [](vars const& v) { return tx::variance<0>(v[0], 2); }), Catch::Contains("no more elements"));
}

TEST_CASE("logsumexp over any axes, and what is not finite") {
  number_source numbers(42);
  for (auto const& dims : std::vector<std::vector<int>>{{1, 1, 1}, {2, 3, 7}, {17, 1, 5}}) {
    array const x = numbers.spread(make_dims(dims), -3, 3);
    auto check = [&](std::vector<int> const& axes, std::function<tx::var(tx::var)> const& op) {
      check_op(
          "logsumexp", {x}, [&](vars const& v) { return op(v[0]); },
          [&](arrays const& v) { return logsumexp_of(v[0], axes); });
    };
    check({-1}, [](tx::var v) { return tx::logsumexp<-1>(v); });
    check({0}, [](tx::var v) { return tx::logsumexp<0>(v); });
    check({1}, [](tx::var v) { return tx::logsumexp<1>(v); });
    check({0, 2}, [](tx::var v) { return tx::logsumexp<0, -1>(v); });
    check_op(
        "logsumexp of all", {x}, [](vars const& v) { return tx::logsumexp(v[0]); },
        [](arrays const& v) {
          return as_scalar(logsumexp_of(v[0], {0, 1, 2}));
        });
  }
  array const rows{make_dims({4, 3}), {-inf, -inf, -inf, 1e4, 1e4, -inf, inf, 0, -inf, 2, 2, 2}};
  built_op op({rows}, [](vars const& v) { return tx::logsumexp<-1>(v[0]); });
  op.g.outputs.push_back({op.result.id});
  array const weights = filled(make_dims({4, 1}), 3);
  op.g.outputs.push_back({op.differentiate(weights)[0]});
  for (bool simplified : {false, true}) {
    auto const out = run_graph(op.g, {rows, weights}, simplified);
    CHECK(distance(out[0], {-inf, 1e4 + std::log(2.0), inf, 2 + std::log(3.0)}) < 1e-15);
    CHECK(distance(values(out[1].begin(), out[1].begin() + 6), {0, 0, 0, 1.5, 1.5, 0}) < 1e-12);
    CHECK(distance(values(out[1].begin() + 9, out[1].end()), {1, 1, 1}) < 1e-12);
  }
}

TEST_CASE("softmax and log_softmax over any axis") {
  array const x = number_source(48).spread(make_dims({3, 2, 5}), -3, 3);
  auto check = [&](int axis, std::function<tx::var(tx::var)> const& probabilities, std::function<tx::var(tx::var)> const& logs) {
    auto const plain = [axis](arrays const& v) {
      return each([](double a, double s) { return a - s; }, v[0], logsumexp_of(v[0], {axis}));
    };
    check_op("log_softmax", {x}, [&](vars const& v) { return logs(v[0]); }, plain);
    check_op("softmax", {x}, [&](vars const& v) { return probabilities(v[0]); },
             [&](arrays const& v) { return each([](double a) { return std::exp(a); }, plain(v)); });
  };
  check(0, [](tx::var v) { return tx::softmax<0>(v); }, [](tx::var v) { return tx::log_softmax<0>(v); });
  check(1, [](tx::var v) { return tx::softmax<-2>(v); }, [](tx::var v) { return tx::log_softmax<-2>(v); });
  check(2, [](tx::var v) { return tx::softmax<2>(v); }, [](tx::var v) { return tx::log_softmax(v); });
}

TEST_CASE("rms_norm and group_norm") {
  number_source numbers(43);
  for (int rank : {1, 2, 3}) {
    tx::shape const dims = numbers.dims(rank, 120);
    double const n = dims.last();
    check_op(
        "rms_norm", {numbers.spread(dims, -3, 3), numbers.spread(make_dims({dims.last()}), 0.5, 1.5)},
        [](vars const& v) { return tx::rms_norm(v[0], v[1], 0.1); },
        [n](arrays const& v) {
          array const square = summed(each([](double a) { return a * a; }, v[0]), {-1});
          return each([](double a, double s) { return a * s; },
                      each([n](double a, double s) { return a / std::sqrt(s / n + 0.1); }, v[0], square), v[1]);
        });
  }
  for (auto const& dims : std::vector<std::vector<int>>{{1, 6}, {2, 6, 7}, {3, 6, 1, 5}}) {
    auto check = [&](int groups, std::function<tx::var(vars const&)> const& op) {
      check_op(
          "group_norm",
          {numbers.spread(make_dims(dims), -2, 3), numbers.spread(make_dims({6}), 0.5, 1.5),
           numbers.spread(make_dims({6}), -1, 1)},
          op, [groups](arrays const& v) {
            array out = v[0];
            auto const batch = static_cast<std::size_t>(v[0].dims.dim[0]);
            std::size_t const one = v[0].v.size() / (batch * static_cast<std::size_t>(groups));  // elements of a group
            std::size_t const plane = v[0].v.size() / (batch * 6);                               // and of a channel
            for (std::size_t first = 0; first < out.v.size(); first += one) {
              double mean = 0;
              double spread = 0;
              for (std::size_t i = 0; i < one; ++i) mean += v[0].v[first + i] / static_cast<double>(one);
              for (std::size_t i = 0; i < one; ++i)
                spread += std::pow(v[0].v[first + i] - mean, 2) / static_cast<double>(one);
              for (std::size_t i = first; i < first + one; ++i)
                out.v[i] = (v[0].v[i] - mean) / std::sqrt(spread + 0.1) * v[1].v[i / plane % 6] + v[2].v[i / plane % 6];
            }
            return out;
          });
    };
    check(1, [](vars const& v) { return tx::group_norm<1>(v[0], v[1], v[2], 0.1); });
    check(3, [](vars const& v) { return tx::group_norm<3>(v[0], v[1], v[2], 0.1); });
    check(6, [](vars const& v) { return tx::group_norm<6>(v[0], v[1], v[2], 0.1); });
  }
  array const x = filled(make_dims({2, 6, 3}));
  array const one = filled(make_dims({6}));
  using Catch::Contains;
  CHECK_THAT(refusal({x, one}, [](vars const& v) { return tx::group_norm<4>(v[0], v[1], v[1]); }),
             Contains("do not divide") && Contains("FIX"));
  CHECK_THAT(refusal({x, one}, [](vars const& v) { return tx::group_norm<2>(v[1], v[1], v[1]); }),
             Contains("no axis of channels") && Contains("FIX"));
  CHECK_THAT(refusal({x, one}, [](vars const& v) { return tx::group_norm<2>(v[0], v[0], v[1]); }),
             Contains("one number for each channel") && Contains("FIX"));
}

TEST_CASE("norms, softmax and variances of halves are computed in f32 and rounded once") {
  number_source numbers(49);
  array x = numbers.spread(make_dims({2, 5}), -2, 2);
  array scale = numbers.spread(make_dims({5}), 0.5, 1.5);
  x.type = scale.type = tx::dtype::f16;
  auto check = [&](op_builder const& build) {
    built_op op({x, scale}, build);
    CHECK(op.result.type() == tx::dtype::f16);
    int rounded = 0;
    for (int i = 0; i < op.g.size(); ++i)
      rounded += op.g[i].info.type == tx::dtype::f16 && op.g[i].op->kind != tx::op_kind::leaf && op.g[i].op->kind != tx::op_kind::constant;
    CHECK(rounded == 1);
    CHECK(op.g[op.result.id].op == &tx::cast_info);
  };
  check([](vars const& v) { return tx::layer_norm(v[0], v[1], v[1]); });
  check([](vars const& v) { return tx::rms_norm(v[0], v[1]); });
  check([](vars const& v) { return tx::softmax(v[0]); });
  check([](vars const& v) { return tx::log_softmax<0>(v[0]); });
  check([](vars const& v) { return tx::logsumexp<-1>(v[0]); });
  check([](vars const& v) { return tx::mean<0>(v[0]); });
  CHECK_THAT(refusal({x, numbers.spread(make_dims({5}), 0.5, 1.5)}, [](vars const& v) { return tx::rms_norm(v[0], v[1]); }),
             Catch::Contains("element types differ") && Catch::Contains("FIX"));
}

TEST_CASE("triangles of the last two axes") {
  number_source numbers(44);
  for (auto const& dims : std::vector<std::vector<int>>{{1, 1}, {3, 5}, {2, 5, 3}, {2, 1, 4, 4}}) {
    array const x = numbers.spread(make_dims(dims), -2, 2);
    auto check = [&](bool lower, int k, std::function<tx::var(tx::var)> const& op) {
      check_op(
          "triangle", {x}, [&](vars const& v) { return op(v[0]); },
          [=](arrays const& v) {
            array out = v[0];
            for (std::size_t e = 0; e < out.v.size(); ++e) {
              auto const at = position_of(out.dims, e);
              int const above = at.back() - at[at.size() - 2] - k;
              if (lower ? above > 0 : above < 0) out.v[e] = 0;
            }
            return out;
          });
    };
    check(true, 0, [](tx::var v) { return tx::tril(v); });
    check(false, 0, [](tx::var v) { return tx::triu(v); });
    check(true, -1, [](tx::var v) { return tx::tril<-1>(v); });
    check(false, 2, [](tx::var v) { return tx::triu<2>(v); });
    check(true, 1, [](tx::var v) { return tx::where(tx::lower_triangle<1>(v), v, 0.0); });
    check(false, -1,
          [](tx::var v) { return tx::cast<tx::f64>(tx::triu<-1>(tx::less(v, 9.0))) * v; });  // of a bool tensor
    check(false, 0, [](tx::var v) { return tx::where(tx::upper_triangle(v), v, 0.0); });
  }
  CHECK_THAT(refusal({filled(make_dims({3}))}, [](vars const& v) { return tx::tril(v[0]); }),
             Catch::Contains("last ones") && Catch::Contains("FIX"));
}

TEST_CASE("one_hot") {
  number_source numbers(45);
  for (auto const& dims : std::vector<std::vector<int>>{{}, {1}, {7}, {2, 3}})
    for (tx::dtype type : {tx::dtype::i32, tx::dtype::i64, tx::dtype::u8})
      check_op(
          "one_hot", {numbers.integers(make_dims(dims), 0, 5, type)},
          [](vars const& v) { return tx::one_hot<5, tx::f64>(v[0]); },
          [](arrays const& v) {
            tx::shape wide = v[0].dims;
            wide.dim[wide.rank++] = 5;
            array out = filled(wide);
            for (std::size_t i = 0; i < v[0].v.size(); ++i) out.v[i * 5 + static_cast<std::size_t>(v[0].v[i])] = 1;
            return out;
          },
          false);
  CHECK_THAT(refusal({filled(make_dims({3}))}, [](vars const& v) { return tx::one_hot<5>(v[0]); }),
             Catch::Contains("integer") && Catch::Contains("FIX"));
}

TEST_CASE("mse, huber, smooth_l1, kl_div") {
  number_source numbers(46);
  using tx::reduction;
  for (auto const& dims : std::vector<std::vector<int>>{{1}, {7}, {3, 5}}) {
    auto const rows = static_cast<double>(dims[0]);
    array const x = numbers.spread(make_dims(dims), -2, 2, 0.2);
    array const y = numbers.spread(make_dims(dims), -1.5, 2.3, 0.6);
    double const n = static_cast<double>(x.v.size());
    auto over = [](double by) { return [by](double s) { return s / by; }; };
    auto all = [](array const& terms) {
      return as_scalar(summed(terms, terms.dims.rank == 1 ? std::vector<int>{0} : std::vector<int>{0, 1}));
    };
    auto const square = [](arrays const& v) {
      return each([](double a, double b) { return (a - b) * (a - b); }, v[0], v[1]);
    };
    check_op(
        "mse", {x, y}, [](vars const& v) { return tx::mse(v[0], v[1]); },
        [&](arrays const& v) { return each(over(n), all(square(v))); });
    check_op(
        "mse, none", {x, y}, [](vars const& v) { return tx::mse<reduction::none>(v[0], v[1]); }, square);
    check_op(
        "mse, sum", {x, y}, [](vars const& v) { return tx::mse<reduction::sum>(v[0], v[1]); },
        [&](arrays const& v) { return all(square(v)); });
    check_op(
        "mse, batch_mean", {x, y}, [](vars const& v) { return tx::mse<reduction::batch_mean>(v[0], v[1]); },
        [&](arrays const& v) { return each(over(rows), all(square(v))); });
    auto const huber = [](double delta) {
      return [delta](arrays const& v) {
        return each(
            [delta](double a, double b) {
              return std::fabs(a - b) <= delta ? (a - b) * (a - b) / 2 : delta * (std::fabs(a - b) - delta / 2);
            },
            v[0], v[1]);
      };
    };
    check_op(
        "huber", {x, y}, [](vars const& v) { return tx::huber<reduction::none>(v[0], v[1], 0.813); }, huber(0.813),
        true, 1e-3);  // its slope has kinks
    check_op(
        "huber, all within", {x, y}, [](vars const& v) { return tx::huber(v[0], v[1], 9); },
        [&](arrays const& v) { return each(over(n), all(huber(9)(v))); });
    check_op(
        "smooth_l1", {x, y}, [](vars const& v) { return tx::smooth_l1<reduction::sum>(v[0], v[1], 9); },
        [&](arrays const& v) { return each(over(9), all(huber(9)(v))); });
    array const p = numbers.spread(make_dims(dims), 0.05, 1);
    auto const divergence = [](arrays const& v) {
      return each([](double q, double a) { return a * (std::log(a) - q); }, v[0], v[1]);
    };
    check_op(
        "kl_div", {x, p}, [](vars const& v) { return tx::kl_div(v[0], v[1]); },
        [&](arrays const& v) { return each(over(n), all(divergence(v))); }, true, 1e-6);
    check_op(
        "kl_div, batch_mean", {x, p}, [](vars const& v) { return tx::kl_div<reduction::batch_mean>(v[0], v[1]); },
        [&](arrays const& v) { return each(over(rows), all(divergence(v))); }, true, 1e-6);
  }
  // A probability of 0 of what is impossible.
  array const logp{make_dims({3}), {-inf, -1, std::log(0.5)}};
  array const p{make_dims({3}), {0, 0, 0.5}};
  built_op op({logp, p}, [](vars const& v) { return tx::kl_div<reduction::none>(v[0], v[1]); });
  op.g.outputs.push_back({op.result.id});
  for (int gradient : op.differentiate(filled(p.dims, 1))) op.g.outputs.push_back({gradient});
  auto const out = run_graph(op.g, {logp, p, filled(p.dims, 1)}, true);
  CHECK(out[0] == values{0, 0, 0});
  CHECK(out[1] == values{0, 0, -0.5});
  CHECK(distance(out[2], {0, 0, 1}) < 1e-15);

  array const column = filled(make_dims({3, 1}));
  using Catch::Contains;
  CHECK_THAT(refusal({column, p}, [](vars const& v) { return tx::mse(v[0], v[1]); }),
             Contains("one shape") && Contains("FIX"));
  CHECK_THAT(refusal({column, p}, [](vars const& v) { return tx::kl_div(v[0], v[1]); }),
             Contains("one shape") && Contains("FIX"));
  CHECK_THAT(refusal({p, p}, [](vars const& v) { return tx::huber(v[0], v[1], 0); }),
             Contains("huber") && Contains("FIX"));
  CHECK_THAT(refusal({p, p}, [](vars const& v) { return tx::smooth_l1(v[0], v[1], 0); }),
             Contains("smooth_l1") && Contains("FIX"));
  CHECK_THAT(refusal({as_scalar(filled(make_dims({1})))},
                     [](vars const& v) { return tx::mse<reduction::batch_mean>(v[0], v[0]); }),
             Contains("batch_mean") && Contains("FIX"));
}

TEST_CASE("cross_entropy and nll with weights of classes, ignored labels and smoothing") {
  number_source numbers(47);
  values const weights{0.5, 2, 0, 1.25};
  for (label_case const& c : std::vector<label_case>{
           {false, false, -100}, {false, true, -100}, {true, false, 2}, {true, true, -1}, {true, true, 0}}) {
    array logits = numbers.spread(make_dims({2, 3, 4}), -2, 2);
    array labels = numbers.integers(make_dims({2, 3}), 0, 4);
    labels.v[1] = labels.v[4] = static_cast<double>(c.ignore);
    labels.v[0] = 1;  // some row counts
    array const given{make_dims({4}), weights};
    tx::label_options const options{.ignore_index = c.ignore, .label_smoothing = c.smooth ? 0.3 : 0};
    auto const told = [&](auto const& loss, arrays const& v) {
      return label_loss_of(loss(v[0]), v[1], c.by_class ? v[2].v : values(4, 1.0), options.label_smoothing,
                           static_cast<double>(c.ignore));
    };
    check_op(
        "cross_entropy", {logits, labels, given},
        [&](vars const& v) {
          return c.by_class ? tx::cross_entropy(v[0], v[1], tx::per_class{v[2]}, options)
                            : tx::cross_entropy(v[0], v[1], options);
        },
        [&](arrays const& v) { return told(log_softmax_of, v); });
    check_op(
        "nll", {log_softmax_of(logits), labels, given},
        [&](vars const& v) {
          return c.by_class ? tx::nll(v[0], v[1], tx::per_class{v[2]}, options) : tx::nll(v[0], v[1], options);
        },
        [&](arrays const& v) { return told([](array const& logp) { return logp; }, v); });
  }
  array const logp = numbers.spread(make_dims({3, 4}), -3, -0.5);
  array const labels{make_dims({3}), {2, 0, 3}, tx::dtype::i32};
  check_op(
      "nll", {logp, labels}, [](vars const& v) { return tx::nll(v[0], v[1]); },
      [](arrays const& v) { return label_loss_of(v[0], v[1], values(4, 1.0), 0, -1); });
  array const ignored{make_dims({3}), {-100, -100, -100}, tx::dtype::i32};
  check_op(
      "nothing counts", {logp, ignored},
      [](vars const& v) { return tx::cross_entropy(v[0], v[1], tx::label_options{.ignore_index = -100}); },
      [](arrays const&) {
        return array{tx::shape{}, {0}};
      });

  using Catch::Contains;
  CHECK_THAT(refusal({logp, labels},
                     [](vars const& v) { return tx::nll(v[0], v[1], tx::label_options{.label_smoothing = 1.5}); }),
             Contains("share") && Contains("FIX"));
  CHECK_THAT(refusal({logp, labels},
                     [](vars const& v) { return tx::nll(v[0], v[1], tx::label_options{.ignore_index = 1ll << 40}); }),
             Contains("ignore_index") && Contains("FIX"));
  CHECK_THAT(refusal({logp, labels}, [](vars const& v) { return tx::cross_entropy(v[0], v[1], tx::per_class{v[0]}); }),
             Contains("one weight for each class") && Contains("FIX"));
}

TEST_CASE("losses and look-ups refuse what would mean something else") {
  number_source numbers(47);
  array const column = numbers.spread(make_dims({4, 1}), -1, 1), row = numbers.spread(make_dims({4}), 0, 1);
  CHECK_THAT(refusal({column, row}, [](vars const& v) { return tx::detail::binary_cross_entropy_fn<tx::reduction::mean>{}(v[0], v[1]); }),
             Catch::Contains("tensors of one shape") && Catch::Contains("FIX"));
}
