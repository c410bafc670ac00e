// Which op of a kernel made a number that is not finite: the last one, going from a result to its operands, whose own
// operands are good.
#pragma once

#include <tx/inspect/kernel_values.hpp>

namespace tx::exec {

// Which numbers are bad: NaN, and infinities if those count.
struct finite_rule {
  bool infinities = false;
  bool bad(double x) const { return infinities ? !is_finite(x) : is_nan(x); }
};

// What an op read of an operand: all elements, or one, within its row.
struct operand_values {
  bool one = false;
  double here = 0;  // that one
  double least = 0, most = 0;
  std::int64_t count = 0;

  void add(double x) {
    least = count == 0 || x < least ? x : least;
    most = count == 0 || x > most ? x : most;
    ++count;
  }
};

struct bad_origin {
  std::string op;  // empty: in plain arithmetic the result is finite, or the number came in with an operand
  int value = -1;  // of the kernel that is nearest to it
  std::int64_t row = 0, col = 0;
  std::vector<operand_values> operands;
};

class origin_finder {
 public:
  TX_COLD origin_finder(called_kernel const& k, frame const& f, finite_rule rule)
      : k_(k), f_(f), rule_(rule), values_(k, f) {}

  // Of element (row, col) of result `o`; of a sum over rows, its column.
  TX_COLD bad_origin find(int o, std::int64_t row, std::int64_t col) {
    bad_origin at{{}, k_.out(o).value, row, col, {}};
    if (k_.out(o).shape != form::col_reduce) {
      values_.compute(row);
    } else if (!enter_sum(at)) {
      return at;
    }
    if (!rule_.bad(values_.at(at.value, at.col))) return at;
    while (at.value >= k_.inputs() && at.op.empty()) step(at);
    if (at.op.empty() && k_.in(at.value).how == access::product) look_at_product(at);
    return at;
  }

 private:
  TX_COLD operand_values row_of(int value, std::int64_t col, bool one) const {
    operand_values o{.one = one, .here = values_.at(value, col)};
    for (std::int64_t c = 0; c < (values_.by_column(value) ? k_.c.cols : 1); ++c) o.add(values_.at(value, c));
    return o;
  }

  // The row that makes a sum over rows bad; if none does, it is the sum.
  TX_COLD bool enter_sum(bad_origin& at) {
    int const term = k_.let(at.value).operand[0];
    operand_values all{};
    for (std::int64_t r = f_.first_row(k_.c); r < f_.end_row(k_.c); ++r) {
      values_.compute(r);
      if (rule_.bad(values_.at(term, at.col))) {
        at.row = r;
        at.value = term;
        return true;
      }
      all.add(values_.at(term, at.col));
    }
    at.op = k_.let(at.value).op.name;
    at.operands.push_back(all);
    return false;
  }

  // From a bad value to the operand that makes it so, or to the op.
  TX_COLD void step(bad_origin& at) {
    known_let const& l = k_.let(at.value);
    if (l.shape == form::row_reduce) {
      for (std::int64_t c = 0; c < k_.c.cols; ++c)
        if (rule_.bad(values_.at(l.operand[0], c))) {
          at.value = l.operand[0];
          at.col = c;
          return;
        }
    } else {
      double in[3] = {}, only[3] = {};
      for (int k = 0; k < l.operands; ++k) in[k] = values_.at(l.operand[k], at.col);
      for (int k = 0; k < l.operands; ++k) {
        if (!rule_.bad(in[k])) continue;
        for (int other = 0; other < 3; ++other) only[other] = other != k && rule_.bad(in[other]) ? 1 : in[other];
        if (!rule_.bad(kernel_values::result(l, only))) continue;  // not taken, as one side of a `where`
        at.value = l.operand[k];
        return;
      }
    }
    at.op = l.op.name;
    for (int k = 0; k < l.operands; ++k) at.operands.push_back(row_of(l.operand[k], at.col, l.shape == form::map));
  }

  // Sides without a bad number: the sum of their products is one.
  TX_COLD void look_at_product(bad_origin& at) const {
    std::vector<operand_values> sides;
    bool bad = false;
    for (kernel_values::side const& s : {values_.left(at.row), values_.right(at.row, at.col)}) {
      operand_values all{};
      for (std::int64_t d = 0; d < k_.c.depth; ++d) {
        double const x = element_at(k_.sig.type, s.first, d * s.step);
        bad = bad || rule_.bad(x);
        all.add(x);
      }
      sides.push_back(all);
    }
    if (bad) return;
    at.op = "matmul";
    at.operands = sides;
  }

  called_kernel const& k_;
  frame const& f_;
  finite_rule rule_;
  kernel_values values_;
};

}  // namespace tx::exec
