// A body of a scan that hands on a member of a struct with another element type than it was given.
// expect: tx::scan, tx::repeat: a member of a carry is handed on with another element type or shape than it was given
// expect somewhere: member_of_carry<1, tx::tensor<float>, tx::tensor<int>
#include <tx/expr/scan.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/step/function.hpp>

using namespace tx;
template <class State, class Count>
struct counted {
  State state;
  Count count;
};
template <class State, class Count>
counted(State, Count) -> counted<State, Count>;
constexpr auto f = [](tensor<float, 2> h, tensor<i32> n) {
  return scan<3>([](auto const& at) { return counted{at.state + at.state, cast<f32>(at.count)}; }, counted{h, n});
};
static_assert(function<f>::memory.arena > 0);
