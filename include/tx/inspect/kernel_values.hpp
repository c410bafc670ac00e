// The values of a kernel that does rows, computed again one by one, in plain arithmetic that rounds each to its type:
// what a fused kernel never stores. Products and sums over a row add in another order than kernels do, so last bits may
// differ.
#pragma once

#include <tx/core/elements.hpp>
#include <tx/inspect/tables.hpp>

namespace tx::exec {

class kernel_values {
 public:
  // The operands must lie where the call finds them; the frame is that of the call.
  TX_COLD kernel_values(called_kernel const& k, frame const& f)
      : k_(k), f_(f), wide_(k.by_column()), values_(wide_.size()) {}

  // All values of a row; sums over rows excepted.
  TX_COLD void compute(std::int64_t row) {
    for (int v = 0; v < k_.inputs(); ++v) read(v, row);
    for (int v = k_.inputs(); v < static_cast<int>(values_.size()); ++v) {
      known_let const& l = k_.let(v);
      std::vector<double>& to = values_[static_cast<std::size_t>(v)];
      if (l.shape == form::col_reduce) continue;
      if (l.shape == form::row_reduce) {
        double sum = k_.c.cols == 0 ? l.op.nothing : at(l.operand[0], 0);
        for (std::int64_t c = 1; c < k_.c.cols && l.op.combine != nullptr; ++c)
          sum = l.op.combine(sum, at(l.operand[0], c));
        to.assign(1, rounded_to(l.type, sum));
        continue;
      }
      to.resize(columns(v));
      for (std::size_t c = 0; c < to.size(); ++c) {
        double in[3] = {};
        for (int o = 0; o < l.operands; ++o) in[o] = at(l.operand[o], static_cast<std::int64_t>(c));
        to[c] = result(l, in);
      }
    }
  }
  bool by_column(int value) const { return wide_[static_cast<std::size_t>(value)] != 0; }
  double at(int value, std::int64_t col) const {
    auto const v = static_cast<std::size_t>(value);
    return values_[v][wide_[v] != 0 ? static_cast<std::size_t>(col) : 0];
  }
  // What an op that sees one element of each operand makes of them.
  static double result(known_let const& l, double const* in) {
    return rounded_to(l.type, l.op.fold != nullptr ? l.op.fold(in) : in[0]);
  }

  // Where the sides of the product at the head lie for a row: their first element, and elements from one to the next
  // along the depth.
  struct side {
    std::byte const* first;
    std::int64_t step;
  };
  side left(std::int64_t row) const {
    operand_ref const& r = k_.operand(0);
    std::int64_t const rows = f_.matrix_rows(k_.c);
    return {f_.at<std::byte>(r) + (row_offset(r, row / rows) + row % rows * r.row) * size_of(r.type), r.col};
  }
  side right(std::int64_t row, std::int64_t col) const {
    operand_ref const& r = k_.operand(1);
    return {f_.at<std::byte>(r) + (row_offset(r, row / f_.matrix_rows(k_.c)) + col * r.col) * size_of(r.type), r.row};
  }

 private:
  std::size_t columns(int v) const {
    return wide_[static_cast<std::size_t>(v)] != 0 ? static_cast<std::size_t>(k_.c.cols) : 1;
  }

  TX_COLD void read(int v, std::int64_t row) {
    std::vector<double>& to = values_[static_cast<std::size_t>(v)];
    to.resize(columns(v));
    in_sig const& sig = k_.in(v);
    for (std::size_t i = 0; i < to.size(); ++i) {
      auto const c = static_cast<std::int64_t>(i);
      if (sig.how == access::product) {
        to[i] = product(row, c);
        continue;
      }
      operand_ref const& r = k_.read_by(v);
      if (sig.how == access::constant)
        to[i] = rounded_to(sig.type, r.value);
      else if (sig.how == access::position)
        to[i] = static_cast<double>(r.rank == 0 ? c : row / r.stride[0] % r.extent[0]);
      else if (sig.how == access::random)
        to[i] = uniform(f_.key, f_.stream(r), f_.random_row(r, row), static_cast<std::uint32_t>(c));
      else
        to[i] =
            element_at(sig.type, f_.at<std::byte>(r), row_offset(r, row) + (sig.how == access::row ? 0 : c * r.col));
    }
  }
  TX_COLD double product(std::int64_t row, std::int64_t col) const {
    std::int64_t const depth = k_.c.depth;
    if (depth == 0) return 0;  // an argument without rows may lie nowhere
    side const a = left(row), b = right(row, col);
    double sum = 0;
    for (std::int64_t d = 0; d < depth; ++d)
      sum += element_at(k_.sig.type, a.first, d * a.step) * element_at(k_.sig.type, b.first, d * b.step);
    return rounded_to(k_.in(0).type, sum);
  }

  called_kernel const& k_;
  frame const& f_;
  std::vector<char> wide_;  // value -> does it vary by column
  std::vector<std::vector<double>> values_;
};

}  // namespace tx::exec
