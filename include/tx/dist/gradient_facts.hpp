// What passes over gradients have to know of what these are by, a parameter or rows of many: how it lies in the model, and what of it a rank keeps where ranks divide
// the optimizer's states among them (dist/zero.hpp).
#pragma once

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
  constexpr explicit gradient_facts(state_kinds const& of) : ranks_(of.portions().divided_among()), again_(of.portions().again, across::batches), parameters_too_(of.divides_parameters()) {
    if (ranks_.count > 1) pieces_ = state_pieces<Model>(of.portions_of_parameters());
    if (ranks_.count > 1) of_states_ = state_pieces<Model>(of.portions());
  }
  constexpr dividing_ranks ranks() const { return ranks_; }
  // Those that keep the same portion of a parameter and divide its states once more, and the axis of what they keep of which each has a portion; -1: all of them have all.
  constexpr dividing_ranks ranks_again() const { return again_; }
  constexpr int axis_again(node const& leaf) const {
    if (again_.count == 1) return -1;
    return piece_of(of_states_, leaf).divided_again() ? leaf.info.dims.rank - own_rank(leaf) : -1;
  }
  // Does a rank keep no more than its portion of a parameter itself?
  constexpr bool divides_parameters() const { return parameters_too_; }

  // Axes of a leaf without those of repeats; rows of many are a matrix.
  constexpr int own_rank(node const& leaf) const { return leaf.op == &parameter_info ? layout<Model>::entries[parameter_entry(leaf.at)].rank : 2; }
  // So many tensors of one shape it has, one behind the other: one for each block of the repeats that it lies in.
  constexpr std::int64_t tensors(node const& leaf) const {
    std::int64_t count = 1;
    for (int a = 0; a < leaf.info.dims.rank - own_rank(leaf); ++a) count *= leaf.info.dims.dim[a];
    return count;
  }
  // The axis of which each rank keeps a portion; -1: all of them keep all.
  constexpr int divided_axis(node const& leaf) const {
    if (ranks_.count == 1 || (leaf.op == &parameter_info && !layout<Model>::trains(layout<Model>::entries[parameter_entry(leaf.at)]))) return -1;
    state_piece const& p = piece_of(pieces_, leaf);
    return p.divided() ? leaf.info.dims.rank - own_rank(leaf) + p.axis : -1;
  }
  // Of all ranks along that axis.
  constexpr int rows(node const& leaf) const { return static_cast<int>(piece_of(pieces_, leaf).rows); }
  // What a rank keeps of a parameter that is divided, with its blocks or some of them.
  constexpr value_info kept(value_info whole, int entry) const {
    if (!parameters_too_) return whole;
    state_piece const* const p = piece_of_entry<Model>(pieces_, entry);
    if (p != nullptr && p->divided()) whole.dims.set(whole.dims.rank - layout<Model>::entries[entry].rank + p->axis, static_cast<int>(p->kept_rows));
    return whole;
  }
  // Where in each state that has a number for each element those of a leaf begin.
  constexpr std::int64_t first_state(node const& leaf) const {
    return ranks_.count == 1 ? first_updated(leaf) : kept_first(of_states_, leaf);
  }
  // Where it begins itself, of parameters that are divided.
  constexpr std::int64_t kept_parameter(node const& leaf) const {
    using of_model = layout<Model>;
    if (leaf.op == &block_info || of_model::trains(of_model::entries[parameter_entry(leaf.at)])) return kept_first(pieces_, leaf);
    int const entry = parameter_entry(leaf.at);
    return kept_first_byte<Model>(pieces_, entry) / size_of(leaf.info.type) + first_updated(leaf) - of_model::entries[entry].offset;
  }

 private:
  // Of a peeled repeat it may be a later block; of a group of vectors it is one of many.
  constexpr std::int64_t kept_first(vec<state_piece> const& pieces, node const& leaf) const {
    state_piece const& p = piece_of(pieces, leaf);
    std::int64_t before = first_updated(leaf) - p.first;
    if (p.divided()) before = before / (p.rows * p.row) * (p.kept_rows * p.row);
    return p.kept + (p.divided_again() ? before / (p.own_rows * p.own_row) * (p.own_kept * p.own_row) : before);
  }
  constexpr state_piece const& piece_of(vec<state_piece> const& pieces, node const& leaf) const {
    if (leaf.op == &parameter_info) {
      if (state_piece const* const p = piece_of_entry<Model>(pieces, parameter_entry(leaf.at))) return *p;
    } else {
      std::int64_t const first = block_first(leaf.at);
      for (state_piece const& p : pieces)
        if (p.first <= first && first < p.first + p.count()) return p;
    }
    throw invalid("gradient_facts: a parameter is updated that has no states");
  }

  dividing_ranks ranks_, again_;
  bool parameters_too_;
  vec<state_piece> pieces_{};     // of parameters
  vec<state_piece> of_states_{};  // the same, where those are not divided once more
};

}  // namespace tx::detail
