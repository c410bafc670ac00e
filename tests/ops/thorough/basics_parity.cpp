// Arithmetic, reductions, products, views and look-ups in f64, with a kernel for each op.
#include "../basics.hpp"

TEST_CASE("arithmetic and elementary functions are PyTorch's: f64, a kernel for each op") {
  check_arithmetic<double, unfused>(1e-12);
}

TEST_CASE("reductions, softmax and norms are PyTorch's: f64, a kernel for each op") {
  check_reductions<double, unfused>(1e-12);
}

TEST_CASE("products, views and look-ups are PyTorch's: f64, a kernel for each op") {
  check_products<double, unfused>(1e-12);
}
