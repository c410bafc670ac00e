// A band is a few matrices of a batched product. Where batched products hand each other large values, as attention's scores are, this pass puts
// their kernels into a loop: all of them run on one band, then on the next. Such a value exists for one band only: all of it is never in memory,
// and the target can keep what there is at hand. As many matrices as hand on target::band_bytes, one at least. (band_loop in groups.hpp; run/frame.hpp runs the loop.)
//
//   before   s = matmul(q, k) + mask, then p = exp(s - max(s)) / sum, then o = matmul(p, v)     three kernels over 96 matrices
//   after    for each band of 4 matrices: the same three kernels over these 4                  s and p: room for 4 matrices
#pragma once

#include <tx/passes/reorder.hpp>

namespace tx::passes {

namespace detail {

class band_finder {
 public:
  constexpr band_finder(graph const& g, fusion f, std::int64_t band_bytes)
      : g_(g), f_(static_cast<fusion&&>(f)), band_bytes_(band_bytes), reads_(g.size()), needed_whole_(g.size(), 0) {
    for (output const& o : g.outputs) needed_whole_[o.value] = 1;
    for (int i = 0, end = g.size(); i < end; ++i) {
      if (f_.group_of[i] < 0 && g[i].op->kind != op_kind::region) continue;
      for (int k = 0; k < g[i].inputs; ++k) {
        int const base = f_.where.of[g.input(i, k)].base;
        if (f_.group_of[base] < 0 || f_.group_of[base] == f_.group_of[i]) continue;
        if (g[i].op->kind == op_kind::region) needed_whole_[base] = 1;
        else reads_[base].push_back({i, k});
      }
    }
  }

  constexpr fusion run() {
    find_links();
    vec<vec<int>> members(f_.groups.size());
    for (int i = 0; i < f_.groups.size(); ++i) members[root(i)].push_back(i);
    for (vec<int> const& linked : members)
      if (!linked.empty()) consider(linked);
    for (int i = 0; i < found_.size(); ++i) put_together(found(found_[i]));  // a copy: members are numbered anew meanwhile
    return static_cast<fusion&&>(f_);
  }

 private:
  struct read {
    int node, operand;
  };

  // How many matrices a group works on; 0 where it cannot run in bands.
  constexpr quantity matrices(int at) const {
    group const& gr = f_.groups[at];
    if (gr.overwrites || gr.rows == 0 || gr.cols <= 1) return {};  // a kernel of an op on whole operands has one column
    quantity count{};
    if (gr.head >= 0) {  // its own batch, whatever its epilogue makes of the rows
      shape const& dims = g_.info(gr.head).dims;
      count = dims.rank > 2 ? matrices_of(gr, dims) : exactly(1);
    }
    for (int id : gr.nodes) {
      if (f_.levels[id] == level::col) return {};  // sums go over all matrices
      shape const& dims = g_.info(id).dims;
      if (f_.levels[id] == level::full && dims.rank > 2 && dims.at(-1) == bounded(static_cast<int>(gr.cols), gr.of_cols) && count == quantity{}) count = matrices_of(gr, dims);
    }
    return most_of(count) > 1 ? count : quantity{};
  }
  static constexpr quantity matrices_of(group const& gr, shape const& dims) { return proportional(gr.rows / dims[-2], gr.of_rows - dims.factors_at(dims.rank - 2)); }
  constexpr bool has_product(int at) const { return f_.groups[at].head >= 0; }

  // Does a reader, for each of its matrices, read the matrix of `id` with the same number alone? It is the next product, or what goes with this one.
  constexpr bool keeps_to_matrix(int id, read const& r) const {
    int const reader = f_.group_of[r.node], maker = f_.group_of[id];
    quantity const count = matrices(maker);
    if (matrices(reader) != count || !reads_own_matrix(id, r.node, g_.input(r.node, r.operand), count)) return false;
    return r.node == f_.groups[reader].head || ((has_product(maker) || has_product(reader)) && f_.groups[reader].rows == f_.groups[maker].rows && f_.groups[reader].of_rows == f_.groups[maker].of_rows);
  }

  // Of what a member computes, does a node of another member read its own matrices' elements alone? Members run one after the other for
  // each band, so what lies in another band's matrices is not there yet. Leading axes of what is read are the matrices, if any are.
  constexpr bool reads_own_matrix(int base, int reader_node, int operand, quantity count) const {
    shape const& dims = g_.info(operand).dims;
    location const& seen = f_.where.of[operand];
    if (!has_numbers(seen)) return false;
    quantity const of_base = matrix_of(base, count);
    int inner = 0;  // the first axis within a matrix
    quantity leading = exactly(1);
    while (inner < dims.rank && most_of(leading) < most_of(count)) leading = leading * dims.at(inner++);
    if (leading != count) return false;
    if (reader_node == f_.groups[f_.group_of[reader_node]].head && inner > dims.rank - 2) return false;
    quantity expected = of_base;
    for (int a = inner - 1; a >= 0; --a) {
      if (dims.dim[a] != 1 && seen.numbers.stride[a] != expected) return false;
      expected = expected * dims.at(a);
    }
    std::int64_t furthest = most_of(seen.numbers.offset);
    for (int a = inner; a < dims.rank; ++a) furthest += (dims.dim[a] - 1) * most_of(seen.numbers.stride[a]);
    return furthest < most_of(of_base);
  }
  // Elements of one of the matrices that a value is made of.
  constexpr quantity matrix_of(int base, quantity count) const {
    shape const& dims = g_.info(base).dims;
    factors const of = dims.count_factors();
    if (!of.include(factors_of(count))) return {};  // it is made of others
    return proportional(dims.count() / most_of(count), of - factors_of(count));
  }
  constexpr bool members_keep_to_matrices(vec<char> const& member, quantity count) const {
    for (int base = 0; base < g_.size(); ++base) {
      if (f_.group_of[base] < 0 || !member[f_.group_of[base]]) continue;
      for (read const& r : reads_[base])
        if (member[f_.group_of[r.node]] && !reads_own_matrix(base, r.node, g_.input(r.node, r.operand), count)) return false;
    }
    return true;
  }

  // Is a value read by kernels alone that could join its band?
  constexpr bool can_hand_on(int id) const {
    int const maker = f_.group_of[id];
    if (reads_[id].empty() || needed_whole_[id] || f_.levels[id] != level::full || f_.where.places[id].kind != place_kind::own) return false;
    if (matrices(maker) == quantity{} || !lies_dense(g_, f_.where, id)) return false;
    for (read const& r : reads_[id])
      if (!keeps_to_matrix(id, r)) return false;
    return true;
  }

  constexpr int root(int at) const {
    while (linked_[at] != at) at = linked_[at];
    return at;
  }
  constexpr void find_links() {
    for (int i = 0; i < f_.groups.size(); ++i) linked_.push_back(i);
    for (int id = 0, end = g_.size(); id < end; ++id) {
      if (!can_hand_on(id)) continue;
      handed_.push_back(id);
      for (read const& r : reads_[id]) {
        int const a = root(f_.group_of[id]), b = root(f_.group_of[r.node]);
        if (a != b) linked_[a < b ? b : a] = a < b ? a : b;
      }
    }
  }

  // members: in recorded order.
  constexpr void consider(vec<int> const& members) {
    found b{};
    std::int64_t each = 0;  // bytes of a matrix, of all values handed on
    b.members = members;
    quantity const batch_matrices = matrices(members[0]);
    b.loop.matrices = most_of(batch_matrices);
    b.loop.of_matrices = factors_of(batch_matrices);
    for (int id : handed_) {
      if (root(f_.group_of[id]) != members[0]) continue;
      b.handed.push_back(id);
      quantity const matrix = matrix_of(id, batch_matrices);
      if (b.handed.size() > 1 && !(b.loop.of_matrix == factors_of(matrix))) return;  // there is one size of a band for all
      b.loop.of_matrix = factors_of(matrix);
      each += g_.info(id).bytes() / b.loop.matrices;
    }
    vec<char> member(f_.groups.size(), 0);
    for (int i : members) member[i] = 1;
    if (each * b.loop.matrices <= band_bytes_ || !members_keep_to_matrices(member, batch_matrices)) return;
    b.loop.each = band_bytes_ / each > 1 ? band_bytes_ / each : 1;
    found_.push_back(b);
  }

  // The groups between the first member and the last, in order. Those that wait for a member are to run after the band, the others before
  // it, and those of another band stay together. False where a member waits for a group that would have to run after it.
  constexpr bool split(vec<int> const& between, vec<char> const& member, vec<char>& later) const {
    for (int k = 0, end = 0; k < between.size(); k = end) {
      int const band = f_.groups[between[k]].band;
      for (end = k + 1; band >= 0 && end < between.size() && f_.groups[between[end]].band == band;) ++end;
      bool waits = false;
      for (int u = k; u < end; ++u) {
        group const& gr = f_.groups[between[u]];
        waits = waits || gr.overwrites || is_loop(between[u]);
        for (int base : gr.reads) {
          int const maker = f_.group_of[maker_of(base)];
          if (maker < 0) continue;
          if (member[between[u]] && later[maker]) return false;
          waits = waits || member[maker] || later[maker];
        }
      }
      for (int u = k; u < end; ++u) later[between[u]] = static_cast<char>(waits && !member[between[u]]);
    }
    return true;
  }
  // The node that a group waits for: of a loop's results, and of a carry read after it, the loop. In its body a carry waits for none,
  // and the loop around it is no member either.
  constexpr int maker_of(int base) const {
    if (g_[base].op == &argument_info) return g_.regions[g_[base].region].owner;
    return g_[base].op == &result_info ? g_.input(base, 0) : base;
  }
  constexpr bool is_loop(int at) const { return f_.groups[at].head >= 0 && g_[f_.groups[at].head].op->kind == op_kind::region; }

  struct found {
    band_loop loop{};
    vec<int> members{};
    vec<int> handed{};  // values
  };

  constexpr void put_together(found const& band) {
    int const r = f_.groups[band.members[0]].region;
    vec<vec<int>> orders(g_.regions.size());
    vec<int> between{};
    for (int i = 0; i < f_.groups.size(); ++i) {
      bool const inside = f_.groups[i].region == r && i >= band.members[0] && i <= band.members.back();
      if (inside) between.push_back(i);
      else if (f_.groups[i].region != r || i < band.members[0]) orders[f_.groups[i].region].push_back(i);
    }
    vec<char> member(f_.groups.size(), 0), later(f_.groups.size(), 0);
    for (int i : band.members) member[i] = 1;
    if (!split(between, member, later)) return;
    auto const all = [&](auto const& wanted) {
      for (int k : between)
        if (wanted(k)) orders[r].push_back(k);
    };
    all([&](int k) { return !member[k] && !later[k]; });
    all([&](int k) { return member[k] != 0; });
    all([&](int k) { return later[k] != 0; });
    for (int i = band.members.back() + 1; i < f_.groups.size(); ++i)
      if (f_.groups[i].region == r) orders[r].push_back(i);
    for (int i : band.members) f_.groups[i].band = f_.bands.size();
    for (int id : band.handed) f_.handed_on[id] = 1;
    f_.bands.push_back(band.loop);
    vec<int> const renumbered = renumber(f_, orders);
    for (found& other : found_) {
      for (int& i : other.members) i = renumbered[i];
      stable_sort(other.members, [](int a, int b) { return a < b; });
    }
  }

  graph const& g_;
  fusion f_;
  std::int64_t band_bytes_;
  vec<vec<read>> reads_;  // by other groups
  vec<char> needed_whole_;       // values that others than kernels need
  vec<int> handed_{};
  vec<int> linked_{};     // group -> another of its band, itself for the first
  vec<found> found_{};
};

}  // namespace detail

// band_bytes: of the values handed on, in a band.
constexpr fusion bands(graph const& g, fusion f, std::int64_t band_bytes) {
  return detail::band_finder(g, static_cast<fusion&&>(f), band_bytes).run();
}

}  // namespace tx::passes
