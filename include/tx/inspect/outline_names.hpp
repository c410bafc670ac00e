// Names of what comes into a program and leaves it: parameters as checkpoints call them, slices of the optimizer's
// state, arguments, results.
#pragma once

#include <tx/expr/parameter_names.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/graph/print.hpp>
#include <tx/ops/constant.hpp>
#include <tx/plan/inspection.hpp>

#include <charconv>

namespace tx {

// Parameters as they are stored: repeated blocks together, "layer.*.weight".
struct stored_names {
  struct entry {
    std::string name;
    std::int64_t first, end;  // bytes of the flat block
  };
  std::vector<entry> entries;
  std::vector<std::vector<entry>> states;  // of an optimizer's
  std::int64_t trained = 0;                // elements

  // What a value that begins at this element of the parameters, of the value's type, is about; of several parameters the first and how many more.
  TX_COLD std::string at(std::int64_t first, value_info const& of) const { return among(entries, first, of); }
  // The same of block k: 0 the parameters, then the optimizer's states.
  TX_COLD std::string of_block(std::int64_t k, std::int64_t first, value_info const& of) const {
    if (k == 0) return at(first, of);
    auto const s = static_cast<std::size_t>(k - 1);
    return "state " + std::to_string(s) + " of " + (s < states.size() ? among(states[s], first, of) : "");
  }

 private:
  TX_COLD static std::string among(std::vector<entry> const& all, std::int64_t first, value_info const& of) {
    std::string name;
    int others = -1;
    first *= size_of(of.type);
    std::int64_t const end = first + of.count() * size_of(of.type);
    for (entry const& e : all) {
      if (e.end <= first || end <= e.first) continue;
      if (others++ < 0) name = e.name;
    }
    if (others > 0) name += " and " + std::to_string(others) + " more";
    return name;
  }
};

namespace detail {

// "layer.0.weight" and "layer.1.weight" -> "layer.*.weight"
TX_COLD inline std::string common_name(std::string const& a, std::string const& b) {
  std::size_t front = 0, back = 0;
  while (front < a.size() && front < b.size() && a[front] == b[front]) ++front;
  while (back < a.size() - front && back < b.size() - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return a.substr(0, front) + "*" + a.substr(a.size() - back);
}

// Names of the values of a lowered graph; most have none.
class value_namer {
 public:
  value_namer(exec::inspection const& seen, stored_names const& stored)
      : g_(seen.nodes), f_(seen.fused), stored_(stored) {}

  TX_COLD std::string operator()(int id) const {
    node const& n = g_[id];
    if (n.op->kind == op_kind::constant) {
      char text[32];
      return std::string(text, std::to_chars(text, text + sizeof text, constant_value(n)).ptr);
    }
    if (n.op == &input_info) return "argument " + std::to_string(input_number(n.at));
    if (n.op == &parameter_info) return stored_.at(parameter_first(n.at), n.info);
    if (n.op == &block_info) return stored_.of_block(block_number(n.at), block_first(n.at), n.info);
    if (n.op == &scalar_info) return setting(scalar_number(n.at));
    if (n.op == &argument_info) return argument(n);
    if (n.op == &result_info && !g_.is_result_of_op(id)) return result(n);
    return computed(id);
  }

 private:
  std::string setting(std::int64_t which) const {
    if (which == static_cast<std::int64_t>(scalar::run)) return "step";
    if (which == static_cast<std::int64_t>(scalar::update)) return "number of the update";
    if (which == static_cast<std::int64_t>(scalar::ends_update)) return "is it the last run of an update";
    if (which >= static_cast<std::int64_t>(scalar::layer_shares)) return "layers' shares of the learning rate";
    if (std::int64_t const own = which - static_cast<std::int64_t>(scalar::named); own >= 0) return "setting " + std::string(g_.settings[static_cast<int>(own)].name);
    std::int64_t const of_group = which - static_cast<std::int64_t>(scalar::group_rates);
    return (of_group % 2 == 0 ? "rate of group " : "decay of group ") + std::to_string(of_group / 2);
  }
  std::string argument(node const& n) const {
    region const& r = g_.regions[argument_region(n.at)];
    int const k = argument_number(n.at);
    if (k < r.carries) return "carry " + std::to_string(k);
    return (*this)(f_.where.of[g_.input(r.owner, k)].base);
  }
  std::string result(node const& n) const {
    region const& r = g_.regions[run_region(g_[g_.input(n, 0)].at)];
    int const k = result_number(n.at);
    if (k < r.carries) return "carry " + std::to_string(k) + " at the end";
    std::string const own = (*this)(r.results[k]);
    return own.empty() ? std::string("kept ") + g_[f_.where.of[r.results[k]].base].op->name : own;
  }
  // Of values that replace a parameter or a state, lie in the flat gradient, or are handed to the caller.
  std::string computed(int id) const {
    int const over = passes::overwritten(g_, f_.where, id);
    if (over >= 0) return "new " + (*this)(over);
    if (g_[id].op->kind == op_kind::gather_all && g_.info(id).count() == stored_.trained) return "all gradients";
    passes::placement const& p = f_.where.places[id];
    if (p.kind == passes::place_kind::within && g_.info(p.target).count() == stored_.trained)
      return "gradient of " + stored_.at(p.offset, g_.info(id));
    for (int k = 0; k < g_.outputs.size(); ++k)
      if (g_.outputs[k].value == id && g_.outputs[k].kind == output_kind::result) return "result " + std::to_string(k);
    return {};
  }

  graph const& g_;
  passes::fusion const& f_;
  stored_names const& stored_;
};

}  // namespace detail

// A graph as text, with the names of parameters and of optimizers' states: to_text(graph_of<step>(), names_of<step::model>(step::states)).
template <class Graph>
TX_COLD std::string to_text(Graph const& g, stored_names const& names) {
  return to_text(g, [&](node const& n) {
    if (n.op == &parameter_info) return names.at(parameter_first(n.at), n.info);
    if (n.op == &block_info) return names.of_block(block_number(n.at), block_first(n.at), n.info);
    return std::string();
  });
}

template <class Model>
TX_COLD stored_names names_of(state_kinds states) {
  stored_names out;
  out.trained = layout<Model>::trained;
  auto const views = parameters_of<Model>();
  auto const pieces_of = [&](portioning const& how) { return states.divided() ? state_pieces<Model>(how) : vec<state_piece>{}; };
  auto const of_parameters = pieces_of(states.portions_of_parameters()), of_states = pieces_of(states.portions());
  // Where what a rank keeps of an entry lies, of parameters and of states that are divided.
  auto const kept = [&](vec<state_piece> const& pieces, std::string const& name, int entry) {
    layout_entry const& e = layout<Model>::entries[entry];
    state_piece const* const p = detail::piece_of_entry<Model>(pieces, entry);
    std::int64_t const first = detail::kept_first_byte<Model>(pieces, entry), count = p != nullptr && p->divided() ? p->kept_count() : e.info.count();
    return stored_names::entry{name, first, first + count * size_of(e.info.type)};
  };
  for (int k = 0; k < layout<Model>::entries.size(); ++k) {
    layout_entry const& e = layout<Model>::entries[k];
    std::int64_t const size = size_of(e.info.type), first = e.offset * size, end = first + e.info.count() * size;
    std::string name;
    for (parameter_view const& v : views)
      if (v.first_byte() >= first && v.first_byte() < end) name = v.first_byte() == first ? v.name : detail::common_name(name, v.name);
    out.entries.push_back(states.divides_parameters() ? kept(of_parameters, name, k) : stored_names::entry{name, first, end});
  }
  for (int s = 0; s < states; ++s) {
    auto& state = out.states.emplace_back();
    if (states.of(s) == per::step) state.push_back({"the step", 0, numbers_of_step * size_of(layout<Model>::type)});
    for (int k = 0; k < layout<Model>::entries.size(); ++k) {
      layout_entry const& e = layout<Model>::entries[k];
      if (!layout<Model>::trains(e) || !detail::has_state(states.of(s), e.rank)) continue;
      if (states.divides(s)) {
        state.push_back(kept(of_states, out.entries[static_cast<std::size_t>(k)].name, k));
        continue;
      }
      std::int64_t const size = size_of(e.info.type), first = detail::place_in_state<Model>(states.of(s), k) * size;
      state.push_back({out.entries[static_cast<std::size_t>(k)].name, first, first + detail::state_info(states.of(s), e.info, e.rank).count() * size});
    }
  }
  return out;
}

}  // namespace tx
