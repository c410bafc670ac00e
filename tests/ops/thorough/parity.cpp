// Elementwise ops, compositions and losses in f64: the reference, and the CPU with a kernel for each op.
#include "../elementwise_and_losses.hpp"

TEST_CASE("elementwise ops are PyTorch's: reference, f64") { check_elementwise<tx::reference, double>(1e-12); }

TEST_CASE("elementwise ops are PyTorch's: cpu, f64, a kernel for each op") { check_elementwise<tx::cpu, double, unfused>(1e-12); }

TEST_CASE("reductions and losses are PyTorch's: cpu, f64, a kernel for each op") { check_losses<tx::cpu, double, unfused>(1e-12); }
