// A repeated block that hands back a member of its carry with another shape than it was given.
// expect: tx::scan, tx::repeat: a member of a carry is handed on with another element type or shape than it was given
// expect somewhere: member_of_carry<1, tx::tensor<float>, tx::tensor<float, 8>
#include <tx/expr/repeat.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/sum.hpp>
#include <tx/step/function.hpp>

struct block {
  tx::param<tx::tensor<float, 8>> shift;
  constexpr auto operator()(auto const& carry) const {
    auto const& [x, y] = carry;
    return std::tuple{x + shift, tx::sum(y)};
  }
};
struct model {
  tx::repeat<2, block> layer;
};
constexpr auto f = [](model const& m, tx::tensor<float, 8> x) { return m.layer(std::tuple{x, x}); };
using result = decltype(f({}, {}));
