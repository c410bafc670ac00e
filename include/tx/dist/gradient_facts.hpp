// What passes over gradients have to know of what these are by, a parameter or rows of many: how it lies in the model, and what of it a rank keeps where ranks divide
// the optimizer's states among them (dist/zero.hpp).
#pragma once

#include <tx/core/rank_grid.hpp>
#include <tx/expr/state_layout.hpp>
#include <tx/graph/graph.hpp>
#include <tx/graph/leaf.hpp>

namespace tx::detail {

// Where what is made of a gradient begins, a parameter or rows of many, in elements among all parameters.
constexpr std::int64_t first_updated(node const& leaf) { return leaf.op == &parameter_info ? parameter_first(leaf.at) : block_first(leaf.at); }

template <class Model>
class gradient_facts {
 public:
  // of: how what lies beside the parameters is divided among ranks, and the parameters perhaps.
  constexpr explicit gradient_facts(state_kinds const& of) : divides_parameters_(of.divides_parameters()) {
    if (of.divided()) of_parameters_ = state_pieces<Model>(of.portions_of_parameters());
    if (of.divided()) of_states_ = state_pieces<Model>(of.portions());
  }
  // Does a rank keep no more than its portion of a parameter itself?
  constexpr bool divides_parameters() const { return divides_parameters_; }

  // Axes of a leaf without those of repeats; rows of many are a matrix.
  constexpr int own_rank(node const& leaf) const { return leaf.op == &parameter_info ? layout<Model>::entries[parameter_entry(leaf.at)].rank : 2; }
  // So many tensors of one shape it has, one behind the other: one for each block of the repeats that it lies in.
  constexpr std::int64_t tensors(node const& leaf) const {
    std::int64_t count = 1;
    for (int a = 0; a < leaf.info.dims.rank - own_rank(leaf); ++a) count *= leaf.info.dims.dim[a];
    return count;
  }
  // Of which axis of a parameter, or of its states, each of those ranks keeps a portion.
  constexpr tensor_portion of_parameter(node const& leaf, across which) const { return divided(of_parameters_, leaf, which); }
  // Do those ranks divide an entry of the layout? And which of its own axes, where they divide products.
  constexpr bool divides(int entry, across which) const { return division_of_entry(entry, which) != nullptr; }
  constexpr tensor_portion divided_by_products(int entry) const {
    piece_division const* const d = division_of_entry(entry, across::products);
    return d == nullptr ? tensor_portion{} : tensor_portion{d->axis, d->ranks, static_cast<int>(d->rows)};
  }
  constexpr tensor_portion of_state(node const& leaf, across which) const { return divided(of_states_, leaf, which); }
  // Ranks with other batches that have all of what a rank keeps of a parameter, and update a portion of it each.
  constexpr tensor_portion of_update(node const& leaf) const { return of_parameter(leaf, across::batches) ? tensor_portion{} : of_state(leaf, across::batches); }
  // What a rank keeps of a parameter, with its blocks or some of them.
  constexpr value_info kept(value_info whole, int entry) const {
    if (state_piece const* const p = piece_of_entry<Model>(of_parameters_, entry))
      for (int k = 0; k < p->divisions; ++k) whole.dims.set(axis_of(p->by[k], whole, entry), static_cast<int>(p->by[k].kept_rows));
    return whole;
  }
  // A parameter as the layout has it, and its first element.
  constexpr value_info const& parameter(int entry) const { return layout<Model>::entries[entry].info; }
  constexpr std::int64_t first(int entry) const { return layout<Model>::entries[entry].offset; }
  // All of what those ranks have such portions of, and a portion of such, but for what others divide.
  constexpr value_info whole(value_info portion, int entry, across which) const {
    piece_division const* const d = division_of_entry(entry, which);
    if (d != nullptr) portion.dims.set(axis_of(*d, portion, entry), static_cast<int>(d->rows));
    return portion;
  }
  constexpr value_info portion(value_info whole, int entry, across which) const {
    piece_division const* const d = division_of_entry(entry, which);
    if (d != nullptr) whole.dims.set(axis_of(*d, whole, entry), static_cast<int>(d->kept_rows));
    return whole;
  }
  // Where in each state that has a number for each element those of a leaf begin.
  constexpr std::int64_t first_state(node const& leaf) const { return of_states_.empty() ? first_updated(leaf) : kept_first(of_states_, leaf); }
  // Where it begins itself, of parameters that are divided.
  constexpr std::int64_t kept_parameter(node const& leaf) const {
    using of_model = layout<Model>;
    if (leaf.op == &block_info || of_model::trains(of_model::entries[parameter_entry(leaf.at)])) return kept_first(of_parameters_, leaf);
    int const entry = parameter_entry(leaf.at);
    return kept_first_byte<Model>(of_parameters_, entry) / size_of(leaf.info.type) + first_updated(leaf) - of_model::entries[entry].offset;
  }

 private:
  constexpr piece_division const* division_of_entry(int entry, across which) const {
    state_piece const* const p = piece_of_entry<Model>(of_parameters_, entry);
    return p == nullptr ? nullptr : p->division_by(which);
  }
  static constexpr int axis_of(piece_division const& d, value_info const& of, int entry) { return of.dims.rank - layout<Model>::entries[entry].rank + d.axis; }
  constexpr tensor_portion divided(vec<state_piece> const& pieces, node const& leaf, across which) const {
    if (pieces.empty() || (leaf.op == &parameter_info && !layout<Model>::trains(layout<Model>::entries[parameter_entry(leaf.at)]))) return {};
    piece_division const* const d = piece_of(pieces, leaf).division_by(which);
    return d == nullptr ? tensor_portion{} : tensor_portion{leaf.info.dims.rank - own_rank(leaf) + d->axis, d->ranks, static_cast<int>(d->rows)};
  }
  // Of a peeled repeat it may be a later block; of a group of vectors it is one of many.
  constexpr std::int64_t kept_first(vec<state_piece> const& pieces, node const& leaf) const {
    state_piece const& p = piece_of(pieces, leaf);
    return p.kept + p.kept_behind(first_updated(leaf) - p.first);
  }
  constexpr state_piece const& piece_of(vec<state_piece> const& pieces, node const& leaf) const {
    if (leaf.op == &parameter_info) {
      if (state_piece const* const p = piece_of_entry<Model>(pieces, parameter_entry(leaf.at))) return *p;
    } else {
      std::int64_t const first = block_first(leaf.at);
      for (state_piece const& p : pieces)
        if (p.first <= first && first < p.first + p.count) return p;
    }
    throw invalid("gradient_facts: a parameter is updated that has no states");
  }

  bool divides_parameters_;
  vec<state_piece> of_parameters_{}, of_states_{};  // empty: each rank has all
};

}  // namespace tx::detail
