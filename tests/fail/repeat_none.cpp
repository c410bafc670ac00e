// A repeat of no blocks.
// expect: tx::repeat: at least one iteration. FIX:
#include <tx/expr/repeat.hpp>

struct block {};
tx::repeat<0, block> c;
