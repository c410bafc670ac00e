// A program is run with memory that holds, instead of numbers, which element lies there. Every read of every kernel, through all of its
// strides, must find the element that the graph says, whatever other rows of the kernel have been written by then.
#pragma once

#include "shown_elements.hpp"

#include <tx/backends/cpu/target.hpp>
#include <tx/inspect/tables.hpp>
#include <tx/plan/compile.hpp>

#include <algorithm>

class storage_verifier {
 public:
  // Both of one exec::compile(), which told `seen`.
  storage_verifier(tx::exec::lowered const& l, tx::exec::inspection const& seen)
      : l_(l), tables_(l), p_(tables_.get()), seen_(seen), g_(seen.nodes), f_(seen.fused), elements_(seen.nodes, seen.fused.where.moved) {}

  // Throws std::runtime_error with what is wrong.
  void run() {
    memory_.assign(tx::exec::bases, {});
    memory_[tx::exec::base_arena].resize(static_cast<std::size_t>(l_.memory.arena));
    for (int i = 0; i < g_.size(); ++i)
      if (g_[i].op->kind == tx::op_kind::leaf && g_[i].op != &tx::argument_info) fill(i);
    region(l_.loops[0]);
    std::size_t result = 0;
    for (tx::output const& o : g_.outputs) {
      if (o.kind == tx::output_kind::assign) continue;
      tx::exec::result_ref const& r = l_.results[static_cast<int>(result++)];
      for (std::int64_t e = 0; e < r.info.count(); ++e)
        expect({tx::exec::base_arena, r.offset + e * size_of(r.info.type)}, size_of(r.info.type), elements_.of(o.value, 0, e), o.value);
    }
    for (tx::output const& o : g_.outputs)
      for (std::int64_t e = 0; o.kind == tx::output_kind::assign && e < g_.info(o.target).count(); ++e)
        expect(leaf_address(o.target, e), size_of(g_.info(o.target).type), elements_.of(o.value, 0, e), o.value);
  }

 private:
  struct byte_of {
    element_number holds = no_element;
    // The last call that writes it, and for which element of its rows and columns; read while it runs, that one may be there already.
    int call = -1, sweep = 0;
    std::int64_t row = -1, col = -1;
  };
  struct address {
    int base;
    std::int64_t offset;
  };
  struct write {
    address to;
    std::int64_t bytes;
    element_number what;
  };

  [[noreturn]] void fail(std::string const& what, int id) const {
    throw std::runtime_error(what + ": node " + std::to_string(id) + ", " + g_[id].op->name);
  }

  // ---- memory ----------------------------------------------------------------------------------------------------------

  address leaf_address(int id, std::int64_t e) const {
    tx::node const& n = g_[id];
    std::int64_t const size = size_of(n.info.type);
    if (n.op == &tx::input_info) return {tx::exec::base_input + tx::input_number(n.at), e * size};
    if (n.op == &tx::parameter_info) return {tx::exec::base_block, (tx::parameter_first(n.at) + e) * size};
    if (n.op == &tx::block_info) return {tx::exec::base_block + tx::block_number(n.at), (tx::block_first(n.at) + e) * size};
    return {tx::exec::base_scalars, (tx::scalar_number(n.at) + e) * size};
  }
  void fill(int id) {
    std::int64_t const size = size_of(g_.info(id).type);
    for (std::int64_t e = 0; e < g_.info(id).count(); ++e) {
      address const a = leaf_address(id, e);
      auto& bytes = memory_[static_cast<std::size_t>(a.base)];
      if (static_cast<std::size_t>(a.offset + size) > bytes.size()) bytes.resize(static_cast<std::size_t>(a.offset + size));
      put({a, size, elements_.own(id, 0, e)});
    }
  }
  std::span<byte_of> at(address a, std::int64_t bytes, int id) {
    auto& all = memory_[static_cast<std::size_t>(a.base)];
    if (a.offset < 0 || a.offset + bytes > static_cast<std::int64_t>(all.size())) fail("memory that is not there is touched", id);
    return std::span(all).subspan(static_cast<std::size_t>(a.offset), static_cast<std::size_t>(bytes));
  }
  void put(write const& w) {
    for (byte_of& b : at(w.to, w.bytes, 0)) b.holds = w.what == zero_byte ? zero_byte : part_of_one;
    if (w.what != zero_byte) at(w.to, w.bytes, 0)[0].holds = w.what;
  }
  void expect(address a, std::int64_t bytes, element_number wanted, int id) {
    auto const found = at(a, bytes, id);
    bool right = found[0].holds == wanted;
    for (std::size_t i = 1; i < found.size(); ++i) right = right && found[i].holds == (wanted == zero_byte ? zero_byte : part_of_one);
    if (right) return;
    element_number const has = found[0].holds;
    fail(has == no_element ? "an element is read before it is written" : has == spoiled ? "an element is read that scratch lies over"
                                                                                        : "another element is read than the graph says", id);
  }

  // ---- walking the program ---------------------------------------------------------------------------------------------

  void region(tx::exec::loop const& l) {
    for (int k = 0; k < l.count; ++k) {
      tx::exec::instruction const& s = l_.instructions[l.first + k];
      if (s.kind == tx::exec::instruction_kind::call) call(s.index);
      else inner(l_.loops[s.index]);
    }
  }
  void inner(tx::exec::loop const& l) {
    frame_.extents.bound_of = l_.bound_of;  // as many as are planned for
    for (int t = 1; t <= tx::max_tags; ++t) frame_.extents.now[t] = l_.bound_of.most[t];
    tx::exec::for_each_iteration(frame_, l, [&] { region(l); });
  }

  void call(int index) {
    tx::exec::call const& c = p_.calls[static_cast<std::size_t>(index)];
    tx::exec::called_kernel const k(p_, c);
    call_ = index;
    iteration_ = static_cast<int>(frame_.iteration);
    writes_.clear();
    int const scratch = seen_.scratch_of_call[index];
    scratch_first_ = scratch_end_ = 0;
    if (scratch >= 0 && c.scratch >= 0) {
      scratch_first_ = c.scratch;
      scratch_end_ = c.scratch + seen_.buffers[scratch].bytes;
      for (byte_of& b : at({tx::exec::base_arena, c.scratch}, seen_.buffers[scratch].bytes, 0)) b.holds = spoiled;
    }
    if (k.sig.kind == tx::exec::kernel_kind::zero) {
      put({where(k.operand(0), 0), c.cols, zero_byte});
      return;
    }
    tx::passes::group const& gr = f_.groups[seen_.group_of_call[index]];
    if (k.by_rows()) rows(k, gr);
    else whole(k, gr.head);
    for (write const& w : writes_) put(w);
  }

  address where(tx::exec::operand_ref const& r, std::int64_t element) const {
    return {r.base, frame_.offset_of(r) + element * size_of(r.type)};
  }
  // sweep: of a row's, in which it is written; see exec::row_sweeps.
  void will_write(tx::exec::operand_ref const& r, std::int64_t element, element_number what, std::int64_t row, std::int64_t col, int sweep, int id) {
    writes_.push_back({where(r, element), size_of(r.type), what});
    address const to = writes_.back().to;
    if (to.base == tx::exec::base_arena && to.offset < scratch_end_ && to.offset + size_of(r.type) > scratch_first_) fail("a result lies over the kernel's scratch", id);
    for (byte_of& b : at(writes_.back().to, writes_.back().bytes, id)) {
      if (b.call == call_) fail("an element is written twice", id);
      b.call = call_;
      b.sweep = sweep;
      b.row = row;
      b.col = col;
    }
  }
  // sweep: the last in which it is read.
  void will_read(tx::exec::operand_ref const& r, std::int64_t element, element_number wanted, std::int64_t row, std::int64_t col, int sweep, int id) {
    address const a = where(r, element);
    for (byte_of const& b : at(a, size_of(r.type), id))
      if (b.call == call_ && (b.sweep < sweep || b.row != row || b.col != col)) fail("a kernel may overwrite an element before it reads it", id);
    expect(a, size_of(r.type), wanted, id);
  }

  // ---- kernels ---------------------------------------------------------------------------------------------------------

  void whole(tx::exec::called_kernel const& k, int id) {
    bool const over_first = g_[id].op->over_first;  // then of input 0 what is written is read before, by who writes it
    for (int r = 0; r < k.sig.outs; ++r) {
      int const made = g_.has_results(id) ? id + 1 + r : id;
      for (std::int64_t e = 0; e < g_.info(made).count(); ++e) will_write(k.written_by(r), e, elements_.own(made, iteration_, e), over_first ? e : -1, -1, 0, made);
    }
    bool const in_place = g_[id].op->awaits && k.operand(0).base == k.operand(1).base && frame_.offset_of(k.operand(0)) == frame_.offset_of(k.operand(1));
    for (int o = 0; o < (in_place ? 1 : g_[id].inputs); ++o)
      for (std::int64_t e = 0; k.reads(o) && e < g_.info(g_.input(id, o)).count(); ++e)
        will_read(k.operand(o), e, elements_.of(g_.input(id, o), tx::exec::detail::sees_next(g_, g_[id], o) ? next_iteration(id) : iteration_, e), over_first && o == 0 ? e : -2, over_first && o == 0 ? -1 : -2, 0, id);
    forget_writes();
  }

  void rows(tx::exec::called_kernel const& k, tx::passes::group const& gr) {
    std::vector<int> made{};  // nodes of the lets, in order
    for (int id : gr.nodes)
      if (id != gr.head) made.push_back(id);
    sweeps_ = tx::exec::analyse(tx::exec::detail::sig_view{l_, l_.kernels[k.c.kernel]});
    last_read_.assign(static_cast<std::size_t>(k.inputs()), 0);
    for (int sweep = 0; sweep < sweeps_.sweeps; ++sweep) {
      tx::exec::sweep_demand const d = tx::exec::demand_of(tx::exec::detail::sig_view{l_, l_.kernels[k.c.kernel]}, sweeps_, sweep);
      for (int v = 0; v < k.inputs(); ++v)
        if (d.value[v]) last_read_[static_cast<std::size_t>(v)] = sweep;
    }
    auto const node_of = [&](int value) { return value < k.inputs() ? gr.head : made[static_cast<std::size_t>(value - k.inputs())]; };
    for (int o = 0; o < static_cast<int>(k.outs.size()); ++o) stored(k, gr, o, node_of(k.out(o).value));
    if (gr.head >= 0) sides(k, gr.head);
    for (std::size_t n = 0; n < made.size(); ++n) {
      int const id = made[n];
      if (g_[id].op->kind == tx::op_kind::index) continue;
      for (int o = 0; o < g_[id].inputs; ++o) operand(k, gr, id, g_.input(id, o), k.lets[n].operand[o], node_of);
    }
    forget_writes();
  }

  // A node has an element of each row and column, or one of each row.
  std::int64_t element_of(tx::passes::group const& gr, int id, std::int64_t row, std::int64_t col) const {
    return f_.levels[id] == tx::passes::level::full ? row * gr.cols + col : row;
  }

  void stored(tx::exec::called_kernel const& k, tx::passes::group const& gr, int o, int id) {
    tx::exec::operand_ref const& r = k.written_by(o);
    if (k.out(o).shape == tx::exec::form::col_reduce) {
      for (std::int64_t e = 0; e < g_.info(id).count(); ++e) will_write(r, e, elements_.own(id, iteration_, e), -1, -1, 0, id);
      return;
    }
    for (std::int64_t row = frame_.first_row(k.c); row < frame_.end_row(k.c); ++row)
      for (std::int64_t c = 0; c < k.width(o); ++c)
        will_write(r, tx::exec::row_offset(r, row) + c, elements_.own(id, iteration_, element_of(gr, id, row, c)), row, c, sweeps_.sweep[k.out(o).value], id);
  }

  void sides(tx::exec::called_kernel const& k, int id) {
    tx::exec::operand_ref const &left = k.operand(0), &right = k.operand(1);
    std::int64_t const of_matrix = frame_.matrix_rows(k.c), depth = k.c.depth;
    if (of_matrix == 0) return;
    std::int64_t const right_matrices = k.c.cols * depth == 0 ? 1 : g_.info(g_.input(id, 1)).count() / (k.c.cols * depth);
    for (std::int64_t row = frame_.first_row(k.c); row < frame_.end_row(k.c); ++row)
      for (std::int64_t d = 0; d < depth; ++d)
        will_read(left, tx::exec::row_offset(left, row / of_matrix) + row % of_matrix * left.row + d * left.col,
                  elements_.of(g_.input(id, 0), iteration_, row * depth + d), -2, -2, 0, id);
    for (std::int64_t row = frame_.first_row(k.c); row < frame_.end_row(k.c); row += of_matrix)
      for (std::int64_t d = 0; d < depth; ++d)
        for (std::int64_t c = 0; c < k.c.cols; ++c)
          will_read(right, tx::exec::row_offset(right, row / of_matrix) + d * right.row + c * right.col,
                    elements_.of(g_.input(id, 1), iteration_, (row / of_matrix % right_matrices * depth + d) * k.c.cols + c), -2, -2, 0, id);
  }

  // What the kernel takes for an operand of a node, at every row and column: value number `value`.
  template <class NodeOf>
  void operand(tx::exec::called_kernel const& k, tx::passes::group const& gr, int id, int from, int value, NodeOf const& node_of) {
    bool const in_kernel = value >= k.inputs() || k.in(value).how == tx::exec::access::product;
    tx::op_kind const kind = g_[id].op->kind;
    bool const reduces = kind == tx::op_kind::row_reduce || kind == tx::op_kind::col_reduce;
    bool const by_row = reduces ? g_.info(from).count() != gr.rows * gr.cols : f_.levels[id] != tx::passes::level::full;
    if (!in_kernel && !k.reads(value)) {
      if (!computed_in_place(k, value, from)) fail("a number known while compiling is taken for another", id);
      return;
    }
    for (std::int64_t row = frame_.first_row(k.c); row < frame_.end_row(k.c); ++row)
      for (std::int64_t c = 0; c < (by_row ? 1 : gr.cols); ++c) {
        element_number const wanted = elements_.of(from, iteration_, by_row ? row : row * gr.cols + c);
        if (in_kernel) {
          int const maker = node_of(value);
          if (f_.levels[maker] == tx::passes::level::col || elements_.own(maker, iteration_, element_of(gr, maker, row, c)) != wanted)
            fail("a value of the same kernel is of another row or column", id);
        } else {
          tx::exec::operand_ref const& r = k.read_by(value);
          std::int64_t const step = k.in(value).how == tx::exec::access::row ? 0 : c * r.col;
          will_read(r, tx::exec::row_offset(r, row) + step, wanted, row, c, last_read_[static_cast<std::size_t>(value)], id);
        }
      }
  }
  bool computed_in_place(tx::exec::called_kernel const& k, int value, int from) const {
    tx::node const& base = g_[f_.where.of[from].base];
    if (k.in(value).how == tx::exec::access::constant)
      return base.op->kind == tx::op_kind::constant && std::bit_cast<std::uint64_t>(k.read_by(value).value) == std::bit_cast<std::uint64_t>(tx::constant_value(base));
    return base.op->kind == tx::op_kind::index;
  }

  // Of the loop that a node is in; the last one itself.
  int next_iteration(int id) const {
    tx::region const& body = g_.regions[g_[id].region];
    int const own = iteration_ % body.iterations;
    return body.reversed ? iteration_ - (own > 0) : iteration_ + (own + 1 < body.iterations);
  }
  // The next call, or the same in another iteration or band, has its own.
  void forget_writes() {
    for (write const& w : writes_)
      for (byte_of& b : at(w.to, w.bytes, 0)) b.call = -1;
  }

  tx::exec::lowered const& l_;
  tx::exec::lowered_tables tables_;
  tx::exec::program_tables p_;
  tx::exec::inspection const& seen_;
  tx::graph const& g_;
  tx::passes::fusion const& f_;
  shown_elements_of elements_;
  tx::exec::frame frame_{};
  std::vector<std::vector<byte_of>> memory_;  // of each base
  std::vector<write> writes_;                 // of the call at hand
  tx::exec::row_sweeps sweeps_{};            // of its kernel
  std::vector<int> last_read_;                // input -> the sweep
  int call_ = -1, iteration_ = 0;
  std::int64_t scratch_first_ = 0, scratch_end_ = 0;  // of that call
};

// A recorded graph, compiled as the options say.
inline tx::exec::lowered verified(tx::graph const& recorded, tx::compile_options const& options = {}) {
  tx::exec::inspection seen{};
  tx::exec::lowered l = tx::exec::compile(recorded, tx::cpu_target, options, &seen);
  storage_verifier(l, seen).run();
  return l;
}

// The program of a step or function, recorded again at run time.
template <class Source>
void verify_program() {
  tx::exec::inspection seen{};
  tx::exec::lowered const l = Source::lower(tx::cpu_target, &seen);
  storage_verifier(l, seen).run();
}
