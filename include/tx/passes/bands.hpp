// Bands: batched products that hand each other values as large as attention's scores run a few matrices at a time, one product
// after the other. Such a value then exists for one band only: all of it is never in memory, and what there is stays in the cache.
#pragma once

#include <tx/passes/schedule.hpp>

namespace tx::passes {

namespace detail {

class band_finder {
 public:
  constexpr band_finder(graph const& g, fusion f, std::int64_t band_bytes)
      : g_(g), f_(static_cast<fusion&&>(f)), band_bytes_(band_bytes), reads_(g.size()), bound_(g.size(), 0) {
    for (output const& o : g.outputs) bound_[o.value] = 1;
    for (int i = 0; i < g.size(); ++i) {
      if (f_.group_of[i] < 0 && g[i].op->kind != op_kind::region) continue;
      for (int k = 0; k < g[i].inputs; ++k) {
        int const base = f_.where.of[g.input(i, k)].base;
        if (f_.group_of[base] < 0 || f_.group_of[base] == f_.group_of[i]) continue;
        if (g[i].op->kind == op_kind::region) bound_[base] = 1;
        else reads_[base].push_back({i, k});
      }
    }
  }

  constexpr fusion run() {
    find_links();
    for (int first = 0; first < f_.groups.size(); ++first) {
      if (root(first) != first) continue;
      vec<int> members{};
      for (int i = 0; i < f_.groups.size(); ++i)
        if (root(i) == first) members.push_back(i);
      if (members.size() > 1) add(members);
    }
    for (int i = 0; i < made_.size(); ++i) put_together(i);
    return static_cast<fusion&&>(f_);
  }

 private:
  struct read {
    int node, operand;
  };

  // Matrices of the batch of a group of the kind that can run in bands, 0 where it cannot.
  constexpr std::int64_t matrices(int at) const {
    group const& gr = f_.groups[at];
    if (!gr.fusible || gr.overwrites || gr.rows == 0 || gr.cols <= 1) return 0;
    std::int64_t count = 0;
    if (gr.head >= 0) {  // its own batch, whatever its epilogue makes of the rows
      shape const& dims = g_.info(gr.head).dims;
      count = dims.rank > 2 ? gr.rows / dims[-2] : 1;
    }
    for (int id : gr.nodes) {
      if (f_.levels[id] == level::col) return 0;  // sums go over all matrices
      shape const& dims = g_.info(id).dims;
      if (f_.levels[id] == level::full && dims.rank > 2 && dims.last() == gr.cols && count == 0) count = gr.rows / dims[-2];
    }
    return count > 1 ? count : 0;
  }
  constexpr bool has_product(int at) const { return f_.groups[at].head >= 0; }

  // A reader that sees of each matrix of `id` only what its own matrix is made of.
  constexpr bool keeps_to_matrix(int id, read const& r) const {
    int const reader = f_.group_of[r.node];
    int const maker = f_.group_of[id];
    if (f_.groups[reader].region != f_.groups[maker].region || matrices(reader) != matrices(maker)) return false;
    int const operand = g_.input(r.node, r.operand);
    location const& v = f_.where.of[operand];
    shape const& dims = g_.info(operand).dims;
    shape const& own = g_.info(id).dims;
    if (v.step != 0 || v.at.offset != 0 || dims.rank != own.rank) return false;
    strided const plain = dense(own);
    bool const whole = r.node != f_.groups[reader].head;  // element by element; the head sees matrices, transposed or not
    if (whole && !has_product(maker)) return false;
    for (int a = 0; a < own.rank - (whole ? 0 : 2); ++a)
      if (dims.dim[a] != own.dim[a] || (own.dim[a] != 1 && v.at.stride[a] != plain.stride[a])) return false;
    return !whole || (f_.groups[reader].rows == f_.groups[maker].rows && f_.groups[reader].cols == f_.groups[maker].cols);
  }

  // Of what a member computes, does a node of another member read its own matrices' elements alone? Members run one after the other for
  // each band, so what lies in another band's matrices is not there yet. Leading axes of what is read are the matrices, if any are.
  constexpr bool reads_own_matrix(int base, int reader_node, int operand, std::int64_t count) const {
    shape const& dims = g_.info(operand).dims;
    location const& seen = f_.where.of[operand];
    std::int64_t const of_base = g_.info(base).count() / count;  // elements of a matrix
    if (!seen.regular || g_.info(base).count() % count != 0) return false;
    int inner = 0;  // the first axis within a matrix
    std::int64_t leading = 1;
    while (inner < dims.rank && leading < count) leading *= dims.dim[inner++];
    if (leading != count) return false;
    if (reader_node == f_.groups[f_.group_of[reader_node]].head && inner > dims.rank - 2) return false;
    std::int64_t expected = of_base;
    for (int a = inner - 1; a >= 0; --a) {
      if (dims.dim[a] != 1 && seen.numbers.stride[a] != expected) return false;
      expected *= dims.dim[a];
    }
    std::int64_t furthest = seen.numbers.offset;
    for (int a = inner; a < dims.rank; ++a) furthest += (dims.dim[a] - 1) * seen.numbers.stride[a];
    return furthest < of_base;
  }
  constexpr bool members_keep_to_matrices(vec<char> const& member, std::int64_t count) const {
    for (int base = 0; base < g_.size(); ++base) {
      if (f_.group_of[base] < 0 || !member[f_.group_of[base]]) continue;
      for (read const& r : reads_[base])
        if (member[f_.group_of[r.node]] && !reads_own_matrix(base, r.node, g_.input(r.node, r.operand), count)) return false;
    }
    return true;
  }

  // Is a value read by such kernels alone?
  constexpr bool can_hand_on(int id) const {
    int const maker = f_.group_of[id];
    if (maker < 0 || bound_[id] || reads_[id].empty() || f_.levels[id] != level::full || f_.where.places[id].kind != place_kind::own) return false;
    if (matrices(maker) == 0 || !lies_dense(g_, f_.where, id)) return false;
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
    for (int id = 0; id < g_.size(); ++id) {
      if (!can_hand_on(id)) continue;
      handed_.push_back(id);
      for (read const& r : reads_[id]) {
        int const a = root(f_.group_of[id]), b = root(f_.group_of[r.node]);
        if (a != b) linked_[a < b ? b : a] = a < b ? a : b;
      }
    }
  }

  // Members in recorded order. What waits for one of them and is no member comes later, anything else between them earlier.
  constexpr void add(vec<int> const& members) {
    std::int64_t each = 0;  // bytes of a matrix, of all values handed on
    std::int64_t const count = matrices(members[0]);
    bound_tag tag{};
    for (int id : handed_) {
      if (root(f_.group_of[id]) != members[0]) continue;
      each += g_.info(id).bytes() / count;
      tag = g_.info(id).dims.tag;
    }
    if (each * count <= band_bytes_) return;
    vec<char> later(f_.groups.size(), 0);
    vec<char> member(f_.groups.size(), 0);
    for (int i : members) member[i] = 1;
    if (!members_keep_to_matrices(member, count)) return;
    for (int i = members[0]; i <= members.back(); ++i) {
      bool waits = false;
      for (int base : f_.groups[i].reads) {
        int const maker = f_.group_of[maker_of(base, f_.groups[i].region)];
        if (maker < 0 || f_.groups[maker].region != f_.groups[i].region) continue;
        if (member[i] && later[maker]) return;
        waits = waits || member[maker] || later[maker];
      }
      later[i] = static_cast<char>(!member[i] && (waits || f_.groups[i].overwrites || is_loop(i)));
    }
    band_loop b{};
    b.each = band_bytes_ / each > 1 ? band_bytes_ / each : 1;
    b.matrices = count;
    b.tag = tag;
    made_.push_back({b, members, later});
  }
  // The node that a group of a region waits for: of a loop's results, and of a carry read after it, the loop.
  constexpr int maker_of(int base, int reader_region) const {
    if (g_[base].op == &argument_info && g_[base].region != reader_region) return g_.regions[g_[base].region].owner;
    return g_[base].op == &result_info ? g_.input(base, 0) : base;
  }
  constexpr bool is_loop(int at) const { return f_.groups[at].head >= 0 && g_[f_.groups[at].head].op->kind == op_kind::region; }

  struct found {
    band_loop loop{};
    vec<int> members{};
    vec<char> later{};
  };

  constexpr void put_together(int number) {
    found const& band = made_[number];
    int const first = band.members[0], last = band.members.back();
    int const r = f_.groups[first].region;
    vec<vec<int>> orders(g_.regions.size());
    for (int i = 0; i < f_.groups.size(); ++i) {
      int const at = f_.groups[i].region;
      if (at != r || i < first || i > last) {
        orders[at].push_back(i);
        continue;
      }
      if (i != last) continue;
      auto const all = [&](auto const& wanted) {
        for (int k = first; k <= last; ++k)
          if (f_.groups[k].region == r && wanted(k)) orders[r].push_back(k);
      };
      auto const is_member = [&](int k) {
        for (int m : band.members)
          if (m == k) return true;
        return false;
      };
      all([&](int k) { return !is_member(k) && !band.later[k]; });
      all(is_member);
      all([&](int k) { return !is_member(k) && band.later[k]; });
    }
    for (int i : band.members) f_.groups[i].band = number;
    for (int id : handed_)
      if (f_.groups[f_.group_of[id]].band == number) f_.handed_on[id] = 1;
    f_.bands.push_back(band.loop);
    vec<int> const renumbered = renumber(f_, orders);
    for (found& other : made_) {
      vec<char> later(other.later.size(), 0);
      for (int i = 0; i < later.size(); ++i) later[renumbered[i]] = other.later[i];
      other.later = later;
      for (int& i : other.members) i = renumbered[i];
      stable_sort(other.members, [](int a, int b) { return a < b; });
    }
  }

  graph const& g_;
  fusion f_;
  std::int64_t band_bytes_;
  vec<vec<read>> reads_;  // by other groups
  vec<char> bound_;       // values that others than kernels need
  vec<int> handed_{};
  vec<int> linked_{};     // group -> another of its band, itself for the first
  vec<found> made_{};
};

}  // namespace detail

// band_bytes: of the values handed on, in a band.
constexpr fusion bands(graph const& g, fusion f, std::int64_t band_bytes) {
  return detail::band_finder(g, static_cast<fusion&&>(f), band_bytes).run();
}

}  // namespace tx::passes
