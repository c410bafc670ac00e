// Where each parameter of a model lives: one flat block that depends on the model type alone, ordered by group.
//
// What is trained lies together at its front and is of one type, f32 or f64, so that gradients and optimizer states are flat blocks too, and
// of that type. Behind it lie parameters that are not trained and states, of any types: a bf16 table that is frozen, integers.
#pragma once

#include <tx/core/fixed.hpp>
#include <tx/core/vec.hpp>
#include <tx/expr/model_walk.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/expr/stacked.hpp>
#include <tx/expr/state.hpp>

namespace tx {

// Flat blocks are seen as rows of this many elements, so that an update over all of them is an ordinary row kernel.
inline constexpr int block_row = 1024;
// Parameters start at multiples of this many elements and of this many bytes, of which every target reads and writes whole pieces.
inline constexpr int parameter_alignment = 16;
inline constexpr std::int64_t parameter_line = 64;  // bytes

namespace detail {
template <class T>
constexpr std::uint64_t type_key() {
  return fnv1a(__PRETTY_FUNCTION__);
}

}  // namespace detail

struct layout_entry {
  value_info info{};        // as stored: extents of repeats, then its own
  int group = 0;
  std::int64_t offset = 0;  // from the start of the block, in elements of its own type
  int rank = 0;             // without the extents of repeats
};

struct layout_group {
  std::uint64_t key = 0;
  float rate = 1;
  float decay = 0;
  std::int64_t first = 0;  // in elements of layout::type, a multiple of block_row
  std::int64_t count = 0;  // the same, padded to block_row
  bool trained = true;
};

template <class Model>
struct layout {
  static_assert(std::is_aggregate_v<Model>,
                "tx: a model is an aggregate: a struct with public members, no constructors and no private state. FIX: give it members with default values in place of these");

 private:
  struct table {
    vec<layout_entry> entries{};
    vec<layout_group> groups{};
    dtype type = dtype::f32;
    bool trains_one_type = true, one_type = true;
    constexpr bool trains(layout_entry const& e) const { return groups[e.group].trained; }
  };
  static constexpr table build() {
    table t{};
    Model model{};
    auto find_group = [&]<class Group>(Group, double factor) {
      std::uint64_t const key = detail::type_key<Group>();
      float const rate = static_cast<float>(static_cast<double>(Group::rate) * factor);
      int group = 0;
      while (group < t.groups.size() && !(t.groups[group].key == key && t.groups[group].rate == rate)) ++group;
      if (group == t.groups.size()) t.groups.push_back({key, rate, Group::decay, 0, 0, detail::is_trained<Group>()});
      return group;
    };
    auto collect = [&]<class P>(P&, detail::surroundings const& around) {
      bool const freezes = around.frozen && !state_like<P>;
      int const group = freezes ? find_group(frozen{}, 1) : find_group(typename P::group{}, around.rate);
      t.entries.push_back({detail::stacked(P::info, around.stack), group, 0, P::info.dims.rank});
    };
    detail::for_each_parameter(model, collect);
    bool any_trained = false;
    if (!t.entries.empty()) t.type = t.entries[0].info.type;
    for (layout_entry const& e : t.entries) {
      t.one_type = t.one_type && e.info.type == t.entries[0].info.type;
      if (!t.trains(e)) continue;
      if (any_trained) t.trains_one_type = t.trains_one_type && e.info.type == t.type;
      else t.type = e.info.type;
      any_trained = true;
    }
    std::int64_t const row = block_row * size_of(t.type);
    std::int64_t at = 0;  // bytes
    auto const round_up = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
    auto place = [&](int g) {
      t.groups[g].first = at / size_of(t.type);
      for (auto& e : t.entries) {
        if (e.group != g) continue;
        std::int64_t const size = size_of(e.info.type), own = parameter_alignment * size, line = own < parameter_line ? parameter_line : own;
        at = round_up(at, line);
        e.offset = at / size;
        at += round_up(e.info.count() * size, line);
      }
      at = round_up(at, row);
      t.groups[g].count = at / size_of(t.type) - t.groups[g].first;
    };
    for (bool first : {true, false})  // what is trained lies together, as states have a place for that alone
      for (int g = 0; g < t.groups.size(); ++g)
        if (t.groups[g].trained == first) place(g);
    return t;
  }
  struct sizes {
    int entries, groups;
    dtype type;
    bool trains_one_type, one_type;
  };
  static constexpr sizes of_table = [] {
    table const t = build();
    return sizes{t.entries.size(), t.groups.size(), t.type, t.trains_one_type, t.one_type};
  }();
  static constexpr int entry_count = of_table.entries, group_count = of_table.groups;

 public:
  // Of what is trained, and so of gradients and optimizer states; where nothing is, of the first parameter.
  static constexpr dtype type = of_table.type;
  // Are all parameters and states of that type?
  static constexpr bool one_type = of_table.one_type;
  static constexpr auto entries = freeze<layout_entry, entry_count>(build().entries);
  static constexpr auto groups = freeze<layout_group, group_count>(build().groups);
  // Elements of `type` that fit the whole block, padding included, and those in front that are trained: gradients and states have as many.
  static constexpr std::int64_t size = [] {
    std::int64_t sum = 0;
    for (layout_group const& group : groups) sum += group.count;
    return sum;
  }();
  static constexpr std::int64_t trained = [] {
    std::int64_t sum = 0;
    for (layout_group const& group : groups)
      if (group.trained) sum += group.count;
    return sum;
  }();
  static constexpr bool trains(layout_entry const& e) { return groups[e.group].trained; }
  // Has a group vectors and numbers alone? Then it is small.
  static constexpr bool only_vectors(int group) {
    for (layout_entry const& e : entries)
      if (e.group == group && e.rank > 1) return false;
    return true;
  }
  // Pieces of a flat block begin at multiples of so many of its elements.
  static constexpr std::int64_t line = [] {
    std::int64_t const size = size_of(type), own = parameter_alignment * size;
    return (own < parameter_line ? parameter_line : own) / size;
  }();

 private:
  static_assert(of_table.trains_one_type, "tx: the parameters of a model that are trained must have one element type, as their gradients lie in one block. FIX: the same T in each param<tensor<T, ...>>, or the group tx::frozen for those that are not trained");
  static_assert(trained == 0 || type == dtype::f32 || type == dtype::f64, "tx: parameters that are trained are f32 or f64. FIX: mixed<bf16> as an option of the step has its products multiply halves; the group tx::frozen for a table of halves that is not trained");
  static_assert(group_count <= max_groups, "tx: the model has more parameter groups than tx::max_groups. FIX: fewer group types");
};

}  // namespace tx
