// The group of parameters of which some decay and some do not.
// expect: group_of: the pattern matches parameters of several groups. FIX:
#include <tx/expr/group_of.hpp>
#include <tx/nn/linear.hpp>

struct net {
  tx::nn::linear<3, 2> layer;
};
constexpr auto group = tx::group_of<net, "layer.*">;
