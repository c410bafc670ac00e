// A mask of other lengths than the sequences have.
// expect: tx::nn: a key mask has the shape [batch, sequence] of the tensor it belongs to
#include <tx/nn/key_mask.hpp>

constexpr auto f = [](tx::tensor<float, 2, 2, 5, 5> scores, tx::tensor<bool, 2, 4> mask) { return tx::nn::mask_keys(scores, mask); };
using result = decltype(f({}, {}));
