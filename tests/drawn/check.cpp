#include "check.hpp"

#include "outcome_check.hpp"
#include "refusals.hpp"
#include "rules.hpp"
#include "slopes.hpp"

namespace drawn {

// What is wrong with the pass that has products multiply halves, where those are doubles: it rounds nothing then, so the program has to compute what it did.
static std::string wrong_when_mixed(program const& p) {
  row_count const rows{p.most, p.most > 0 ? p.most : -1};
  auto const built = build(p, rows);
  if (built->g.outputs.empty()) return "";  // what is trained has no other results
  recorded const before = with_leaves(built->g, p.type, rows);
  std::string const wrong = outcome_check(before).wrong(evaluated(tx::passes::mixed(before.asked, dtype::f64), before, plain_run()));
  return wrong.empty() ? wrong : "mixed with doubles: " + wrong;
}

verdict check(program const& p, totals& sums) {
  verdict v;
  ++sums.programs;
  std::vector<int> all{p.most};
  if (p.most > 0) all = {p.most, 1, 0, p.most - 1};
  std::vector<recorded> fixed;
  std::vector<outcome_check> checks;
  recorded planned;
  auto const refuse = [&](tx::invalid const& e) {
    v.refused = e.what();
    ++sums.unfinished;
    return v;
  };
  try {
    planned = record(p, {p.most, -1});
  } catch (tx::invalid const& e) {
    if (!may_be_refused(e.what())) v.wrong = std::string("recording refuses: ") + e.what();
    return refuse(e);
  }
  try {
    fixed.reserve(all.size());
    checks.reserve(all.size());
    for (int rows : all) fixed.push_back(p.most > 0 ? record(p, {p.most, rows}) : planned);
    // What is a gradient of nothing with some numbers of rows has no sum of its own there.
    for (recorded const& r : fixed)
      for (std::size_t b = 0; b < planned.sizes.size(); ++b) planned.sizes[b] = std::max(planned.sizes[b], r.sizes[b]);
    for (recorded& r : fixed) {
      r.sizes = planned.sizes;
      checks.emplace_back(r);
    }
  } catch (tx::invalid const& e) {
    return refuse(e);  // shapes that agree for the most rows alone
  }
  try {
    std::vector<expectation> runs;
    for (std::size_t k = 0; k < all.size(); ++k) runs.push_back({all[k], [&, k](outcome const& o) { return checks[k].wrong(o); }});
    check_plans(planned, runs, sums);
    if (p.most > 0) {  // one of them is planned for itself, too
      std::size_t const k = 1 + static_cast<std::size_t>(p.next_id) % (all.size() - 1);
      fixed[k].rows = {};
      expectation run = runs[k];
      run.rows = 0;
      check_plans(fixed[k], {run}, sums);
    }
    v.wrong = wrong_slope(p, sums.slopes);
    if (v.wrong.empty() && p.type == dtype::f32) v.wrong = wrong_when_mixed(p);
  } catch (tx::invalid const& e) {
    v.wrong = std::string("planning refuses: ") + e.what();
  } catch (std::runtime_error const& e) {
    v.wrong = e.what();
  }
  return v;
}

std::string wrong_with(graph const& g, dtype type, totals* told) {
  recorded const r = with_leaves(g, type, {});
  outcome_check const near(r);
  totals own;
  totals& sums = told != nullptr ? *told : own;
  try {
    check_plans(r, {{0, [&](outcome const& o) { return near.wrong(o); }}}, sums);
  } catch (tx::invalid const& e) {
    return std::string("planning refuses: ") + e.what();
  } catch (std::runtime_error const& e) {
    return e.what();
  }
  return "";
}

}  // namespace drawn
