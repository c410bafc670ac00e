// Tensors of too many axes, no classes, no groups.
// several errors
// expect: tx: a tensor has at most tx::max_rank axes
// expect somewhere: tx::one_hot: there is at least one class
// expect somewhere: tx::group_norm: there is at least one group
#include <tx/ops/group_norm.hpp>
#include <tx/ops/one_hot.hpp>

constexpr auto seven = tx::make_shape<1, 1, 1, 1, 1, 1, 1>();
tx::detail::one_hot_fn<0, tx::dtype::f32> a;
tx::detail::group_norm_fn<0> b;
