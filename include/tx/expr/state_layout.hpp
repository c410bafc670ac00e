// What an optimizer keeps of the parameters that it trains, and where. Each of its states is a flat block of its own:
//
//   of a parameter   [a, b]   [n]
//   per::element     [a, b]   [n]    laid out as the parameters are
//   per::row         [a, 1]   [n]    all axes but the last
//   per::column      [1, b]   none   all axes but the last but one
//   per::tensor      [1, 1]   [1]
//   per::step        two numbers, of no parameter: what a step keeps of itself, as its loss scale
//
// States per element may be divided among ranks: see state_portions.hpp. Vectors and scalars
// have no columns: all elements are rows. Extents of repeats stand before these, so each block of a repeat has its own.
#pragma once

#include <tx/expr/state_portions.hpp>

#include <concepts>

namespace tx {

inline constexpr int max_states = 4;

enum class per : std::uint8_t { element, row, column, tensor, step };

inline constexpr std::int64_t numbers_of_step = 2;  // that a state per::step has

// What each state of an optimizer has a number for, in their order; as a number, how many states there are. A number n is n states for each element.
class state_kinds {
 public:
  constexpr state_kinds(int count = 0) : count_(count) {}
  template <std::same_as<per>... More>
  constexpr state_kinds(per first, More... more) {
    static_assert(sizeof...(More) < max_states, "tx::state_kinds: an optimizer has at most 4 states. FIX: keep two numbers in one, or compute one anew");
    for (per const kind : {first, more...}) kinds_[count_++] = kind;
  }

  constexpr operator int() const { return count_; }
  constexpr per of(int state) const { return state < max_states ? kinds_[state] : per::element; }
  // The first of that kind; -1: there is none.
  constexpr int number_of(per kind) const {
    for (int s = 0; s < count_; ++s)
      if (of(s) == kind) return s;
    return -1;
  }
  // These, and one more behind them.
  constexpr state_kinds and_one(per kind) const {
    state_kinds all = *this;
    if (count_ < max_states) all.kinds_[count_] = kind;
    ++all.count_;
    return all;
  }
  // The same, of which ranks keep portions; of_parameters: so many of the divisions, the first, are of the parameters too.
  constexpr state_kinds divided_by(portioning const& how, int of_parameters = 0) const {
    state_kinds all = *this;
    all.how_ = how;
    all.of_parameters_ = of_parameters < how.count ? of_parameters : how.count;
    return all;
  }
  constexpr portioning const& portions() const { return how_; }
  constexpr portioning portions_of_parameters() const { return how_.first(of_parameters_); }
  constexpr bool divided() const { return how_.count > 0; }
  // Does each rank keep a portion of that state? All of them have the numbers of a step.
  constexpr bool divides(int state) const { return divided() && of(state) != per::step; }
  constexpr bool divides_parameters() const { return of_parameters_ > 0; }
  // The same, which lie in the host's memory where a program runs on a device.
  constexpr state_kinds kept_by_host(bool it_does = true) const {
    state_kinds all = *this;
    all.on_host_ = it_does;
    return all;
  }
  constexpr bool on_host() const { return on_host_; }
  // Do parameters beside these lie as beside others?
  constexpr bool has_parameters_as(state_kinds const& other) const { return portions_of_parameters() == other.portions_of_parameters(); }
  // Are the first states those of another optimizer, and is none of that one's missing?
  constexpr bool begin_with(state_kinds const& other) const {
    bool same = other.count_ <= count_ && (other.count_ == 0 || (other.how_ == how_ && other.on_host_ == on_host_));
    for (int s = 0; s < other.count_ && same; ++s) same = of(s) == other.of(s);
    return same;
  }
  // Has each of them a number for each element, or none for any parameter?
  constexpr bool only_elements() const {
    for (int s = 0; s < count_; ++s)
      if (of(s) != per::element && of(s) != per::step) return false;
    return true;
  }

 private:
  per kinds_[max_states] = {};
  int count_ = 0;
  portioning how_{};
  int of_parameters_ = 0;  // divisions
  bool on_host_ = false;
};

namespace detail {

// Has a tensor, of so many axes without those of repeats, numbers in a state of that kind?
constexpr bool has_state(per kind, int own_rank) { return kind != per::step && (kind != per::column || own_rank >= 2); }

// Its state where it has one; axes of repeats stand before its own.
constexpr value_info state_info(per kind, value_info of, int own_rank) {
  int const rank = of.dims.rank;
  if (kind == per::row && own_rank >= 2) of.dims.set(rank - 1, 1);
  if (kind == per::column && own_rank >= 2) of.dims.set(rank - 2, 1);
  if (kind == per::tensor)
    for (int a = rank - own_rank; a < rank; ++a) of.dims.set(a, 1);
  return of;
}

// Where an entry of a model's layout lies within a state; of the number of entries: how many elements the state has, padding included.
template <class Model>
constexpr std::int64_t place_in_state(per kind, int entry) {
  using of_model = layout<Model>;
  if (kind == per::element) return entry < of_model::entries.size() ? of_model::entries[entry].offset : of_model::trained;
  if (kind == per::step) return entry < of_model::entries.size() ? 0 : numbers_of_step;
  constexpr std::int64_t line = of_model::line;
  std::int64_t at = 0;
  for (int k = 0; k < entry; ++k) {
    layout_entry const& e = of_model::entries[k];
    if (of_model::trains(e) && has_state(kind, e.rank)) at += (state_info(kind, e.info, e.rank).count() + line - 1) / line * line;
  }
  return at;
}
template <class Model>
constexpr std::int64_t state_elements(per kind) {
  return place_in_state<Model>(kind, layout<Model>::entries.size());
}
// Those that a rank keeps of state s.
template <class Model>
constexpr std::int64_t elements_of_state(state_kinds const& kinds, int s) {
  return kinds.divides(s) ? kept_elements<Model>(kinds.portions()) : state_elements<Model>(kinds.of(s));
}
// Those of the parameters that are trained, and of all, counted in elements of the former; what is not trained lies behind them, and is never divided.
template <class Model>
constexpr std::int64_t elements_that_are_trained(state_kinds const& kinds) {
  return kinds.divides_parameters() ? kept_elements<Model>(kinds.portions_of_parameters()) : layout<Model>::trained;
}
template <class Model>
constexpr std::int64_t elements_of_parameters(state_kinds const& kinds) {
  return elements_that_are_trained<Model>(kinds) + layout<Model>::size - layout<Model>::trained;
}
// And of the first states, so many.
template <class Model>
constexpr std::int64_t elements_of_states(state_kinds const& kinds, int states) {
  std::int64_t sum = 0;
  for (int s = 0; s < states; ++s) sum += elements_of_state<Model>(kinds, s);
  return sum;
}

}  // namespace detail

}  // namespace tx
