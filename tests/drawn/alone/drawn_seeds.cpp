// Usage: drawn_seeds FIRST END [failures N] [count] [print]
// Checks the drawn programs of a range of seeds and tells what fails, the first N (3) of each kind shrunk. The exit status is 1 if any
// does. `count`: also how often ops and features were drawn. `print`: their C++ instead.
// The last line is "programs P failed F kernels K arena A": sums of fused plans, to compare passes by.
#include "../seeds.hpp"

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: drawn_seeds FIRST END [failures N] [count] [print]\n";
    return 2;
  }
  auto const first = static_cast<unsigned>(std::atol(argv[1])), end = static_cast<unsigned>(std::atol(argv[2]));
  int most = 3;
  bool counts = false;
  for (int k = 3; k < argc; ++k) {
    std::string const word = argv[k];
    if (word == "failures" && k + 1 < argc) most = std::atoi(argv[++k]);
    if (word == "count") counts = true;
    if (word == "print") {
      for (unsigned seed = first; seed < end; ++seed) std::cout << "// seed " << seed << '\n' << drawn::as_cpp(drawn::draw_program(seed)) << '\n';
      return 0;
    }
  }
  drawn::totals sums;
  drawn::coverage seen;
  std::map<std::string, int> kinds;
  int failures = 0;
  drawn::check_seeds(first, end, sums, counts ? &seen : nullptr, [&](unsigned seed, std::string const& wrong, drawn::program const& p) {
    std::string const kind = drawn::kind_of(wrong);
    ++failures;
    if (++kinds[kind] > most) return most > 0;
    std::cout << "seed " << seed << ": " << wrong << "\nshrunk: " << drawn::shrunk(p, kind) << std::endl;
    return true;
  });
  for (auto const& [kind, n] : kinds) std::cout << n << " x " << kind << '\n';
  for (auto const& [op, n] : seen.ops) std::cout << "op " << op << ' ' << n << ", planned " << sums.planned[op] << '\n';
  for (auto const& [feature, n] : seen.features) std::cout << "feature " << feature << ": " << n << '\n';
  std::cout << "unfinished " << sums.unfinished << " walks " << sums.walks << " banded " << sums.banded << '\n';
  std::cout << "programs " << sums.programs << " failed " << failures << " kernels " << sums.kernels << " arena " << sums.arena << std::endl;
  return failures == 0 ? 0 : 1;
}
