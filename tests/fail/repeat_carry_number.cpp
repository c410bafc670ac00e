// A repeat that is given a number, which is no tensor.
// expect: carry is no tensor. FIX: a tensor, or a struct or std::tuple of tensors
#include <tx/expr/repeat.hpp>
#include <tx/ops/mul.hpp>
#include <tx/step/function.hpp>

struct block {
  tx::param<tx::tensor<float, 8>> scale;
  constexpr auto operator()(auto const& x) const { return x * scale; }
};
struct model {
  tx::repeat<2, block> layer;
};
constexpr auto f = [](model const& m, tx::tensor<float, 8>) { return m.layer(3.0f); };
using result = decltype(f({}, {}));
