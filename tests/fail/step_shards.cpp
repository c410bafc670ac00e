// More shards of a rank than there may be.
// expect: tx::virtual_shards: 1 to 8 shards a rank. FIX:
#include <tx/train/step.hpp>

tx::virtual_shards<9> a;
