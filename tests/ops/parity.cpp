// Elementwise ops, compositions and losses in f32, fused; f64 is in thorough/.
#include "elementwise_and_losses.hpp"

TEST_CASE("elementwise ops are PyTorch's: cpu, f32") { check_elementwise<tx::cpu, float>(1e-6); }

TEST_CASE("reductions and losses are PyTorch's: cpu, f32") { check_losses<tx::cpu, float>(2e-6); }

TEST_CASE("a label that is neither a class nor the one to ignore is refused") {
  tx::executor<grad_program<losses<float>, losses_loss<float>>, tx::cpu> run{tx::seed(0)};
  auto const others = [](char const* name) { return file().as<float>("losses.constant." + std::string(name)); };
  auto const with = [&](int label) {
    run(std::vector<tx::i32>{0, label, 4, 2, -100, 2}, others("weights"), others("target"), others("probabilities"));
  };
  CHECK_NOTHROW(with(-100));
  CHECK_THROWS_WITH(with(-99), Catch::Contains("holds -99 at element 1") && Catch::Contains("at least 0"));
  CHECK_THROWS_WITH(with(5), Catch::Contains("holds 5 at element 1") && Catch::Contains("below 5"));
}
