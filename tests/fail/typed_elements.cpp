// All elements at once of a model whose parameters have several types.
// expect: tx: the parameters of this model have several types. FIX: trained_elements()
#include <tx/backends/cpu.hpp>
#include <tx/run/parameter_memory.hpp>

struct model {
  tx::param<tx::tensor<float, 3>> w;
  tx::param<tx::tensor<tx::bf16, 3>, tx::init::zeros, tx::frozen> table;
};
auto f(tx::parameter_block<model, tx::cpu>& all) { return all.elements(); }
