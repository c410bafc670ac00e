// Arithmetic, reductions, products, views and look-ups in f32, fused; f64 is in thorough/.
#include "basics.hpp"

TEST_CASE("arithmetic and elementary functions are PyTorch's: f32") { check_arithmetic<float>(1e-6); }

TEST_CASE("reductions, softmax and norms are PyTorch's: f32") { check_reductions<float>(2e-6); }

TEST_CASE("products, views and look-ups are PyTorch's: f32") { check_products<float>(2e-6); }
