// The growing tables of a program, and the kernels among them: equal groups are one kernel.
#pragma once

#include <tx/core/vec.hpp>
#include <tx/graph/graph.hpp>
#include <tx/plan/target.hpp>

namespace tx::exec {

struct lowered {
  vec<kernel_sig> kernels{};
  vec<in_sig> ins{};
  vec<let_sig> lets{};
  vec<out_sig> outs{};
  vec<call> calls{};
  vec<operand_ref> operands{};
  vec<varying_number> varying{};
  bound_table bound_of{};
  vec<instruction> instructions{};
  vec<loop> loops{};
  vec<result_ref> results{};
  vec<range_check> checks{};
  vec<source_site> sites{};         // lines that models mark
  vec<declared_setting> settings{};
  vec<std::uint16_t> site_of{};     // op of a call -> its line, from 1; 0: unknown
  memory_use memory{};
  missing_gradient no_gradient{};
  bool replaces_leaves = false;  // is anything stored over parameters or states?
};

namespace detail {

// Signature lists of one kernel within the tables, for analyse().
struct sig_view {
  lowered const& all;
  kernel_sig const& k;
  constexpr int inputs() const { return k.ins; }
  constexpr int lets() const { return k.lets; }
  constexpr int outputs() const { return k.outs; }
  constexpr in_sig const& in(int i) const { return all.ins[k.first_in + i]; }
  struct let_view {
    dtype type;
    form shape;
    bool costly;
    int const* operand;
    int operands;
  };
  constexpr let_view let(int i) const {
    let_sig const& l = all.lets[k.first_let + i];
    return {l.type, l.shape, l.op->costly, l.operand, l.operands};
  }
  constexpr out_sig const& out(int i) const { return all.outs[k.first_out + i]; }
};

class kernel_table {
 public:
  constexpr kernel_table(lowered& out, target const& to) : out_(out), to_(to) {}

  // The number of a kernel; its signature lists must be the last in the tables, and go again if the kernel is known.
  constexpr int intern(kernel_sig const& sig) {
    for (int i = 0; i < out_.kernels.size(); ++i)
      if (same_kernel(out_.kernels[i], sig)) {
        out_.ins.resize(sig.first_in);
        out_.lets.resize(sig.first_let);
        out_.outs.resize(sig.first_out);
        return i;
      }
    out_.kernels.push_back(sig);
    return out_.kernels.size() - 1;
  }

  constexpr std::int64_t scratch_bytes(call const& c) {
    kernel_sig const& k = out_.kernels[c.kernel];
    if (k.kind == kernel_kind::whole && to_.whole_scratch != nullptr) return to_.whole_scratch(*k.op, c, &out_.operands[c.first]);
    if (k.kind != kernel_kind::fused && k.kind != kernel_kind::gemm) return 0;
    row_buffers const kept = kept_by(c.kernel);
    std::int64_t bytes = to_.row_scratch(kept, c);
    if (k.kind == kernel_kind::gemm) bytes += to_.product_scratch(kept, c, out_.operands[c.first], out_.operands[c.first + 1]);
    return bytes;
  }
  // Of a fused group, or of what follows a product.
  constexpr row_buffers kept_by(int kernel) {
    if (kernel >= needs_.size()) needs_.resize(kernel + 1, -1);
    if (needs_[kernel] < 0) {
      needs_[kernel] = buffers_.size();
      buffers_.push_back(analyse(sig_view{out_, out_.kernels[kernel]}));
    }
    return buffers_[needs_[kernel]];
  }

 private:
  constexpr bool same_kernel(kernel_sig const& a, kernel_sig const& b) const {
    if (a.kind != b.kind || a.op != b.op || a.type != b.type || a.columns != b.columns || a.ins != b.ins || a.lets != b.lets || a.outs != b.outs) return false;
    for (int i = 0; i < a.ins; ++i)
      if (!(out_.ins[a.first_in + i] == out_.ins[b.first_in + i])) return false;
    for (int i = 0; i < a.outs; ++i)
      if (!(out_.outs[a.first_out + i] == out_.outs[b.first_out + i])) return false;
    for (int i = 0; i < a.lets; ++i) {
      let_sig const& x = out_.lets[a.first_let + i];
      let_sig const& y = out_.lets[b.first_let + i];
      if (x.op != y.op || x.type != y.type || x.shape != y.shape || x.operands != y.operands) return false;
      for (int k = 0; k < x.operands; ++k)
        if (x.operand[k] != y.operand[k]) return false;
    }
    return true;
  }

  lowered& out_;
  target const& to_;
  vec<int> needs_{};  // kernel -> its buffers
  vec<row_buffers> buffers_{};
};

}  // namespace detail

}  // namespace tx::exec
