#include "evaluator.hpp"

#include <tx/core/elements.hpp>
#include <tx/ops/attention.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/join.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/random.hpp>
#include <tx/ops/slice.hpp>
#include <tx/passes/stride.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

// Models are made of these; a test that uses others adds them.
knows_whole<&tx::attention_info> const attention_rule;
knows_whole<&tx::attention_gradient_info> const attention_gradient_rule;
knows_whole<&tx::biased_attention_gradient_info> const biased_attention_gradient_rule;
knows_whole<&tx::joined_attention_gradient_info> const joined_attention_gradient_rule;

std::size_t size(tx::value_info const& info) { return static_cast<std::size_t>(info.count()); }

double precision(tx::dtype type) {
  return type == tx::dtype::f64 ? 0x1p-52 : type == tx::dtype::f32 ? 0x1p-23 : type == tx::dtype::f16 ? 0x1p-10 : type == tx::dtype::e4m3 ? 0x1p-3 : 0x1p-7;
}

void iota(tx::node const& n, values& out) {
  std::size_t inner = 1;
  for (int i = static_cast<int>(n.at.v[0]) + 1; i < n.info.dims.rank; ++i)
    inner *= static_cast<std::size_t>(n.info.dims.dim[i]);
  for (std::size_t e = 0; e < out.size(); ++e)
    out[e] = static_cast<double>(e / inner % static_cast<std::size_t>(n.info.dims.dim[n.at.v[0]]));
}

// An operand of a join, which begins at `first` along the axis.
void join(values const& in, tx::shape const& from, tx::node const& n, std::int64_t first, values& out) {
  auto const axis = static_cast<int>(n.at.v[0]);
  std::int64_t inner = 1;
  for (int a = axis + 1; a < from.rank; ++a) inner *= from.dim[a];
  std::int64_t const own = from.dim[axis] * inner, all = n.info.dims.dim[axis] * inner;
  for (std::int64_t e = 0; e < static_cast<std::int64_t>(in.size()); ++e) out[static_cast<std::size_t>(e / own * all + first * inner + e % own)] = in[static_cast<std::size_t>(e)];
}
void view(tx::node const& n, values const& in, tx::shape const& from, values& out) {
  tx::strided s = tx::passes::dense(from);
  if (!n.op->restride(s, from, n.info.dims, n.at)) throw std::runtime_error("evaluator: a view of a dense value");
  for (std::size_t e = 0; e < out.size(); ++e) {
    std::int64_t where = most_of(s.offset);
    auto rest = static_cast<std::int64_t>(e);
    for (int i = n.info.dims.rank - 1; i >= 0; --i) {
      where += rest % n.info.dims.dim[i] * most_of(s.stride[i]);
      rest /= n.info.dims.dim[i];
    }
    out[e] = in[static_cast<std::size_t>(where)];
  }
}

// [..., M, K] x [..., K, N]: rows of the left side, each with the right side of its batch.
void product(values const& a, values const& b, std::size_t k, std::size_t n, values& out) {
  if (a.empty() || b.empty()) return;  // sums of nothing
  std::size_t const rows = a.size() / k;
  std::size_t const batches = b.size() / (k * n);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < n; ++j) out[r * n + j] += a[r * k + i] * b[(r / (rows / batches) * k + i) * n + j];
}

}  // namespace

evaluator::evaluator(tx::graph const& g, leaf_values const& leaf, evaluation const& how) : g_(g), how_(how), noise_(how.noise_seed) { extend(leaf); }

void evaluator::extend(leaf_values const& leaf) {
  int const first = static_cast<int>(value_.size());
  value_.resize(static_cast<std::size_t>(g_.size()));
  for (int i = first; i < g_.size(); ++i) {
    tx::op_info const* const op = g_[i].op;
    bool const told = op == &tx::input_info || op == &tx::parameter_info || (how_.every_leaf && (op == &tx::block_info || op == &tx::scalar_info));
    if (told) at(i) = leaf(g_[i]);
  }
  for (int i = first; i < g_.size(); ++i)
    if (g_[i].op->kind != tx::op_kind::leaf && (g_[i].region == 0 || g_.regions[g_[i].region].owner < 0)) waiting_.push_back(i);
  std::erase_if(waiting_, [&](int i) {
    bool const now = g_[i].region == 0 || ready(g_[i]);
    if (now) compute(i, g_[i]);
    return now;
  });
}

void evaluator::set(int argument, values v) {
  value_.resize(std::max(value_.size(), static_cast<std::size_t>(argument + 1)));
  at(argument) = std::move(v);
}

void evaluator::run(int region) {
  for (int i = 0; i < g_.size(); ++i)
    if (g_[i].region == region && g_[i].op->kind != tx::op_kind::leaf) compute(i, g_[i]);
}

bool evaluator::ready(tx::node const& n) const {
  if (n.op->kind == tx::op_kind::result) return results_.count(g_.input(n, 0)) != 0;
  for (int k = 0; k < n.inputs; ++k)
    if (value_[static_cast<std::size_t>(g_.input(n, k))].size() != size(g_.info(g_.input(n, k)))) return false;
  return true;
}

void evaluator::compute(int id, tx::node const& n) {
  auto in = [&](int k) -> values const& { return at(g_.input(n, k)); };
  auto in_dims = [&](int k) { return g_.info(g_.input(n, k)).dims; };
  values out(size(n.info));
  auto const last = static_cast<std::size_t>(n.inputs > 0 ? in_dims(0).last() : 1);
  switch (n.op->kind) {
    case tx::op_kind::constant: out[0] = tx::constant_value(n); break;
    case tx::op_kind::index:
      if (n.op == &tx::iota_info) iota(n, out);
      else draw(n, out);
      break;
    case tx::op_kind::elementwise:
      for (std::size_t e = 0; e < out.size(); ++e) {
        double a[3] = {};
        for (int k = 0; k < n.inputs; ++k) a[k] = in(k)[e];
        out[e] = n.op->fold != nullptr                 ? n.op->fold(a)
                 : n.info.type == tx::dtype::boolean ? static_cast<double>(a[0] != 0)
                 : tx::is_integer(n.info.type)       ? std::trunc(a[0])
                                                     : a[0];
        if (how_.noise != 0 && n.inputs == 2 && n.info.type == tx::dtype::boolean && as_good_as_equal(g_.info(g_.input(n, 0)).type, a)) out[e] = drawn() > 0;
      }
      break;
    case tx::op_kind::row_reduce:
      for (std::size_t r = 0; r < out.size(); ++r) {
        out[r] = n.op->nothing;
        for (std::size_t c = 0; c < last; ++c) {
          double const x = in(0)[r * last + c];
          out[r] = n.op == &tx::row_max_info    ? std::max(out[r], x)
                   : n.op == &tx::row_min_info  ? std::min(out[r], x)
                   : n.op == &tx::row_prod_info ? out[r] * x
                                                : out[r] + x;
        }
      }
      break;
    case tx::op_kind::col_reduce:
      for (std::size_t e = 0; e < in(0).size(); ++e) out[e % last] += in(0)[e];
      break;
    case tx::op_kind::view: view(n, in(0), in_dims(0), out); break;
    case tx::op_kind::product: product(in(0), in(1), last, static_cast<std::size_t>(n.info.dims.last()), out); break;
    case tx::op_kind::whole:
      if (g_.has_results(id)) {
        several(id, n);
        return;
      }
      whole(n, {{out.data(), n.info.dims}});
      break;
    case tx::op_kind::collective: whole(n, {{out.data(), n.info.dims}}); break;
    case tx::op_kind::gather_all:
      if (n.op == &tx::join_info) {
        for (int k = 0; k < n.inputs; ++k) join(in(k), in_dims(k), n, tx::detail::first_along(g_, id, k), out);
        break;
      }
      for (int k = 0; k < n.inputs; ++k)
        std::copy(in(k).begin(), in(k).end(), out.begin() + g_.numbers[static_cast<int>(n.at.v[0]) + k]);
      break;
    case tx::op_kind::region: repeat(id, n); return;
    case tx::op_kind::result: {
      int const owner = g_.input(n, 0);
      if (!g_.has_results(owner) && results_[owner].size() <= static_cast<std::size_t>(n.at.v[0])) repeat(owner, g_[owner]);  // it gained one
      out = results_[owner].at(static_cast<std::size_t>(n.at.v[0]));
      break;
    }
    default: throw std::runtime_error(std::string("evaluator: no rule for ") + n.op->name);
  }
  if (how_.rounded || how_.noise != 0) settle(n, n.info.type, out);
  at(id) = std::move(out);
}

// Values as their type holds them, with noise before that if there is some. What only moves elements keeps them.
void evaluator::settle(tx::node const& n, tx::dtype type, values& out) {
  bool const moves = n.op->kind == tx::op_kind::view || n.op->kind == tx::op_kind::result || n.op->kind == tx::op_kind::gather_all;
  if (moves) return;
  double const noise = tx::is_float(type) && n.op->kind != tx::op_kind::constant ? how_.noise * precision(type) : 0;
  for (double& x : out) {
    if (noise != 0) x += x * noise * drawn();
    x = tx::rounded_to(type, x);
  }
}
double evaluator::drawn() { return static_cast<double>((noise_ = noise_ * 1664525u + 1013904223u) >> 8) * 0x1p-23 - 1; }  // -1 to 1
// What rounding leaves of a difference that is nothing: another order of sums may leave nothing, and a comparison then says otherwise.
bool evaluator::as_good_as_equal(tx::dtype type, double const (&a)[3]) const {
  double const apart = std::abs(a[0] - a[1]);
  return tx::is_float(type) && apart != 0 && apart <= 64 * how_.noise * precision(type) * std::max({1.0, std::abs(a[0]), std::abs(a[1])});
}
// As a backend draws them: of a row and a column.
void evaluator::draw(tx::node const& n, values& out) const {
  if (!how_.random) throw std::runtime_error("evaluator: random numbers");
  auto const width = static_cast<std::size_t>(n.info.dims.row_length());
  auto const own = static_cast<std::size_t>(tx::random_own_rows(n.at)), all = static_cast<std::size_t>(tx::random_all_rows(n.at));
  std::size_t const rows = width == 0 ? 0 : own == 0 ? out.size() / width : out.size() / width / own * all;
  auto const among_all = [&](std::size_t row) { return own == 0 ? row : row / own * all + static_cast<std::size_t>(how_.portion) * own + row % own; };
  tx::philox_stream const stream{static_cast<std::uint32_t>(n.at.v[0]) + (static_cast<std::uint32_t>(iteration_) << 16), how_.step};
  for (std::size_t e = 0; e < out.size(); ++e)
    out[e] = static_cast<double>(tx::uniform(how_.key, stream, (static_cast<std::size_t>(n.at.v[1]) * parts_ + part_) * rows + among_all(e / width),
                                             static_cast<std::uint32_t>(e % width)));
}

// An op with several results.
void evaluator::several(int id, tx::node const& n) {
  std::vector<values> made;
  for (int k = 0; k < n.op->results; ++k) made.emplace_back(size(g_.info(id + 1 + k)));
  whole_results to;
  for (int k = 0; k < n.op->results; ++k) to.push_back({made[static_cast<std::size_t>(k)].data(), g_.info(id + 1 + k).dims});
  whole(n, to);
  if (how_.rounded || how_.noise != 0)
    for (int k = 0; k < n.op->results; ++k) settle(n, g_.info(id + 1 + k).type, made[static_cast<std::size_t>(k)]);
  results_[id] = std::move(made);
}

// Of the argument of a body, a slice, what the next iteration sees; in the last one its own.
double const* evaluator::next_slice(int argument) const {
  tx::region const& body = g_.regions[g_[argument].region];
  std::size_t const now = slice_.at(g_[argument].region), one = size(g_.info(argument));
  std::size_t const next = body.reversed ? (now > 0 ? now - 1 : 0) : std::min(now + 1, static_cast<std::size_t>(body.iterations - 1));
  return (*this)[g_.input(body.owner, static_cast<int>(tx::argument_number(g_[argument].at)))].data() + next * one;
}

void evaluator::whole(tx::node const& n, whole_results const& to) {
  auto operand = [&](int k) {
    return tx::whole_operand<double const>{at(g_.input(n, k)).data(), g_.info(g_.input(n, k)).dims};
  };
  if (n.op == &tx::embedding_info)
    tx::rules::embedding::run(0, 1, n.at, to[0], operand(0), operand(1));
  else if (n.op == &tx::scatter_rows_info)
    tx::rules::scatter_rows::run(0, 1, n.at, to[0], operand(0), operand(1));
  else if (n.op == &tx::pad_info)
    tx::rules::pad::run(0, 1, n.at, to[0], operand(0));
  else if (std::string_view(n.op->name) == "custom_vjp")  // its first operand, with another gradient
    std::copy(at(g_.input(n, 0)).begin(), at(g_.input(n, 0)).end(), to[0].data);
  else if (auto const rule = whole_rules().find(n.op); rule != whole_rules().end()) {
    std::vector<tx::whole_operand<double const>> in;
    for (int k = 0; k < n.inputs; ++k) in.push_back(operand(k));
    if (n.op->fetches_next) in[0].data = next_slice(g_.input(n, 0));
    rule->second(n, to, in);
  } else
    throw std::runtime_error(std::string("evaluator: no rule for ") + n.op->name);
}

void evaluator::repeat(int id, tx::node const& n) {
  int const number = static_cast<int>(n.at.v[0]);
  tx::region const& body = g_.regions[number];
  std::vector<values> results(static_cast<std::size_t>(body.results.size()));
  for (int k = 0; k < body.carries; ++k) results[static_cast<std::size_t>(k)] = at(g_.input(n, k));
  int const around = iteration_;  // counted on through the loops around, but for parts of a batch, which have rows of their own
  if (body.parts) parts_ = static_cast<std::size_t>(body.iterations);
  for (int step = 0; step < body.iterations; ++step) {
    auto const slice = static_cast<std::size_t>(body.reversed ? body.iterations - 1 - step : step);
    slice_[number] = slice;
    if (body.parts) part_ = slice;
    else iteration_ = around * body.iterations + static_cast<int>(slice);
    for (int k = 0; k < body.arguments.size(); ++k) {
      values& argument = at(body.arguments[k]);
      values const& given = at(g_.input(n, k));
      std::size_t const one = size(g_.info(body.arguments[k]));
      auto const first = given.begin() + static_cast<std::ptrdiff_t>(slice * one);
      if (k < body.carries)
        argument = results[static_cast<std::size_t>(k)];
      else if (k < body.carries + body.invariants)
        argument = given;
      else
        argument.assign(first, first + static_cast<std::ptrdiff_t>(one));
    }
    run(number);
    for (int k = 0; k < body.results.size(); ++k) {
      values const& made = at(body.results[k]);
      values& kept = results[static_cast<std::size_t>(k)];
      if (k < body.carries) {
        kept = made;
      } else {
        kept.resize(made.size() * static_cast<std::size_t>(body.iterations));
        std::copy(made.begin(), made.end(), kept.begin() + static_cast<std::ptrdiff_t>(slice * made.size()));
      }
    }
  }
  iteration_ = around;
  if (body.parts) parts_ = 1, part_ = 0;
  results_[id] = std::move(results);
}
