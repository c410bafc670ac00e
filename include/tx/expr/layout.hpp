// Where each parameter of a model lives: one flat block that depends on the model type alone, ordered by group.
//
// What is trained lies together at its front and is of one type, f32 or f64, so that gradients and optimizer states are flat blocks too, and
// of that type. Behind it lie parameters that are not trained and states, of any types: a bf16 table that is frozen, integers.
#pragma once

#include <tx/core/vec.hpp>
#include <tx/core/fixed.hpp>
#include <tx/expr/members.hpp>
#include <tx/expr/param.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/expr/state.hpp>

#include <string>
#include <vector>

namespace tx {

// Flat blocks are seen as rows of this many elements, so that an update over all of them is an ordinary row kernel.
inline constexpr int block_row = 1024;
// Parameters start at multiples of this many elements, and of a cache line.
inline constexpr int parameter_alignment = 16;
inline constexpr std::int64_t parameter_line = 64;  // bytes

template <class M>
concept repeated_module = requires { M::repeat_count; };

// As a member `frozen_module<encoder> body;` a module that is not trained: its parameters are in the group `frozen`, whatever their own is.
// They are named as if the module were the member itself; what the module can do beside being called is at `body.body`.
template <class Module>
struct frozen_module {
  static constexpr bool freezes = true;
  Module body;

  constexpr auto operator()(auto const&... x) const { return body(x...); }
};
template <class M>
concept freezing_module = requires { M::freezes; };

namespace detail {

// Where a parameter is within a model.
struct surroundings {
  shape stack{};  // extents of enclosing repeats
  bool frozen = false;
};

// Calls f(parameter, surroundings) for each parameter in declaration order.
template <class M, class F>
constexpr void for_each_parameter(M& module, F& f, surroundings const& around = {}) {
  using type = std::remove_const_t<M>;
  if constexpr (parameter<type>) {
    f(module, around);
  } else if constexpr (typed_handle<type>) {
    static_assert(!typed_handle<type>, "tx: a model holds a tensor, which has no numbers of its own. FIX: tx::param<tensor<...>> for one that is learned, an argument for one that is given");
  } else if constexpr (repeated_module<type>) {
    surroundings deeper = around;
    deeper.stack.dim[deeper.stack.rank++] = type::repeat_count;
    for_each_parameter(module.block, f, deeper);
  } else if constexpr (freezing_module<type>) {
    for_each_parameter(module.body, f, surroundings{around.stack, true});
  } else if constexpr (std::is_class_v<type>) {
    std::apply([&](auto&... member) { (for_each_parameter(member, f, around), ...); }, members(module));
  }
}

template <class Group>
constexpr bool is_trained() {
  if constexpr (requires { Group::trained; }) return Group::trained;
  else return true;
}

constexpr value_info stacked(value_info const& one, shape const& stack) {
  if (one.dims.rank + stack.rank > max_rank)
    throw invalid("a value of a repeated block, or of a shard, has as many axes as a tensor may have, and no room for one of the iterations. FIX: merge some with reshape");
  value_info out{one.type, stack};
  for (int i = 0; i < one.dims.rank; ++i) out.dims.add(one.dims.at(i));
  return out;
}

constexpr value_info stacked(value_info const& one, int iterations) { return stacked(one, shape{1, {}, {iterations}}); }

// One slice along the leading axis.
constexpr value_info unstacked(value_info const& all) { return {all.type, all.dims.inner()}; }

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
    auto find_group = [&]<class Group>(Group) {
      std::uint64_t const key = detail::type_key<Group>();
      int group = 0;
      while (group < t.groups.size() && t.groups[group].key != key) ++group;
      if (group == t.groups.size()) t.groups.push_back({key, Group::rate, Group::decay, 0, 0, detail::is_trained<Group>()});
      return group;
    };
    auto collect = [&]<class P>(P&, detail::surroundings const& around) {
      bool const freezes = around.frozen && !state_like<P>;
      int const group = freezes ? find_group(frozen{}) : find_group(typename P::group{});
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

 private:
  static_assert(of_table.trains_one_type, "tx: the parameters of a model that are trained must have one element type, as their gradients lie in one block. FIX: the same T in each param<tensor<T, ...>>, or the group tx::frozen for those that are not trained");
  static_assert(trained == 0 || type == dtype::f32 || type == dtype::f64, "tx: parameters that are trained are f32 or f64. FIX: mixed<bf16> as an option of the step has its products multiply halves; the group tx::frozen for a table of halves that is not trained");
  static_assert(group_count <= max_groups, "tx: the model has more parameter groups than tx::max_groups. FIX: fewer group types");
};

// One tensor of a model as files and users see it: a repeated block has one per iteration.
struct parameter_view {
  std::string name;
  value_info info;
  std::int64_t offset;  // from the start of the flat block, in elements of its own type
  bool is_state = false;  // see state.hpp
  bool trained = true;

  std::int64_t first_byte() const { return offset * size_of(info.type); }
  std::int64_t bytes() const { return info.count() * size_of(info.type); }
};

namespace detail {

// An element of a std::array has no name but its number.
TX_COLD inline std::string member_path(std::string const& outer, std::string_view member, std::size_t number) {
  std::string path = outer.empty() ? outer : outer + ".";
  return member.empty() ? path + std::to_string(number) : path.append(member);
}

template <class Model>
struct parameter_namer {
  std::vector<parameter_view> views;
  std::vector<int> iteration;  // of the enclosing repeats
  int entry = 0;

  template <class M>
  TX_COLD void visit(std::string const& name) {
    if constexpr (parameter<M>) {
      layout_entry const& e = layout<Model>::entries[entry++];
      std::int64_t index = 0;
      for (std::size_t k = 0; k < iteration.size(); ++k) index = index * e.info.dims.dim[k] + iteration[k];
      views.push_back({name, M::info, e.offset + index * M::info.count(), state_like<M>, layout<Model>::trains(e)});
    } else if constexpr (repeated_module<M>) {
      int const first = entry;
      for (int i = 0; i < M::repeat_count; ++i) {
        entry = first;
        iteration.push_back(i);
        visit<decltype(M::block)>(name + "." + std::to_string(i));
        iteration.pop_back();
      }
    } else if constexpr (freezing_module<M>) {
      visit<decltype(M::body)>(name);
    } else if constexpr (std::is_class_v<M>) {
      using tuple = decltype(members(std::declval<M&>()));
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (visit<std::remove_reference_t<std::tuple_element_t<I, tuple>>>(member_path(name, member_name<M, I>(), I)), ...);
      }(std::make_index_sequence<static_cast<std::size_t>(count_members<M>())>{});
    }
  }
};

}  // namespace detail

// All tensors of a model, by name, in declaration order with repeated blocks expanded.
template <class Model>
TX_COLD std::vector<parameter_view> parameters_of() {
  detail::parameter_namer<Model> namer{};
  namer.template visit<Model>("");
  return std::move(namer.views);
}

}  // namespace tx
