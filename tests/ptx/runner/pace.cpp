#include "pace.hpp"

#include "analysis.hpp"
#include "scanner.hpp"

#include <algorithm>

namespace ptx {

namespace {

// Cycles, of the order that microbenchmarks of such devices find (for one, Luo et al., arXiv 2402.13499). Memory is taken to be busy, and is further away than when it is idle.
constexpr int of_arithmetic = 4, of_special = 20, of_shared = 30, of_near_memory = 270, of_memory = 700, of_exchange = 25, of_matrices = 33;

// Operands at the front that are written: none, one, or those in its braces.
int results_of(instruction const& i, std::string const& name) {
  if (i.kind == flow::branch || i.kind == flow::leave || i.count == 0) return 0;
  for (char const* const without : {"st", "red", "bar", "barrier", "cp", "membar", "fence", "prefetch"})
    if (name == without) return 0;
  std::size_t const space = i.text.find(' ', i.text[0] == '@' ? i.text.find(' ') + 1 : 0);
  std::string const first = trimmed(i.text.substr(space, i.text.find(i.text.find('{') == i.text.find_first_not_of(" \t", space) ? '}' : ',', space) - space));
  return first.empty() ? 1 : static_cast<int>(std::ranges::count(first, first[0] == '{' ? ',' : '|')) + 1;
}

timing timing_of(instruction const& i) {
  auto const name = name_of(i);
  auto const has = [&](char const* part) { return std::ranges::find(name, part) != name.end(); };
  std::string const& type = name.back();
  bool const wide = type.size() > 1 && type.substr(1) == "64", is_integer = type[0] == 's' || type[0] == 'u' || type[0] == 'b';
  timing t;
  t.results = results_of(i, name[0]);
  t.cycles = of_arithmetic;
  t.ends = i.kind == flow::branch || i.kind == flow::leave || i.kind == flow::barrier;
  if (name[0] == "ld" && !has("param") && !has("local")) {
    t.loads = !has("shared");
    t.is_generic = !has("global") && !has("shared");
    t.cycles = of_shared;
  } else if (name[0] == "st" && !has("shared") && !has("local")) {
    t.stores = true;
    t.is_generic = !has("global");
  } else if (name[0] == "div" || name[0] == "rem") {
    t.slots = is_integer ? (wide ? 70 : 18) : 9;
    t.cycles = is_integer ? (wide ? 300 : 80) : 45;
  } else if (name[0] == "shfl" || name[0] == "vote" || name[0] == "atom") {
    t.cycles = name[0] == "atom" ? of_memory : of_exchange;
  } else if (name[0] == "mma" || name[0] == "ldmatrix") {
    t.cycles = of_matrices;
  } else if (has("approx") || name[0] == "ex2" || name[0] == "rcp" || name[0] == "sqrt" || name[0] == "rsqrt") {
    t.slots = 2;
    t.cycles = of_special;
  } else if (is_integer && wide && (name[0] == "mul" || name[0] == "mad")) {
    t.slots = 3;
    t.cycles = 3 * of_arithmetic;
  } else if (is_integer && wide && name[0] != "mov" && name[0] != "cvta") {
    t.slots = 2;
  }
  if (i.kind == flow::plain && (name[0] == "mov" || name[0] == "cvta" || name[0] == "join" || name[0] == "split" || has("param"))) t.slots = 0;  // what ptxas finds no work in
  return t;
}

}  // namespace

pace::pace(kernel const& k) : of_(k) {
  for (instruction const& i : k.code) timing_.push_back(timing_of(i));
  for (instruction const& i : k.code)  // a stretch ends before a label, too
    if (i.kind == flow::branch && i.target > 0) timing_[static_cast<std::size_t>(i.target - 1)].ends = true;
}

void pace::note(clock& c, int at, memory where) {
  instruction const& i = of_.code[static_cast<std::size_t>(at)];
  timing const& t = of(at);
  auto const ready = [&](slot s) -> std::uint64_t& { return c.ready_[static_cast<std::size_t>(s.at / 4)]; };
  std::uint64_t start = c.now_;
  if (i.guard.at >= 0) start = std::max(start, ready(i.guard));
  for (int k = t.results; k < i.count; ++k) start = std::max(start, ready(i.slots[static_cast<std::size_t>(k)]));
  int cycles = t.cycles;
  if (where == memory::shared) cycles = of_shared;
  if (where == memory::near) cycles = of_near_memory;
  if (where == memory::far) cycles = of_memory;
  if (where != memory::none && t.stores) cycles = 1;
  for (int k = 0; k < t.results; ++k) ready(i.slots[static_cast<std::size_t>(k)]) = start + static_cast<std::uint64_t>(cycles);
  used.instructions += static_cast<std::uint64_t>(t.slots);
  c.last_ = std::max(c.last_ + static_cast<std::uint64_t>(t.slots), start);
  if (t.ends) c.now_ = c.last_;
}

}  // namespace ptx
