// What the kernels of a run did: names, FLOPs and bytes beside the times of a log.
//
//   tx::exec::kernel_log log;
//   run.profile(&log);
//   run(x, y);
//   run.profile(nullptr);
//   tx::io::write_trace("step.json", tx::profile_of<step>(log));     // <tx/io/trace.hpp>; open it in chrome://tracing or Perfetto
#pragma once

#include <tx/exec/kernel_log.hpp>
#include <tx/exec/parts.hpp>

#include <string>

namespace tx {

struct profiled_kernel {
  std::string name;               // "matmul + add + gelu": a product, then its epilogue's ops, or the ops of a row kernel
  double start = 0, seconds = 0;  // start: from the first kernel of the log
  std::int64_t iteration = 0;     // of the enclosing repeat
  std::int64_t rows = 0, cols = 0;
  std::int64_t flops = 0;         // of products, and one for each element and op; ops that see whole operands count none
  std::int64_t bytes = 0;         // of every operand and result, once
};

namespace detail {

// Elements of an operand that a call reads: fewer than rows x cols where it is broadcast.
constexpr std::int64_t elements_read(exec::operand_ref const& r, exec::access how, std::int64_t rows, std::int64_t cols) {
  using exec::access;
  if (how == access::constant || how == access::position || how == access::random || how == access::product) return 0;
  bool rows_differ = false;
  for (int i = 0; i < r.rank; ++i) rows_differ = rows_differ || r.stride[i] != 0;
  return (rows_differ ? rows : 1) * (how == access::row ? 1 : cols);
}

constexpr std::int64_t whole_elements(exec::operand_ref const& r) {
  std::int64_t n = 1;
  for (int i = 0; i < r.rank; ++i) n *= r.extent[i];
  return n;
}

// One call of a program.
template <class Program>
TX_COLD profiled_kernel described(exec::kernel_event const& e, exec::call const& c) {
  exec::kernel_sig const k = Program::kernels[c.kernel];
  exec::operand_ref const* operand = &Program::operands[c.first];
  profiled_kernel out{{}, e.start, e.seconds, e.iteration, e.rows, c.cols, 0, 0};
  auto name = [&](char const* op) { out.name += (out.name.empty() ? "" : " + ") + std::string(op); };
  if (k.kind == exec::kernel_kind::zero) {
    out.name = "zero";
    out.bytes = c.cols;
    return out;
  }
  if (k.kind == exec::kernel_kind::whole || k.kind == exec::kernel_kind::collective) {
    out.name = k.op->name;
    for (int i = 0; i < c.operands; ++i) out.bytes += whole_elements(operand[i]) * size_of(operand[i].type);
    return out;
  }
  if (k.kind == exec::kernel_kind::gemm) {
    name("matmul");
    std::int64_t const matrices = c.rows > 0 ? (e.rows * c.batch + c.rows - 1) / c.rows : 0;
    out.flops = 2 * e.rows * c.cols * e.depth;
    out.bytes = (e.rows * e.depth + (c.batch > 1 ? matrices : 1) * e.depth * c.cols) * size_of(k.type);
    operand += 2;
  }
  for (int i = k.kind == exec::kernel_kind::gemm ? 1 : 0; i < k.ins; ++i, ++operand)
    out.bytes += elements_read(*operand, Program::ins[k.first_in + i].how, e.rows, c.cols) * size_of(operand->type);
  for (int i = 0; i < k.lets; ++i) name(Program::lets[k.first_let + i].op->name);
  out.flops += k.lets * e.rows * c.cols;
  for (int i = 0; i < k.outs; ++i, ++operand) {
    exec::out_sig const o = Program::outs[k.first_out + i];
    out.bytes += (o.shape == exec::form::col_reduce ? c.cols : o.per_row ? e.rows : e.rows * c.cols) * size_of(operand->type);
  }
  if (out.name.empty()) out.name = "copy";
  return out;
}

template <class Program>
bool describe(std::vector<profiled_kernel>& to, exec::kernel_event const& e) {
  for (exec::call const& c : Program::calls)
    if (&c == e.of) {
      to.push_back(described<Program>(e, c));
      return true;
    }
  return false;
}

}  // namespace detail

// Of a log of runs of an executor<Step, ...>, in the order they ran.
template <class Step>
TX_COLD std::vector<profiled_kernel> profile_of(exec::kernel_log const& log) {
  std::vector<profiled_kernel> out;
  for (exec::kernel_event const& e : log.events) {
    bool known = detail::describe<typename Step::program>(out, e);
    if constexpr (exec::in_parts<Step>) known = known || detail::describe<typename Step::update_program>(out, e);
    if (!known) throw value_error("profile_of: the log is of another program. FIX: name the step of the executor that was profiled");
    out.back().start -= log.events.front().start;
  }
  return out;
}

}  // namespace tx
