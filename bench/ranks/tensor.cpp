// Usage: mpirun -n 2 bench_tensor [--steps N] [--rounds N] [--threads N] [--only N]
// Two ranks divide the products of a training step (tensor_parallel<2>).
#include "one_batch.hpp"

#include <tx/dist/tensor_parallel.hpp>

int main(int argc, char** argv) { return run<step_with<>, step_with<tx::tensor_parallel<2>>>("bench_tensor", argc, argv); }
