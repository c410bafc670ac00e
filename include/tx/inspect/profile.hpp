// What the kernels of a run did: names, FLOPs and bytes beside the times of a log.
//
//   tx::exec::kernel_log log;
//   run.profile(&log);
//   run(x, y);
//   run.profile(nullptr);
//   tx::io::write_trace("step.json", tx::profile_of<step>(log));     // <tx/io/chrome_trace.hpp>; open it in chrome://tracing or Perfetto
#pragma once

#include <tx/backends/cpu/target.hpp>
#include <tx/inspect/tables.hpp>
#include <tx/run/kernel_log.hpp>
#include <tx/run/run.hpp>

#include <algorithm>

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
  bool rows_differ = false;
  for (int i = 0; i < r.rank; ++i) rows_differ = rows_differ || r.stride[i] != 0;
  return (rows_differ ? rows : 1) * (how == access::row ? 1 : cols);
}

// One call of a program.
TX_COLD inline profiled_kernel described(exec::kernel_event const& e, exec::called_kernel const& k) {
  exec::call const& c = k.c;
  profiled_kernel out{name_of(k), e.start, e.seconds, e.iteration, e.rows, c.cols, 0, 0};
  if (k.sig.kind == exec::kernel_kind::zero) {
    out.bytes = c.cols;
    return out;
  }
  if (k.sees_whole()) {
    for (int i = 0; i < c.operands; ++i)
      if (i >= k.inputs() || k.reads(i)) out.bytes += exec::elements_of(k.operand(i)) * size_of(k.operand(i).type);
    return out;
  }
  if (k.has_product()) {
    std::int64_t const matrices = c.rows > 0 ? (e.rows * c.batch + c.rows - 1) / c.rows : 0;
    out.flops = 2 * e.rows * c.cols * c.depth;
    out.bytes = (e.rows * c.depth + (c.batch > 1 ? matrices : 1) * c.depth * c.cols) * size_of(k.sig.type);
  }
  for (int v = 0; v < k.inputs(); ++v)
    if (k.reads(v)) out.bytes += elements_read(k.read_by(v), k.in(v).how, e.rows, c.cols) * size_of(k.in(v).type);
  out.flops += k.sig.lets * e.rows * c.cols;
  for (int o = 0; o < k.sig.outs; ++o) {
    exec::out_sig const& sig = k.out(o);
    out.bytes += k.width(o) * (sig.shape == exec::form::col_reduce ? 1 : e.rows) * size_of(sig.type);
  }
  return out;
}

template <class Program>
bool describe(std::vector<profiled_kernel>& to, exec::kernel_event const& e) {
  exec::program_tables const tables = exec::tables_of<Program>();
  if (!tables.holds(*e.of)) return false;
  to.push_back(described(e, exec::called_kernel(tables, *e.of, e.extents)));
  return true;
}
template <class Program>
bool add_seconds(std::vector<double>& of_calls, exec::kernel_event const& e) {
  exec::program_tables const tables = exec::tables_of<Program>();
  if (!tables.holds(*e.of)) return false;
  of_calls[static_cast<std::size_t>(e.of - tables.calls.data())] += e.seconds;
  return true;
}
[[noreturn]] TX_COLD inline void throw_other_program(char const* who) {
  throw value_error(std::string(who) + ": the log is of another program. FIX: name the step of the executor that was profiled");
}

}  // namespace detail

// Of a log of runs of an executor<Step, ...>, in the order they ran. To: of the executor's backend.
template <class Step, target const& To = cpu_target>
TX_COLD std::vector<profiled_kernel> profile_of(exec::kernel_log const& log) {
  std::vector<profiled_kernel> out;
  for (exec::kernel_event const& e : log.events) {
    if (!detail::describe<typename Step::template program<To>>(out, e)) detail::throw_other_program("profile_of");
    out.back().start -= log.events.front().start;
  }
  return out;
}

// Of a log of runs: seconds of each call of the program in one of them, the mean of all. What outline_of takes.
template <class Step, target const& To = cpu_target>
TX_COLD std::vector<double> seconds_of(exec::kernel_log const& log) {
  std::vector<double> of_calls(static_cast<std::size_t>(Step::template program<To>::calls.size()));
  for (exec::kernel_event const& e : log.events)
    if (!detail::add_seconds<typename Step::template program<To>>(of_calls, e)) detail::throw_other_program("seconds_of");
  for (double& seconds : of_calls) seconds /= static_cast<double>(std::max<std::int64_t>(1, log.runs));
  return of_calls;
}

}  // namespace tx
