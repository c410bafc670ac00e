// The gradients of a program, by everything it starts from, against differences: the only check of theirs that asks no graph of ours.
#pragma once

#include "finish.hpp"
#include "numbers.hpp"
#include "refusals.hpp"

#include <tx/dist/shard_add.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/stop_gradient.hpp>

#include <optional>

namespace drawn {

// A number that depends on all results, smooth and bounded whatever they are.
inline var loss_of_results(graph& g) {
  std::vector<tx::output> const results(g.outputs.begin(), g.outputs.end());
  g.outputs = {};
  var loss{};
  for (tx::output const& o : results) {
    if (o.kind != tx::output_kind::result || !tx::is_float(g.info(o.value).type) || g.info(o.value).count() == 0) continue;
    var const part = tx::sum_all(tx::sin(tx::cast(var{&g, o.value}, dtype::f64)));
    loss = loss.valid() ? loss + part : part;
  }
  return loss;
}

// What a step along a direction changes: the direction's part for element k of a leaf.
inline double along(int leaf, std::size_t k) { return std::cos(2.3 * static_cast<double>(k) + 1.1 * leaf + 0.4); }

// Ops where gradients stop: on purpose, and those that only what comes after gradients is recorded with.
inline bool stops_gradients(tx::node const& n) {
  return n.op->kind == tx::op_kind::gather_all || n.op->kind == tx::op_kind::collective || n.op == &tx::shard_add_info || n.op == &tx::stop_gradient_info;
}

class slope_check {
 public:
  explicit slope_check(graph g) : g_(std::move(g)) {
    for (tx::node const& n : g_.nodes)
      if (stops_gradients(n)) return;
    var const loss = loss_of_results(g_);
    if (!loss.valid()) return;
    loss_ = loss.id;
    for (int i = 0; i < g_.size(); ++i)
      if ((g_[i].op == &tx::input_info || g_[i].op == &tx::parameter_info) && g_[i].region == 0 && tx::is_float(g_.info(i).type)) leaves_.push_back(i);
  }

  // The slope that the gradients say, and that of differences; nothing where there is none, as at a kink.
  struct slopes {
    double said, found;
  };
  std::optional<slopes> run() const {
    if (loss_ < 0 || leaves_.empty()) return {};
    evaluator const resting(g_, [&](tx::node const& leaf) { return moved(g_, leaf, 0); }, exact_run());
    if (!is_tame(resting)) return {};
    double const h = 1e-6, here = resting[loss_].at(0), right = loss_at(h), left = loss_at(-h);
    double const found = (right - left) / (2 * h), wide = (loss_at(2 * h) - loss_at(-2 * h)) / (4 * h), size = 1 + std::abs(found);
    bool const smooth = std::isfinite(found) && std::abs(right - 2 * here + left) / h < 1e-3 * size && std::abs(found - wide) < 1e-5 * size;
    if (!smooth) return {};
    auto const by_gradients = said();
    if (!by_gradients) return {};
    if (std::isnan(*by_gradients) && !is_finite(resting)) return {};  // nothing times infinity, as anybody would get
    return slopes{*by_gradients, found};
  }

 private:
  double loss_at(double step) const {
    evaluator const all(g_, [&](tx::node const& leaf) { return moved(g_, leaf, step); }, exact_run());
    return all[loss_].at(0);
  }
  template <class Right>
  bool all_before_loss(evaluator const& run, Right const& right) const {
    for (int i = 0; i < loss_; ++i)
      for (double x : run[i])
        if (!right(x)) return false;
    return true;
  }
  bool is_finite(evaluator const& run) const {
    return all_before_loss(run, [](double x) { return std::isfinite(x); });
  }
  // Gradients by way of huge numbers are what is left of their rounding.
  bool is_tame(evaluator const& run) const {
    return all_before_loss(run, [](double x) { return !std::isfinite(x) || std::abs(x) <= 1e6; });
  }
  std::optional<double> said() const {
    graph g = g_;
    vec<int> const by = tx::gradients(g, loss_, leaves_);
    if (g.no_gradient.op != nullptr) throw tx::invalid("an op without a gradient");
    evaluator const all(g, [&](tx::node const& leaf) { return moved(g, leaf, 0); }, exact_run());
    for (int i = loss_; i < g.size(); ++i)
      for (double x : all[i])
        if (std::isfinite(x) && std::abs(x) > 1e9) return std::nullopt;
    double sum = 0;
    for (int k = 0; k < by.size(); ++k)
      for (std::size_t e = 0; by[k] >= 0 && e < all[by[k]].size(); ++e) sum += all[by[k]][e] * along(k, e);
    return sum;
  }
  // A leaf of a graph that begins with this one, a step away from where the slope is asked for. That place is a little off the drawn numbers: two of those may
  // be equal, and maximum(minimum(a, b), a), which is a, has other gradients there than slopes, as each op shares a tie in halves.
  values moved(graph const& g, tx::node const& leaf, double step) const {
    values v = leaf_values(leaf);
    int const id = static_cast<int>(&leaf - g.nodes.begin());
    for (int k = 0; k < leaves_.size(); ++k)
      for (std::size_t e = 0; leaves_[k] == id && e < v.size(); ++e) v[e] += (off_ties + step) * along(k, e);
    return v;
  }
  static evaluation exact_run() {
    evaluation e = plain_run();
    e.rounded = false;
    return e;
  }

  static constexpr double off_ties = 1e-2;
  graph g_;
  int loss_ = -1;
  vec<int> leaves_{};
};

// "" where the two agree; counts those that say something.
inline std::string wrong_slope(program const& p, int& compared) {
  try {
    auto const s = slope_check(build(p, {p.most, -1})->g).run();
    if (!s) return "";
    compared += std::abs(s->found) > 1e-6;
    if (std::abs(s->said - s->found) <= 1e-4 * (1 + std::abs(s->found))) return "";
    return "the slope is " + std::to_string(s->said) + " by gradients, not " + std::to_string(s->found);
  } catch (tx::invalid const& e) {
    return may_be_refused(e.what()) ? "" : e.what();
  }
}

}  // namespace drawn
