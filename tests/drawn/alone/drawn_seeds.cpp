// Usage: drawn_seeds FIRST END [failures N] [count] [print] [list] [but SEED...]
// Checks the drawn programs of a range of seeds and tells what fails, the first N (3) of each kind shrunk; with 0 it ends at the first.
// The exit status is 1 if any does. `count`: also how often ops and features were drawn. `list`: only the seeds that fail. `print`:
// the C++ of all instead. `but`: leaves seeds out.
// The last line is "programs P failed F kernels K arena A handed H refused R": sums over all plans, to compare passes by.
#include "../seeds.hpp"

#include <cstdlib>
#include <iostream>

namespace {

// What a program of its own is made of: see ../compiled.hpp. Programs that speak to other ranks, or that are refused, are left out.
int print(unsigned first, unsigned end) {
  for (unsigned seed = first; seed < end; ++seed) {
    drawn::program const p = drawn::draw_program(seed);
    drawn::cpp_printer printer(p);
    std::string const text = printer.run("recorded_" + std::to_string(seed));
    drawn::totals unused;
    if (text.find("reduced_by_all") != std::string::npos || p.end.several_ranks || !drawn::check(p, unused).refused.empty()) continue;
    std::cout << "// seed " << seed << '\n' << text << "inline constexpr drawn::compiled_program program_" << seed << "{" << seed << ", &recorded_" << seed << ", " << printer.ending()
              << ", " << p.most << ", " << printer.type(p.type) << "};\n\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: drawn_seeds FIRST END [failures N] [count] [print] [list] [but SEED...]\n";
    return 2;
  }
  auto const first = static_cast<unsigned>(std::atol(argv[1])), end = static_cast<unsigned>(std::atol(argv[2]));
  int most = 3;
  bool counts = false, lists = false;
  std::set<unsigned> but;
  for (int k = 3; k < argc; ++k) {
    std::string const word = argv[k];
    if (word == "failures" && k + 1 < argc) most = std::atoi(argv[++k]);
    if (word == "count") counts = true;
    if (word == "list") lists = true;
    while (word == "but" && k + 1 < argc) but.insert(static_cast<unsigned>(std::atol(argv[++k])));
    if (word == "print") {
      return print(first, end);
    }
  }
  drawn::totals sums;
  drawn::coverage seen;
  std::map<std::string, int> kinds;
  int failures = 0;
  drawn::check_seeds(first, end, sums, counts ? &seen : nullptr, [&](unsigned seed, std::string const& wrong, drawn::program const& p) {
    std::string const kind = drawn::kind_of(wrong);
    ++failures;
    if (lists) {
      std::cout << "fails " << seed << '\n';
      return true;
    }
    if (++kinds[kind] > most) return most > 0;
    std::cout << "seed " << seed << ": " << wrong << "\nshrunk: " << drawn::shrunk(p, kind) << std::endl;
    return true;
  }, but);
  for (auto const& [kind, n] : kinds) std::cout << n << " x " << kind << '\n';
  for (auto const& [op, n] : seen.ops) std::cout << "op " << op << ' ' << n << ", planned " << sums.planned[op] << '\n';
  for (auto const& [feature, n] : seen.features) std::cout << "feature " << feature << ": " << n << '\n';
  std::cout << "walks " << sums.walks << " banded " << sums.banded << '\n';
  std::cout << "programs " << sums.programs << " failed " << failures << " kernels " << sums.kernels << " arena " << sums.arena << " handed " << sums.handed << " refused " << sums.unfinished << std::endl;
  return failures == 0 ? 0 : 1;
}
