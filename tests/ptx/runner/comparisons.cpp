// setp: predicates from two numbers.
#include "instructions.hpp"

namespace ptx {

namespace {

// Of numbers with an order: equal, less, greater; NaN has none of them, and an unordered comparison of it is true.
struct relation {
  bool equal, less, greater, none;
  bool operator()(bool is_equal, bool is_less, bool is_greater) const {
    return (equal && is_equal) || (less && is_less) || (greater && is_greater) ||
           (none && !is_equal && !is_less && !is_greater);
  }
};

std::optional<relation> relation_of(std::string_view name) {
  struct entry {
    std::string_view name;
    relation r;
  };
  constexpr entry all[] = {
      {"eq", {true, false, false, false}}, {"ne", {false, true, true, false}},  {"lt", {false, true, false, false}},
      {"le", {true, true, false, false}},  {"gt", {false, false, true, false}}, {"ge", {true, false, true, false}},
      {"lo", {false, true, false, false}}, {"ls", {true, true, false, false}},  {"hi", {false, false, true, false}},
      {"hs", {true, false, true, false}},  {"equ", {true, false, false, true}}, {"neu", {false, true, true, true}},
      {"ltu", {false, true, false, true}}, {"leu", {true, true, false, true}},  {"gtu", {false, false, true, true}},
      {"geu", {true, false, true, true}},  {"num", {true, true, true, false}},  {"nan", {false, false, false, true}}};
  for (auto const& e : all)
    if (e.name == name) return e.r;
  return {};
}

enum with : int { nothing = 0, and_it = 1, or_it = 2, xor_it = 3 };
// `number`: the four bits of a relation, then with what predicate it goes together, and whether there are two results.
constexpr int packed(relation r, int combined, bool two) {
  return int{r.equal} | int{r.less} << 1 | int{r.greater} << 2 | int{r.none} << 3 | combined << 4 | int{two} << 6;
}

template <class T>
void compare(warp& w, instruction const& i, lanes m) {
  int const n = i.number;
  relation const r{(n & 1) != 0, (n & 2) != 0, (n & 4) != 0, (n & 8) != 0};
  int const first = (n >> 6) + 1;
  T const* const a = lanes_of<T>(w, i, first);
  T const* const b = lanes_of<T>(w, i, first + 1);
  lanes is = 0;
  each(m, [&](int l) { is |= lanes{r(a[l] == b[l], a[l]<b[l], a[l]> b[l])} << l; });
  lanes is_not = ~is;
  if (int const combined = n >> 4 & 3; combined != nothing) {
    lanes const p = w.predicate(i.slots[static_cast<std::size_t>(first + 2)]);
    auto const together = [&](lanes x) { return combined == and_it ? x & p : combined == or_it ? x | p : x ^ p; };
    is = together(is);
    is_not = together(is_not);
  }
  lanes& d = w.predicate(i.slots[0]);
  d = (d & ~m) | (is & m);
  if (first == 2) {
    lanes& e = w.predicate(i.slots[1]);
    e = (e & ~m) | (is_not & m);
  }
}

}  // namespace

found comparison(spelled const& s) {
  if (s.name() != "setp" || s.parts.size() < 3 || s.parts.size() > 4 || s.has("ftz")) return {};
  auto const r = relation_of(s.parts[1]);
  if (!r) return {};
  int const combined = s.has("and") ? and_it : s.has("or") ? or_it : s.has("xor") ? xor_it : nothing;
  return with_type(s.type(), [&]<class T>() -> found {
    if constexpr (std::is_same_v<T, pair_of<half>> || std::is_same_v<T, pair_of<brain_half>>)
      return {};
    else
      return meaning{compare<T>, flow::plain, packed(*r, combined, s.two_results)};
  });
}

}  // namespace ptx
