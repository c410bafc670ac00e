// The tables of a program, whatever its type, and a call seen with its signature and operands: for what runs once or
// rarely, and is to be compiled once for all programs.
#pragma once

#include <tx/plan/lowered.hpp>
#include <tx/run/frame.hpp>

#include <span>
#include <string>
#include <vector>

namespace tx::exec {

// What is read of an op at run time. The op_info would bring its shape rule, its gradient and what those are made of into the program.
struct op_facts {
  char const* name = "";
  double (*fold)(double const* in) = nullptr;
  double (*combine)(double a, double b) = nullptr;
  double nothing = 0;
  bool over_first = false;
  bool begins = false;  // a collective, whose result is not there yet

  constexpr op_facts() = default;
  constexpr explicit op_facts(op_info const* op) {
    if (op == nullptr) return;
    name = op->name;
    fold = op->fold;
    combine = op->combine;
    nothing = op->nothing;
    over_first = op->over_first;
    begins = op->begins;
  }
};
using known_kernel = basic_kernel_sig<op_facts>;
using known_let = basic_let_sig<op_facts>;
constexpr known_kernel known(kernel_sig const& k) {
  return {k.kind, op_facts(k.op), k.type, k.columns, k.first_in, k.ins, k.first_let, k.lets, k.first_out, k.outs};
}
constexpr known_let known(let_sig const& l) {
  return {op_facts(l.op), l.type, l.shape, {l.operand[0], l.operand[1], l.operand[2]}, l.operands};
}

struct program_tables {
  std::span<known_kernel const> kernels;
  std::span<in_sig const> ins;
  std::span<known_let const> lets;
  std::span<out_sig const> outs;
  std::span<call const> calls;
  std::span<operand_ref const> operands;
  std::span<varying_number const> varying;
  std::span<instruction const> instructions;
  std::span<loop const> loops;
  std::span<source_site const> sites;
  std::span<std::uint16_t const> site_of;

  bool holds(call const& c) const { return &c >= calls.data() && &c < calls.data() + calls.size(); }
};

template <class Table>
auto span_of(Table const& table) {
  return std::span(table.begin(), static_cast<std::size_t>(table.size()));
}

namespace detail {
// The same for every entry of a table.
template <class Known, int N, class From>
constexpr fixed<Known, N> all_known(From const& from) {
  fixed<Known, N> out{};
  for (int i = 0; i < N; ++i) out.items[i] = known(from[i]);
  return out;
}
template <class Program>
struct known_of {
  static constexpr auto kernels = all_known<known_kernel, Program::kernels.size()>(Program::kernels);
  static constexpr auto lets = all_known<known_let, Program::lets.size()>(Program::lets);
};
}  // namespace detail

template <class Program>
TX_COLD program_tables tables_of() {
  using known = detail::known_of<Program>;
  return {span_of(known::kernels), span_of(Program::ins), span_of(known::lets), span_of(Program::outs), span_of(Program::calls),
          span_of(Program::operands), span_of(Program::varying), span_of(Program::instructions), span_of(Program::loops), span_of(Program::sites), span_of(Program::site_of)};
}

// Of a program that was lowered at run time and outlives them.
class lowered_tables {
 public:
  explicit lowered_tables(lowered const& l) : l_(l) {
    for (kernel_sig const& k : l.kernels) kernels_.push_back(known(k));
    for (let_sig const& s : l.lets) lets_.push_back(known(s));
  }
  program_tables get() const {
    return {kernels_, span_of(l_.ins), lets_, span_of(l_.outs), span_of(l_.calls), span_of(l_.operands), span_of(l_.varying), span_of(l_.instructions), span_of(l_.loops),
            span_of(l_.sites), span_of(l_.site_of)};
  }

 private:
  lowered const& l_;
  std::vector<known_kernel> kernels_;
  std::vector<known_let> lets_;
};

// A call with its kernel and operands, as planned, or as it is with the extents of a run. Values are numbered as in signatures: inputs first,
// then lets.
struct called_kernel {
  call const& planned;  // the program's own
  call c;
  known_kernel const& sig;
  std::span<in_sig const> ins;
  std::span<known_let const> lets;
  std::span<out_sig const> outs;

  called_kernel(program_tables const& p, call const& of)
      : planned(of),
        c(of),
        sig(p.kernels[static_cast<std::size_t>(of.kernel)]),
        ins(part(p.ins, sig.first_in, sig.ins)),
        lets(part(p.lets, sig.first_let, sig.lets)),
        outs(part(p.outs, sig.first_out, sig.outs)),
        operands_(part(p.operands, of.first, of.operands)) {}
  called_kernel(program_tables const& p, call const& of, run_extents const& e) : called_kernel(p, of) {
    if (!e.bound_of.any()) return;
    resolve(c, e);
    now_.assign(operands_.begin(), operands_.end());
    for (operand_ref& r : now_) resolve(r, p.varying.data(), e);
  }

  bool has_product() const { return sig.kind == kernel_kind::gemm; }
  bool by_rows() const { return sig.kind == kernel_kind::fused || has_product(); }
  bool sees_whole() const { return sig.kind == kernel_kind::whole || sig.kind == kernel_kind::collective; }
  int inputs() const { return sig.ins; }
  in_sig const& in(int v) const { return ins[static_cast<std::size_t>(v)]; }
  known_let const& let(int v) const { return lets[static_cast<std::size_t>(v - sig.ins)]; }
  out_sig const& out(int o) const { return outs[static_cast<std::size_t>(o)]; }
  // Is an input read from memory? (The product at the head is none: its sides are operands 0 and 1.)
  bool reads(int v) const {
    access const how = in(v).how;
    return how == access::contiguous || how == access::strided || how == access::row;
  }
  operand_ref const& operand(int k) const { return now_.empty() ? operands_[static_cast<std::size_t>(k)] : now_[static_cast<std::size_t>(k)]; }
  int operands() const { return c.operands; }
  operand_ref const& read_by(int v) const { return operand(v + (has_product() ? 1 : 0)); }
  operand_ref const& written_by(int o) const { return operand(sig.ins + (has_product() ? 1 : 0) + o); }

  // For each value: does it vary by column?
  TX_COLD std::vector<char> by_column() const {
    std::vector<char> all;
    for (in_sig const& i : ins) all.push_back(varies_by_column(i.how));
    for (known_let const& l : lets) {
      bool varies = false;
      for (int k = 0; k < l.operands && l.shape == form::map; ++k)
        varies = varies || all[static_cast<std::size_t>(l.operand[k])] != 0;
      all.push_back(varies);
    }
    return all;
  }
  // Elements of a row of result o, of a sum over rows in all.
  std::int64_t width(int o) const { return out(o).per_row ? 1 : c.cols; }

 private:
  std::span<operand_ref const> operands_;
  std::vector<operand_ref> now_;  // if numbers of them vary

  template <class T>
  static std::span<T const> part(std::span<T const> table, int first, int count) {
    return table.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  }
};

// "matmul + add + gelu": a product, then its epilogue's ops, or the ops of a row kernel.
TX_COLD inline std::string name_of(called_kernel const& k) {
  if (k.sig.kind == kernel_kind::zero) return "zero";
  if (k.sees_whole()) return k.sig.op.name;
  std::string name = k.has_product() ? "matmul" : "";
  for (known_let const& l : k.lets) name += (name.empty() ? "" : " + ") + std::string(l.op.name);
  return name.empty() ? "copy" : name;
}

// The number of the op that makes a value among a call's ops, the head's being 0; -1: none does, it is read.
inline int op_of(called_kernel const& k, int value) {
  if (k.sees_whole() || (k.has_product() && value == 0)) return 0;
  return value < k.inputs() ? -1 : value - k.inputs() + (k.has_product() ? 1 : 0);
}

// The line that recorded such an op; null where it is not known.
inline source_site const* line_of(program_tables const& p, call const& c, int op) {
  if (c.first_site < 0 || op < 0) return nullptr;
  int const line = p.site_of[static_cast<std::size_t>(c.first_site + op)];
  return line == 0 ? nullptr : &p.sites[static_cast<std::size_t>(line - 1)];
}

// How often a run makes a call: the iterations of all loops around it, bands aside, but for those over parts of a batch.
struct call_runs {
  std::int64_t in_part = 1;
  std::int64_t parts = 1;

  std::int64_t all() const { return in_part * parts; }
};
TX_COLD inline call_runs runs_of(program_tables const& p, call const& c) {
  instruction wanted{instruction_kind::call, static_cast<int>(&c - p.calls.data())};
  auto const holds_it = [&](loop const& l) {
    for (int k = 0; k < l.count; ++k) {
      instruction const& s = p.instructions[static_cast<std::size_t>(l.first + k)];
      if (s.kind == wanted.kind && s.index == wanted.index) return true;
    }
    return false;
  };
  call_runs runs;
  bool takes_turns = false;
  for (std::size_t l = 0; l < p.loops.size();) {  // from the inside: each round finds the next loop further out
    if (!holds_it(p.loops[l])) {
      ++l;
      continue;
    }
    loop const& around = p.loops[l];
    if (around.turn) runs.parts *= around.turn.count;
    else if (around.band == 0 && !takes_turns) (around.parts ? runs.parts : runs.in_part) *= around.iterations;
    takes_turns = static_cast<bool>(around.turn);  // in the loop that is next
    wanted = {instruction_kind::loop, static_cast<int>(l)};
    l = 0;
  }
  return runs;
}

}  // namespace tx::exec
