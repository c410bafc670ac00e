// Options of steps beyond their ranges.
// several errors
// within 60 lines
// expect: tx::mixed takes a half. FIX:
// expect somewhere: tx::recompute takes a number of bytes
// expect somewhere: tx::accumulate takes a number of parts. FIX: 1 or more
// expect somewhere: tx::data_parallel: at least one rank. FIX:
// expect somewhere: tx::virtual_shards: 1 to 8 shards a rank. FIX:
#include <tx/train/step.hpp>

tx::mixed<float> a;
tx::recompute<-1> b;
tx::accumulate<0> c;
tx::data_parallel<0> d;
tx::virtual_shards<9> e;
