// Drawn programs: what each of its plans computes, with every pass, is what the graph says, node by node, to the last bit.
#include "seeds.hpp"
#include "wanted.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace {

using namespace drawn;

#if defined(NDEBUG)
constexpr unsigned everyday = 6000;
#else
constexpr unsigned everyday = 400;  // sanitizers and debuggers see what there is in fewer, too
#endif
constexpr bool enough = everyday >= 6000;  // to say something of the generator
// What all plans of these cost: calls that are made, and bytes of arenas (as GCC records them, and some room for clang's order). How many values they
// hold a band at a time at least, and how many programs may be refused.
constexpr std::int64_t most_kernels = 1'925'000, most_arena = 440'000'000, least_handed = 2'340;
constexpr int least_hoisted = 3;  // programs in which a loop rounds what it sees of a parameter
constexpr int most_refused = 1'168;
constexpr unsigned many = 70'000;  // in each of two processes

// Shrinks the first failure of each kind.
void check_range(unsigned first, unsigned end, totals& sums, coverage* seen) {
  std::map<std::string, int> kinds;
  std::map<std::string, std::string> told;
  check_seeds(first, end, sums, seen, [&](unsigned seed, std::string const& wrong, program const& p) {
    std::string const kind = kind_of(wrong);
    if (kinds[kind]++ == 0 && told.size() < 8) told[kind] = "seed " + std::to_string(seed) + ": " + wrong + "\nshrunk: " + shrunk(p, kind);
    return true;
  });
  for (auto const& [kind, text] : told) {
    INFO(text);
    INFO(kinds[kind] << " programs fail so");
    CHECK(kind.empty());
  }
  CHECK(kinds.empty());
}

std::vector<std::string> headers_of(std::vector<std::string> const& folders) {
  std::vector<std::string> all;
  for (std::string const& folder : folders)
    for (auto const& entry : std::filesystem::directory_iterator(std::string(TX_TEST_DIR) + "/../../include/tx/" + folder))
      if (!entry.is_directory()) all.push_back(entry.path().string());
  return all;
}

}  // namespace

CATCH_TRANSLATE_EXCEPTION(tx::invalid const& e) { return e.what(); }

TEST_CASE("programs that are drawn compute what their graphs say, in every plan") {
  totals sums;
  coverage seen;
  check_range(0, everyday, sums, &seen);

  // The generator itself: what it draws, how often.
  if constexpr (!enough) return;
  CHECK(sums.banded > 500);
  CHECK(sums.remade > 50);
  CHECK(sums.slopes > static_cast<int>(everyday) / 4);
  for (std::string const& op : ops_defined_in(headers_of({"ops", "dist", "graph"}))) {
    INFO("op " << op);
    bool const recorded_alone = op == "gathered_parameter" || op == "summed_gradient" || op == "own_gradient";  // they are gone when a program is recorded
    bool const elsewhere = op == "sum_over_ranks" || op == "swap_ranks" || op == "join" || op == "all_gather_of_next" || op == "begun_all_gather_of_next" || op == "joined_attention_gradient";  // tests/dist/drawn_products.cpp, thorough/drawn_pipelines.cpp, neighbours.cpp and fetched_ahead.cpp draw networks for them, passes/rounded_gradients.cpp has the last
    if (!recorded_alone && !elsewhere) CHECK(seen.ops[op] + seen.ops["begun_" + op] >= least);
  }
  for (char const* const feature : features_wanted) {
    INFO(feature);
    CHECK(seen.features[feature] >= least);
  }

  // What plans cost: rules that only make programs faster or smaller show here. Change these where a pass has become better, or the
  // generator draws others.
  CAPTURE(sums.kernels, sums.arena, sums.handed, sums.hoisted, sums.unfinished);
  CHECK(sums.kernels <= most_kernels);
  CHECK(sums.arena <= most_arena);
  CHECK(sums.handed >= least_handed);
  CHECK(sums.hoisted >= least_hoisted);
  CHECK(sums.unfinished <= most_refused);
}

TEST_CASE("many programs that are drawn, the first half", "[.slow]") {
  totals sums;
  check_range(everyday, everyday + many, sums, nullptr);
}
TEST_CASE("many programs that are drawn, the other half", "[.slow]") {
  totals sums;
  check_range(everyday + many, everyday + 2 * many, sums, nullptr);
}
