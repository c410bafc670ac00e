// Constant elements as a DLPack tensor that has no place to say so.
// expect: tx::dlpack::lend: an unversioned tensor cannot say that it is only to be read. FIX:
// lend<tx::dlpack::managed_tensor_versioned>, or copy_of
#include <tx/run/dlpack.hpp>

void hand_over(tx::array_view<float const> view) { auto const lent = tx::dlpack::lend(view, nullptr); }
