// What a layer gives, and what a product of two narrow matrices beside it adds (Hu et al., LoRA, arXiv 2106.09685, equation 3):
//
//   y + scale * dropout(x) A^T B^T       x [..., In], A [rank, In], B [Out, rank], y [..., Out]
#pragma once

#include <tx/expr/attached.hpp>
#include <tx/expr/param.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/matmul.hpp>

namespace tx::nn {

template <handle Y, handle X>
constexpr Y with_low_rank(Y const& y, X const& x, attachment const& beside) {
  if (beside.down < 0) return y;
  var const own = y, in = x;
  graph& g = *own.g;
  var const seen = beside.dropout > 0 ? dropout(in, beside.dropout) : in;
  var const narrow = matmul(seen, transpose(var{&g, beside.down}));
  return Y{&g, (own + matmul(narrow, transpose(var{&g, beside.up})) * beside.scale).id};
}

}  // namespace tx::nn
