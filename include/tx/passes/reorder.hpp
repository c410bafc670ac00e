// Reordering: the order in which groups run, so that little is alive at once. Among the groups whose operands are ready, the
// one that frees most and allocates least is next (list scheduling); the recorded order stands wherever that is no better.
//
//   recorded  a = f(x), b = f(y), s = sum(a), t = sum(b)      a and b are alive together
//   order     a, s, b, t                                      one at a time
#pragma once

#include <tx/passes/groups.hpp>

namespace tx::passes {

namespace detail {

class reorderer {
 public:
  constexpr reorderer(graph const& g, fusion const& f)
      : g_(g), f_(f), readers_(g.size()), touched_(f.groups.size()), after_(f.groups.size()), before_(f.groups.size(), 0), extra_(f.groups.size(), 0),
        pending_(g.size(), 0), bytes_(g.size(), 0), lasts_(g.size(), 0) {
    for (output const& o : g.outputs)
      if (o.kind == output_kind::result) lasts_[f.where.of[o.value].root] = 1;
    for (int i = 0; i < f.groups.size(); ++i)
      for (int base : f.groups[i].reads) {
        vec<int>& readers = readers_[f.where.shared[base]];
        if (readers.empty() || readers.back() != i) readers.push_back(i);
      }
    for (int i = 0; i < f.groups.size(); ++i) {
      for (int id : f.groups[i].nodes) link(i, id);
      guard_overwrites(i);
    }
  }

  // The groups of a region in a new order, and of the regions inside it. Returns the most bytes alive.
  constexpr std::int64_t run(int r, vec<vec<int>>& orders) {
    vec<int> groups{};
    for (int i = 0; i < f_.groups.size(); ++i) {
      if (f_.groups[i].region != r) continue;
      groups.push_back(i);
      int const head = f_.groups[i].head;
      if (head >= 0 && g_[head].op->kind == op_kind::region) extra_[i] = run(run_region(g_[head].at), orders);
    }
    vec<int> const tried = greedy(groups);
    std::int64_t const recorded = peak(groups);
    std::int64_t const greedy_peak = peak(tried);
    orders[r] = greedy_peak < recorded ? tried : groups;
    bool waits = false;
    for (int i : groups) waits = waits || awaits(i);
    if (!waits) return greedy_peak < recorded ? greedy_peak : recorded;
    orders[r] = waiting_late(orders[r]);
    return peak(orders[r]);
  }

 private:
  constexpr bool awaits(int group_id) const { return f_.groups[group_id].head >= 0 && g_[f_.groups[group_id].head].op->awaits; }
  constexpr bool begins(int group_id) const { return f_.groups[group_id].head >= 0 && g_[f_.groups[group_id].head].op->begins; }
  // The same order, but that what other ranks are waited for comes when nothing else is left, what was begun first before others, and what is begun as soon as it can be: so as much as
  // there is lies in between.
  constexpr vec<int> waiting_late(vec<int> const& order) const {
    vec<int> waits = before_;
    vec<int> since(f_.groups.size(), -1);  // group -> its place
    vec<int> done{};
    while (done.size() < order.size()) {
      int next = -1;
      for (int i : order) {
        if (since[i] >= 0 || waits[i] > 0) continue;
        if (begins(i)) {
          next = i;
          break;
        }
        if (next < 0 || (awaits(next) && (!awaits(i) || since[begun_for(i)] < since[begun_for(next)]))) next = i;
      }
      if (next < 0) throw invalid("reorder: the groups wait for each other");
      since[next] = done.size();
      done.push_back(next);
      for (int i : after_[next]) --waits[i];
    }
    return done;
  }
  constexpr int begun_for(int group_id) const { return f_.group_of[f_.where.of[g_.input(f_.groups[group_id].head, 0)].base]; }

  // The group itself, or the loop around it that runs in that region; -1 where there is none.
  constexpr int seen_from(int region_id, int group_id) const {
    while (f_.groups[group_id].region != region_id) {
      int const r = f_.groups[group_id].region;
      if (r == 0) return -1;
      group_id = f_.group_of[g_.regions[r].owner];
    }
    return group_id;
  }

  constexpr void touch(int group_id, int id) {
    int const root = f_.where.of[id].root;
    if (!stored_in_arena(g_, f_, root)) return;
    int const user = seen_from(home_of_buffer(g_, root), group_id);
    if (user < 0) return;
    for (int other : touched_[user])
      if (other == root) return;
    touched_[user].push_back(root);
    if (pending_[root]++ == 0) bytes_[root] = g_.info(root).bytes();
  }

  constexpr void order(int first, int second) {
    after_[first].push_back(second);
    ++before_[second];
  }

  // Buffers that node `id` of a group touches, and the groups it waits for.
  constexpr void link(int at, int id) {
    bool const loop = g_[id].op->kind == op_kind::region;
    if (!loop && !g_.has_results(id)) touch(at, id);
    for (int k = 0; k < g_[id].inputs && !g_.is_result_of_op(id); ++k) {
      int const operand = g_.input(id, k);
      int base = f_.where.of[operand].base;
      if (!loop) touch(at, base);
      if (g_[base].op == &result_info) base = g_.input(base, 0);
      int const maker = f_.group_of[base];
      if (maker < 0) continue;
      int const reader = seen_from(f_.groups[maker].region, at);
      if (reader >= 0 && reader != maker) order(maker, reader);
    }
  }

  // A group that overwrites a carry or a leaf keeps its place among those who read it, also among those who read a carry after its loop.
  constexpr void guard_overwrites(int at) {
    for (int id : f_.groups[at].nodes) {
      int const old = overwritten(g_, f_.where, id);
      if (old < 0) continue;
      for (int i : readers_[f_.where.shared[old]]) keep_order(at, i);
    }
  }
  // Of two groups, or of the loops around them in the innermost region that has both.
  constexpr void keep_order(int a, int b) {
    int r = f_.groups[a].region;
    while (seen_from(r, b) < 0) r = g_.regions[r].parent;
    int const first = seen_from(r, a);
    int const second = seen_from(r, b);
    if (first != second) order(first < second ? first : second, first < second ? second : first);
  }

  constexpr vec<int> greedy(vec<int> const& groups) const {
    vec<int> waits = before_;
    vec<int> left = pending_;
    vec<char> live(g_.size(), 0);
    vec<int> ready{};  // in recorded order
    for (int i : groups)
      if (waits[i] == 0) ready.push_back(i);
    vec<int> done{};
    while (!ready.empty()) {
      int best = 0;
      std::int64_t best_change = 0;
      for (int k = 0; k < ready.size(); ++k) {
        std::int64_t change = 0;
        for (int root : touched_[ready[k]]) {
          if (!live[root]) change += bytes_[root];
          if (left[root] == 1) change -= bytes_[root];
        }
        if (k > 0 && (change > best_change || (change == best_change && ready[k] > ready[best]))) continue;
        best = k;
        best_change = change;
      }
      int const next = ready[best];
      ready[best] = ready.back();
      ready.pop_back();
      done.push_back(next);
      for (int root : touched_[next]) {
        live[root] = 1;
        --left[root];
      }
      for (int i : after_[next])
        if (--waits[i] == 0) ready.push_back(i);
    }
    if (done.size() != groups.size()) throw invalid("reorder: the groups wait for each other");
    return done;
  }

  constexpr std::int64_t peak(vec<int> const& order) const {
    vec<int> left = pending_;
    vec<char> live(g_.size(), 0);
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (int i : order) {
      for (int root : touched_[i]) {
        if (!live[root]) now += bytes_[root];
        live[root] = 1;
      }
      if (now + extra_[i] > most) most = now + extra_[i];
      for (int root : touched_[i])
        if (--left[root] == 0 && !lasts_[root]) now -= bytes_[root];
    }
    return most;
  }

  graph const& g_;
  fusion const& f_;
  vec<vec<int>> readers_;      // storage -> groups that read of it
  vec<vec<int>> touched_;      // group -> buffers of its region that it, or a loop it stands for, reads or writes
  vec<vec<int>> after_;        // group -> those that wait for it
  vec<int> before_;            // group -> how many it waits for
  vec<std::int64_t> extra_;    // group -> what is alive inside its loop
  vec<int> pending_;           // buffer -> how many groups touch it
  vec<std::int64_t> bytes_;    // of each buffer
  vec<char> lasts_;            // buffers that are results of the program
};

}  // namespace detail

// The groups of each region in a new order: they share out the numbers they had. Returns the new number of each.
constexpr vec<int> renumber(fusion& f, vec<vec<int>> const& orders) {
  vec<group> const before = f.groups;
  vec<int> next(orders.size(), 0);
  vec<int> renumbered(before.size(), -1);
  for (int i = 0; i < before.size(); ++i) {
    int const r = before[i].region;
    int const moved = orders[r][next[r]++];
    f.groups[i] = before[moved];
    renumbered[moved] = i;
  }
  for (int& at : f.group_of)
    if (at >= 0) at = renumbered[at];
  return renumbered;
}

// The same groups, numbered in the order in which they run.
constexpr fusion reorder(graph const& g, fusion f) {
  vec<vec<int>> orders(g.regions.size());
  detail::reorderer(g, f).run(0, orders);
  renumber(f, orders);
  return f;
}

}  // namespace tx::passes
