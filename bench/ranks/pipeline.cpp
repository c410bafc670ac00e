// Usage: mpirun -n 2 bench_pipeline [--steps N] [--rounds N] [--threads N] [--only N]
// Two ranks have half of the layers each (pipeline<2>), and a batch goes through them in eight parts.
#include "one_batch.hpp"

#include <tx/dist/pipeline.hpp>

int main(int argc, char** argv) { return run<step_with<tx::accumulate<8>>, step_with<tx::accumulate<8>, tx::pipeline<2>>>("bench_pipeline", argc, argv); }
