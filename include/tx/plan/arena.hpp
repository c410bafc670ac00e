// The arena of a program: lifetimes of values and scratch, and what the bytes are for. Where each lies is found by passes/buffer_offsets.hpp.
#pragma once

#include <tx/passes/buffer_offsets.hpp>
#include <tx/plan/operand_refs.hpp>
#include <tx/plan/inspection.hpp>
#include <tx/plan/lowered.hpp>
#include <tx/plan/timeline.hpp>

namespace tx::exec::detail {

// A call's scratch and when it is needed.
struct scratch_need {
  std::int64_t bytes = 0;
  int when = 0;
};

class arena_planner {
 public:
  constexpr arena_planner(graph const& g, passes::fusion const& f, operand_refs const& where, timeline const& t, vec<char> const& stored,
                          lowered& out)
      : g_(g), f_(f), where_(where), t_(t), stored_(stored), out_(out), buffer_of_(g.size(), -1) {}

  constexpr void run(vec<scratch_need> const& scratch) {
    for (int i = 0; i < f_.groups.size(); ++i) touch_group(i);
    later_ = false;
    band_ = -1;
    for (output const& o : g_.outputs)
      if (o.kind == output_kind::result) touch(f_.where.of[o.value].root, t_.leave[0], 0);
    own_ = buffers_;
    own_of_ = buffer_of_;
    own_kept_ = kept_;
    reuse_in_place();
    int next = buffers_.size();
    for (scratch_need const& s : scratch) {
      if (s.bytes == 0) continue;
      buffers_.push_back({aligned(s.bytes), s.when, s.when, 0});
      if (s.bytes > out_.memory.workspace) out_.memory.workspace = s.bytes;
    }
    out_.memory.largest_live = passes::largest_live(buffers_, t_.length);
    out_.memory.arena = passes::assign_offsets(buffers_, out_.memory.largest_live);
    measure();
    for (operand_ref& r : out_.operands) {
      if (r.base != base_arena || r.root < 0) continue;
      r.offset += buffers_[buffer_of_[r.root]].offset;
      r.root = -1;
    }
    for (int i = 0; i < out_.calls.size(); ++i)
      if (scratch[i].bytes != 0) out_.calls[i].scratch = buffers_[next++].offset;
    for (output const& o : g_.outputs) {
      if (o.kind != output_kind::result) continue;
      passes::location const& l = f_.where.of[o.value];
      out_.results.push_back({g_.info(o.value), buffers_[buffer_of_[l.root]].offset + most_of(l.at.offset) * size_of(g_.info(o.value).type)});
    }
  }

  constexpr void tell(inspection& to) const {
    to.buffer_of = buffer_of_;
    to.buffers = buffers_;
  }

 private:
  constexpr void touch_group(int i) {
    passes::group const& gr = f_.groups[i];
    band_ = gr.band;
    for (int id : gr.nodes) {
      if (g_[id].op->kind == op_kind::region) continue;
      later_ = g_[id].when != step_phase::forward;
      if (stored_[id] && where_.in_arena(id)) touch(f_.where.of[id].root, t_.time[i], gr.region);
      for (int k = 0, read = g_[id].op->awaits ? 1 : g_[id].inputs; k < read; ++k) {
        int const base = f_.where.of[g_.input(id, k)].base;
        if (f_.group_of[base] != i && where_.in_arena(base)) touch(f_.where.of[base].root, t_.time[i], gr.region);
      }
    }
  }

  // A result takes over the buffer of an operand that its kernel reads for the last time, element by element.
  constexpr void reuse_in_place() {
    for (int i = 0; i < f_.groups.size(); ++i) {
      passes::group const& gr = f_.groups[i];
      if (gr.head >= 0) {
        if (g_[gr.head].op->over_first) take_over(gr, i, f_.where.of[g_.input(gr.head, 0)].base, gr.head);
        if (g_[gr.head].op->begins) keep_until_awaited(gr.head);
        continue;
      }
      if (gr.reduces_rows) continue;
      for (int id : gr.nodes)
        for (int base : gr.reads)
          if (take_over(gr, i, base, id)) break;
    }
  }
  constexpr bool take_over(passes::group const& gr, int group_at, int base, int id) {
    if (!stored_[id] || f_.where.places[id].kind != place_kind::own || buffer_of_[id] < 0) return false;
    if (!where_.in_arena(base) || f_.where.of[base].root != base) return false;
    passes::buffer& mine = buffers_[buffer_of_[id]];
    passes::buffer& other = buffers_[buffer_of_[base]];
    bool const dies = other.last == t_.time[group_at] && mine.first == t_.time[group_at];
    if (!dies || other.bytes != mine.bytes || g_.info(base).type != g_.info(id).type) return false;
    if (id == gr.head ? !reads_first_alone(id, base) : !reads_same_element(gr, base, id)) return false;
    other.last = mine.last;
    if (kept_[buffer_of_[id]]) kept_[buffer_of_[base]] = 1;
    mine.bytes = 0;
    ++own_[own_of_[id]].first;  // there is one buffer, also in that kernel
    buffer_of_[id] = buffer_of_[base];  // `id` is the root of its buffer, and the only one
    return true;
  }

  // What a collective is begun with stays until it is awaited, be it that it has the result's buffer by now.
  constexpr void keep_until_awaited(int begun) {
    int const base = f_.where.of[g_.input(begun, 0)].base;
    if (!where_.in_arena(base)) return;
    for (int i = 0; i < f_.groups.size(); ++i)
      if (int const head = f_.groups[i].head; head >= 0 && g_[head].op->awaits && f_.where.of[g_.input(head, 0)].base == begun) touch(f_.where.of[base].root, t_.time[i], f_.groups[i].region);
  }

  // Of an op whose result may lie over its first operand: is that all of `base`, and is nothing else it reads of it?
  constexpr bool reads_first_alone(int id, int base) const {
    passes::location const& l = f_.where.of[g_.input(id, 0)];
    bool alone = !passes::moves(l) && l.at.offset == quantity{} && count_in(g_.info(g_.input(id, 0)).dims) == count_in(g_.info(base).dims) && count_in(g_.info(id).dims) == count_in(g_.info(base).dims);
    for (int k = 1; k < g_[id].inputs; ++k) alone = alone && f_.where.of[g_.input(id, k)].base != base;
    return alone;
  }

  // Every reader of `base` in the group reads, for element e of `id`'s storage, element e of `base`'s.
  constexpr bool reads_same_element(passes::group const& gr, int base, int id) const {
    for (int n : gr.nodes)
      for (int k = 0; k < g_[n].inputs; ++k) {
        int const operand = g_.input(n, k);
        passes::location const& l = f_.where.of[operand];
        if (l.base != base) continue;
        shape const& dims = g_.info(operand).dims;
        if (passes::moves(l) || f_.levels[n] != level::full || dims.rank != g_.info(id).dims.rank) return false;
        if (!(dims == g_.info(id).dims)) return false;
        if (!passes::same_strides(l.at, f_.where.of[id].at, dims)) return false;
      }
    return true;
  }

  // A buffer is used at a moment; inside a loop that it does not belong to, for all of the loop.
  constexpr void touch(int root, int when, int region_id) {
    if (buffer_of_[root] < 0) {
      buffer_of_[root] = buffers_.size();
      buffers_.push_back({aligned(where_.buffer_bytes(root)), t_.length, 0, 0});
      kept_.push_back(0);
    }
    if (later_) kept_[buffer_of_[root]] = 1;
    passes::buffer& b = buffers_[buffer_of_[root]];
    int first = when;
    int last = when;
    if (band_ >= 0) {  // all of its groups run again for the next band
      first = t_.band_enter[band_];
      last = t_.band_leave[band_];
    }
    int const home = passes::home_of_buffer(g_, root);
    for (int r = region_id; r != home && r != 0; r = g_.regions[r].parent) {
      first = t_.enter[r];
      last = t_.leave[r];
    }
    if (first < b.first) b.first = first;
    if (last > b.last) b.last = last;
  }

  // Bytes by purpose: values of the forward pass that later phases read are kept for them; what those compute are gradients.
  constexpr void measure() {
    vec<passes::buffer> kept{};
    vec<passes::buffer> made{};
    for (int i = 0, end = g_.size(); i < end; ++i) {
      if (own_of_[i] < 0) continue;
      passes::buffer const& b = own_[own_of_[i]];
      int const maker = g_[i].op == &result_info ? g_.input(i, 0) : i;
      if (g_[maker].when != step_phase::forward) made.push_back(b);
      else if (own_kept_[own_of_[i]]) kept.push_back(b);
    }
    out_.memory.activations = passes::largest_live(kept, t_.length);
    out_.memory.gradients = passes::largest_live(made, t_.length);
  }

  graph const& g_;
  passes::fusion const& f_;
  operand_refs const& where_;
  timeline const& t_;
  vec<char> const& stored_;
  lowered& out_;
  vec<int> buffer_of_;
  vec<passes::buffer> buffers_{};
  vec<passes::buffer> own_{};  // before any was taken over
  vec<int> own_of_{};
  vec<char> own_kept_{};
  vec<char> kept_{};     // buffer -> does a phase after the forward pass touch it?
  bool later_ = false;   // is the group at hand of such a phase?
  int band_ = -1;        // the loop over bands that it is in
};

}  // namespace tx::exec::detail
