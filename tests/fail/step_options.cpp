// Options of steps beyond their ranges.
// several errors
// expect: tx::mixed takes a half, or e4m3. FIX:
// expect somewhere: tx::recompute takes a number of bytes
// expect somewhere: tx::accumulate takes a number of parts. FIX: 1 or more
// expect somewhere: tx::data_parallel: at least one rank. FIX:
#include <tx/train/step.hpp>

tx::mixed<float> a;
tx::recompute<-1> b;
tx::accumulate<0> c;
tx::data_parallel<-1> d;
