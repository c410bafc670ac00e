// A view of a parameter's bytes as if they were its elements.
// expect: tx::view_of: the parameters of this model have several types
#include <tx/backends/cpu.hpp>
#include <tx/run/parameter_memory.hpp>
#include <tx/run/view.hpp>

struct model {
  tx::param<tx::tensor<float, 3>> w;
  tx::param<tx::tensor<tx::bf16, 3>, tx::init::zeros, tx::frozen> table;
};
auto f(tx::parameter_block<model, tx::cpu>& all) { return tx::view_of(all.tensors()[0]); }
