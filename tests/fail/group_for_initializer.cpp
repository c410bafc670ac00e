// An initializer where a table's group stands.
// expect: tx::param: what stands for the group is none, which has a rate and a decay. FIX: param<tensor, initializer, group>; linear<In, Out, initializer>, embedding<Rows, Width, group, initializer>
#include <tx/nn/embedding.hpp>

struct model {
  tx::nn::embedding<120, 16, tx::init::normal<1, 2>> words;
};
static_assert(sizeof(model) > 0);
