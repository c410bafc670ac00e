// Rates that fall from layer to layer, from the top of a model down (Howard and Ruder, ULMFiT, arXiv 1801.06146, section 3.2; Clark et al., ELECTRA,
// arXiv 2003.10555), as a pass over gradients needs them: what share of its group's rate each parameter takes.
//
//   layer i of a repeat<n, Block>, i from 0     decay^(n - i)
//   what lies below all layers                  decay^(n + 1), n of the longest repeat
//   everything else                             1
//
// A repeat's parameters are one tensor [n, ...], so their shares are a row of n numbers, of which each block has its own.
#pragma once

#include <tx/expr/by_name.hpp>
#include <tx/expr/parameter_layout.hpp>
#include <tx/expr/setting.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/train/options.hpp>

namespace tx::detail {

constexpr bool is_layer_decay(float decay) { return decay > 0 && decay <= 1; }

// Of a parameter within a repeat, of how many blocks; 0 of any other.
constexpr int layers_of(layout_entry const& e) { return e.info.dims.rank > e.rank ? e.info.dims.dim[0] : 0; }

template <class Model>
class layer_shares {
 public:
  constexpr layer_shares(graph& g, step_options const& options) : given_(options.decays_by_layer), below_(layout<Model>::entries.size(), 0) {
    if (!given_) return;
    declare_setting(g, declared_setting{"layer_decay", 0.9f, is_layer_decay, "above 0, at most 1; 1 gives all layers one rate"});
    for (layout_entry const& e : layout<Model>::entries) most_ = layers_of(e) > most_ ? layers_of(e) : most_;
    if (most_ == 0) throw invalid("layer_decay: the model has no repeat, whose blocks are the layers. FIX: rate_where<model, std::ratio<1, 10>, \"name.*\"> for rates by name");
    if (most_ >= max_layers) throw invalid("layer_decay: a repeat has as many blocks as tx::max_layers or more. FIX: rate_where for rates by name");
    for (int k = 0; k < options.below_count; ++k) note_below(options.below[k]);
  }

  constexpr explicit operator bool() const { return given_; }

  // Of a parameter as a leaf of the graph, all blocks [n, ...], a part of them, or one: a number, or numbers [n, 1, ...]. Not valid: 1.
  constexpr var of(graph& g, var leaf, int entry) const {
    if (!given_) return {};
    layout_entry const& e = layout<Model>::entries[entry];
    int const layers = layers_of(e);
    if (layers == 0) return below_[entry] ? run_time_scalar(g, scalar::layer_shares, max_layers - most_ - 1) : var{};
    std::int64_t const each = e.info.count() / layers;
    int const slot = max_layers - layers + static_cast<int>(each > 0 ? (parameter_first(g[leaf.id].at) - e.offset) / each : 0);
    shape column = leaf.dims();
    if (column.rank < e.info.dims.rank) return run_time_scalar(g, scalar::layer_shares, slot);  // a block that is peeled
    for (int a = 1; a < column.rank; ++a) column.dim[a] = 1;
    return reshape(run_time_scalar(g, scalar::layer_shares, slot, extents(column.dim[0])), column);
  }

 private:
  constexpr void note_below(std::string_view pattern) {
    names_found const found = find_names<Model>(pattern);
    if (!found.any) throw invalid("layer_decay: a pattern matches no parameter's name. FIX: a name as run.tensors() has it, in which * stands for any characters");
    for (int k = 0; k < below_.size(); ++k) {
      if (found.matched[k] == 0) continue;
      if (layers_of(layout<Model>::entries[k]) > 0) throw invalid("layer_decay: a pattern matches a parameter of a repeat, which lies below no layer. FIX: patterns of what is below the layers, as \"bert.embeddings.*\"");
      below_[k] = 1;
    }
  }

  bool given_;
  int most_ = 0;      // blocks of the longest repeat
  vec<char> below_;   // of each parameter: does it lie below all layers?
};

}  // namespace tx::detail
