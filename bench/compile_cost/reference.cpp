// How fast this machine compiles, whatever tx does: constant evaluation, instantiation and optimisation over the standard
// library alone. The limits on seconds are stated for a machine that compiles this in the time compile_cost.sh names.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

constexpr unsigned sieve(int most) {  // about as many constant-evaluated steps as a small model's plan
  std::array<bool, 20000> composite{};
  unsigned sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    composite.fill(false);
    for (int i = 2; i < most; ++i) {
      if (composite[static_cast<std::size_t>(i)]) continue;
      sum += static_cast<unsigned>(i);
      for (int k = 2 * i; k < most; k += i) composite[static_cast<std::size_t>(k)] = true;
    }
  }
  return sum;
}
static_assert(sieve(20000) != 0);

template <int I>
struct step {
  template <class T>
  static void apply(T* x, int n) {
    for (int i = 0; i < n; ++i) x[i] = x[i] * static_cast<T>(I + 1) + x[(i * 7 + I) % n];
  }
};
template <class T, int... I>
void all(T* x, int n, std::integer_sequence<int, I...>) {
  (step<I>::apply(x, n), ...);
}

int main(int argc, char** argv) {
  std::vector<float> x(static_cast<std::size_t>(argc) * 100, 1.0f);
  all(x.data(), static_cast<int>(x.size()), std::make_integer_sequence<int, 10>{});
  std::map<std::string, std::function<bool(std::string const&)>> tests;
  tests["word"] = [](std::string const& s) { return std::regex_match(s, std::regex("[a-z]+")); };
  std::sort(x.begin(), x.end());
  return tests["word"](argv[0]) ? static_cast<int>(x[0]) : 0;
}
