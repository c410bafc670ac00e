// A processor that lacks what a program was compiled for. (tests/refused is such a program.)
#include <tx/backends/cpu/machine.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/add.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

using tx::backends::cpu::require_instructions;

namespace {

// A backend on a machine that cannot run it; nothing may be allocated there.
struct refusing : tx::reference {
  static inline int allocations = 0;
  static std::byte* allocate(std::int64_t count) {
    ++allocations;
    return tx::reference::allocate(count);
  }
  static void check_machine() { require_instructions({{"AVX", true}, {"AVX-512", false}}); }
};
constexpr auto twice = [](tx::tensor<float, 3> x) { return x + x; };
using program = tx::function<twice>;

}  // namespace

TEST_CASE("the first set of instructions that is missing is named, with what to do", "[machine]") {
  CHECK_NOTHROW(require_instructions({}));
  CHECK_NOTHROW(require_instructions({{"AVX2", true}, {"FMA", true}}));
  CHECK_THROWS_AS(require_instructions({{"AVX2", false}}), tx::error);
  CHECK_THROWS_WITH(
      require_instructions({{"AVX2", true}, {"FMA", false}, {"BMI2", false}}),
      Catch::StartsWith("this program was compiled for FMA, which this processor lacks. FIX: build with -DTX_ARCH="));
}

TEST_CASE("this machine has what these tests were compiled for", "[machine]") { CHECK_NOTHROW(require_instructions()); }

TEST_CASE("an executor does not start on a machine that is refused", "[machine]") {
  CHECK_THROWS_WITH((tx::executor<program, refusing>{}),
                    Catch::Contains("compiled for AVX-512, which this processor lacks"));
  CHECK(refusing::allocations == 0);
  tx::executor<program, tx::reference> run{};
  CHECK(run(std::vector<float>{1, 2, 3}).value[2] == 6);
}
