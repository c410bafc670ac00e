// Shards whose sums would be no part of the tree over all ranks.
// expect: virtual_shards on several ranks must be 1, 2, 4 or 8
#include <tx/dist/data_parallel.hpp>

constexpr tx::step_options options = tx::options_of<tx::data_parallel<2>, tx::virtual_shards<3>>();
