// A range of seeds: each program is checked, one that fails is shrunk and printed.
#pragma once

#include "coverage.hpp"
#include "grow_program.hpp"
#include "print_cpp.hpp"
#include "shrink.hpp"

namespace drawn {

// What kind of mistake it is, so that shrinking does not end at another one.
inline std::string kind_of(std::string const& wrong) {
  if (wrong.starts_with("the slope")) return "slope";
  if (wrong.find(", not ") != std::string::npos) return "value";
  std::size_t const at = wrong.rfind(": ");
  std::string kind;
  for (char c : at == std::string::npos || wrong.find("node ") != std::string::npos ? wrong.substr(0, at) : wrong.substr(at + 2))
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) kind += c;
  return kind;
}

inline std::string shrunk(program const& p, std::string const& kind) {
  totals unused;
  program const least = shrinker::run(p, [&](program const& q) {
    std::string const wrong = check(q, unused).wrong;
    return !wrong.empty() && kind_of(wrong) == kind;
  });
  return check(least, unused).wrong + "\n" + as_cpp(least);
}

// Calls failed(seed, what is wrong, program) for each that is; returns false to stop.
template <class Failed>
void check_seeds(unsigned first, unsigned end, totals& sums, coverage* seen, Failed const& failed, std::set<unsigned> const& but = {}) {
  for (unsigned seed = first; seed < end; ++seed) {
    if (but.count(seed) != 0) continue;
    program const p = draw_program(seed);
    if (seen != nullptr) {
      try {
        seen->add(p, record(p, {p.most, -1}).g);
      } catch (tx::invalid const&) {
      }
    }
    verdict const v = check(p, sums);
    if (!v.wrong.empty() && !failed(seed, v.wrong, p)) return;
  }
}

}  // namespace drawn
