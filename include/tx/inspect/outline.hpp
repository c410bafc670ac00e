// A program as people look at it: its values, kernels, loops and buffers, with names.
//
//   auto const program = tx::outline_of<step>();
//   tx::io::write_page("step.html", program);        // <tx/io/page.hpp>; open it in a browser
//
// tx::outline_of<step>(tx::seconds_of<step>(log)) has the times of a kernel_log.
//
// The graph is kept by a constant evaluation of its own and planned once more at run time, so the program itself keeps
// and costs no more than without. A file of its own that only outlines a step compiles beside the one that runs it.
#pragma once

#include <tx/backends/cpu/target.hpp>
#include <tx/graph/order.hpp>
#include <tx/graph/print.hpp>
#include <tx/inspect/frozen_graph.hpp>
#include <tx/inspect/outline_names.hpp>
#include <tx/inspect/profile.hpp>
#include <tx/plan/timeline.hpp>
#include <tx/step/function.hpp>

#include <algorithm>

namespace tx {

struct outlined_value {
  std::string op, name, shape;  // "matmul", "layer.*.weight", "f32[8, 128]"; most have no name
  std::string kind;             // computed, outside, constant, index, argument, result, region, flat
  step_phase when = step_phase::forward;
  int region = 0;           // in which it is; 0: the program
  int of = -1;              // kind region, result: that region
  int call = -1;            // that computes it, -1: none
  int buffer = -1;          // of the arena, -1: not stored there
  std::vector<int> inputs;  // values, views looked through; kind result: the region, and what is handed on in its body
};

// A call of a kernel; rows are those of all bands, as planned.
struct outlined_call : profiled_kernel {
  step_phase when = step_phase::forward;
  int kernel = 0;  // of the distinct ones
  int region = 0;
  int band = -1;
  int moment = 0;                     // on the timeline that buffers live on
  std::int64_t runs = 1;              // in a step
  std::int64_t depth = 0, batch = 1;  // of products
  bool timed = false;                 // are `seconds` those of all its runs?
  std::vector<std::string> parameters;  // that its ops read, by name
};

struct outlined_region {
  int parent = 0, iterations = 1;
  bool reversed = false;
  int first = 0, last = 0;  // moments
};

// A loop over bands of matrices.
struct outlined_band {
  std::int64_t matrices = 1, each = 1;
};

struct outlined_buffer {
  std::int64_t offset = 0, bytes = 0;  // in the arena
  int first = 0, last = 0;             // moments, both included
  int scratch_of = -1;                 // the call that needs it; -1: it holds values
};

struct outline {
  std::string name;
  exec::memory_use memory{};                 // of the whole step
  std::int64_t arena = 0, largest_live = 0;  // of this program
  int kernels = 0;                           // distinct ones
  int moments = 0;
  std::vector<outlined_value> values;    // operands before their readers
  std::vector<outlined_call> calls;      // as they run
  std::vector<outlined_region> regions;  // [0] is the program
  std::vector<outlined_band> bands;
  std::vector<outlined_buffer> buffers;
};

namespace detail {

class outliner {
 public:
  outliner(exec::lowered const& l, exec::inspection const& seen, stored_names const& names)
      : l_(l), tables_(l), seen_(seen), g_(seen.nodes), f_(seen.fused), time_(g_, f_), name_(seen, names) {}

  // seconds: of each call, empty where nothing was measured.
  TX_COLD outline run(std::vector<double> const& seconds) {
    out_.arena = l_.memory.arena;
    out_.largest_live = l_.memory.largest_live;
    out_.kernels = l_.kernels.size();
    out_.moments = time_.length;
    place_ = std::vector<int>(static_cast<std::size_t>(l_.calls.size()), -1);
    for (int r = 0; r < g_.regions.size(); ++r)
      out_.regions.push_back(
          {g_.regions[r].parent, g_.regions[r].iterations, g_.regions[r].reversed, time_.enter[r], time_.leave[r]});
    for (passes::band_loop const& b : f_.bands) out_.bands.push_back({b.matrices, b.each});
    visit(0, 1, seconds);
    add_buffers();
    add_values();
    return std::move(out_);
  }

 private:
  void visit(int loop, std::int64_t runs, std::vector<double> const& seconds) {
    exec::loop const& l = l_.loops[loop];
    for (int i = l.first; i < l.first + l.count; ++i) {
      exec::instruction const s = l_.instructions[i];
      if (s.kind == exec::instruction_kind::call)
        add_call(s.index, runs, seconds);
      else
        visit(s.index, runs_of(l_.loops[s.index], l, runs), seconds);
    }
  }
  static std::int64_t runs_of(exec::loop const& inner, exec::loop const& around, std::int64_t runs) {
    if (inner.turn) return runs / around.iterations * inner.turn.count;
    return inner.band > 0 ? runs : runs * inner.iterations;
  }

  void add_call(int index, std::int64_t runs, std::vector<double> const& seconds) {
    exec::call const& c = l_.calls[index];
    passes::group const& gr = f_.groups[seen_.group_of_call[index]];
    bool const timed = !seconds.empty();
    outlined_call out;
    double const spent = timed ? seconds[static_cast<std::size_t>(index)] : 0;
    static_cast<profiled_kernel&>(out) = described({&c, 0, spent, 0, c.rows, {}}, exec::called_kernel(tables_.get(), c));
    out.when = gr.head >= 0 ? g_[gr.head].when : g_[gr.nodes.back()].when;
    out.kernel = c.kernel;
    out.region = gr.region;
    out.band = gr.band;
    out.moment = time_.time[seen_.group_of_call[index]];
    out.runs = runs;
    out.depth = c.depth;
    out.batch = c.batch;
    out.timed = timed;
    place_[static_cast<std::size_t>(index)] = static_cast<int>(out_.calls.size());
    out_.calls.push_back(std::move(out));
  }

  void add_buffers() {
    buffer_ = std::vector<int>(static_cast<std::size_t>(seen_.buffers.size()), -1);
    std::vector<int> scratch_of(static_cast<std::size_t>(seen_.buffers.size()), -1);
    for (int c = 0; c < seen_.scratch_of_call.size(); ++c)
      if (int const b = seen_.scratch_of_call[c]; b >= 0)
        scratch_of[static_cast<std::size_t>(b)] = place_[static_cast<std::size_t>(c)];
    for (int i = 0; i < seen_.buffers.size(); ++i) {
      passes::buffer const& b = seen_.buffers[i];
      if (b.bytes == 0) continue;
      buffer_[static_cast<std::size_t>(i)] = static_cast<int>(out_.buffers.size());
      out_.buffers.push_back({b.offset, b.bytes, b.first, b.last, scratch_of[static_cast<std::size_t>(i)]});
    }
  }

  // Views that move nothing are seen through.
  void add_values() {
    std::vector<int> value(static_cast<std::size_t>(g_.size()), -1);
    std::vector<int> first_call(static_cast<std::size_t>(f_.groups.size()), -1);
    for (int c = seen_.group_of_call.size() - 1; c >= 0; --c)
      first_call[static_cast<std::size_t>(seen_.group_of_call[c])] = place_[static_cast<std::size_t>(c)];
    for (int const i : order_of_nodes(g_)) {
      node const& n = g_[i];
      int const group = f_.group_of[i];
      if (n.op->kind == op_kind::view && group < 0) continue;
      outlined_value v;
      v.op = n.op->name;
      v.name = name_(i);
      v.shape = to_string(n.info);
      v.kind = kind_of(n, group);
      v.when = n.when;
      v.region = n.region;
      if (n.op == &repeat_info) v.of = run_region(n.at);
      bool const of_region = n.op == &result_info && !g_.is_result_of_op(i);
      if (of_region) v.of = run_region(g_[g_.input(n, 0)].at);
      if (group >= 0) v.call = first_call[static_cast<std::size_t>(group)];
      int const buffer = n.op == &repeat_info ? -1 : seen_.buffer_of[f_.where.of[i].root];
      if (buffer >= 0) v.buffer = buffer_[static_cast<std::size_t>(buffer)];
      for (int k = 0; k < n.inputs; ++k)
        v.inputs.push_back(value[static_cast<std::size_t>(seen_through(g_.input(n, k)))]);
      if (of_region) {
        int const in_body = g_.regions[v.of].results[result_number(n.at)];
        v.inputs.push_back(value[static_cast<std::size_t>(seen_through(in_body))]);
      }
      value[static_cast<std::size_t>(i)] = static_cast<int>(out_.values.size());
      if (v.call >= 0) add_parameters(v);
      out_.values.push_back(std::move(v));
    }
  }
  void add_parameters(outlined_value const& v) {
    auto& names = out_.calls[static_cast<std::size_t>(v.call)].parameters;
    for (int in : v.inputs) {
      if (in < 0) continue;
      outlined_value const& read = out_.values[static_cast<std::size_t>(in)];
      if (read.op == parameter_info.name && std::ranges::find(names, read.name) == names.end()) names.push_back(read.name);
    }
  }

  // The value that a view shows, and the one outside that an argument of a region is; a carry is itself.
  int seen_through(int id) const {
    while (g_[id].op->kind == op_kind::view && f_.group_of[id] < 0) id = g_.input(id, 0);
    if (g_[id].op != &argument_info) return id;
    region const& r = g_.regions[argument_region(g_[id].at)];
    int const k = argument_number(g_[id].at);
    return k < r.carries ? id : seen_through(g_.input(r.owner, k));
  }

  static char const* kind_of(node const& n, int group) {
    switch (n.op->kind) {
      case op_kind::leaf: return n.op == &argument_info ? "argument" : "outside";
      case op_kind::constant: return "constant";
      case op_kind::index: return group < 0 ? "index" : "computed";
      case op_kind::region: return "region";
      case op_kind::result: return group < 0 ? "result" : "computed";
      case op_kind::gather_all: return "flat";
      default: return "computed";
    }
  }

  exec::lowered const& l_;
  exec::lowered_tables tables_;
  exec::inspection const& seen_;
  graph const& g_;
  passes::fusion const& f_;
  exec::detail::timeline time_;
  value_namer name_;
  outline out_;
  std::vector<int> place_;   // call -> its place in the order they run
  std::vector<int> buffer_;  // of the plan -> of the outline
};

template <class Source, target const& To>
TX_COLD outline outline_of_source(char const* name, stored_names const& names, std::vector<double> const& seconds) {
  using seen_graph = exec::kept_graph<Source, To>;
  exec::inspection seen;
  exec::lowered const l = exec::plan(exec::thawed(seen_graph{}), To, seen_graph::options, &seen);
  outline out = outliner(l, seen, names).run(seconds);
  out.name = name;
  out.memory = l.memory;
  out.memory.recomputed_flops = seen_graph::recomputed_flops;
  return out;
}

}  // namespace detail

// Of a train_step, value_and_grad or function. seconds: seconds_of<Step>(log), or nothing. To: what it is planned for.
template <class Step, target const& To = cpu_target>
TX_COLD outline outline_of(std::vector<double> seconds = {}) {
  stored_names const names = names_of<typename Step::model>(Step::states);
  outline out = detail::outline_of_source<typename Step::source, To>("step", names, seconds);
  out.memory = exec::memory_in_all<typename Step::model, typename Step::arguments>(out.memory, Step::states, To);
  return out;
}

}  // namespace tx
