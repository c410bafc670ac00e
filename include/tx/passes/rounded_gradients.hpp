// A product of the backward pass whose results wait for another kernel is handed on as the halves that it is made of: for targets whose products are a library's, which
// rounds as it stores. So are gradients of what attention multiplies. What is added to other gradients, what a loop hands out and what an update reads stays f32. PyTorch's
// autocast hands on all gradients between products so. (A product that is computed again for the backward pass counts as one of it.) A product of E4M3 is rounded behind its scales.
//
//   before   p = matmul(a, b) of halves, [16384, 3072] f32, read by the kernel of gelu's gradient
//   after    h = cast<bf16>(p), and who read p reads cast<f32>(h): half as many bytes are written, and read
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/attention.hpp>
#include <tx/ops/cast.hpp>
#include <tx/passes/groups.hpp>
#include <tx/passes/rewrite.hpp>
#include <tx/passes/scaled_product.hpp>

namespace tx::passes {

namespace detail {

class waiting_products {
 public:
  constexpr waiting_products(graph const& g, bool (*ends)(product_shape const&)) : waits_(g.size(), 0) {
    for (int id = 0; id < g.size(); ++id) {
      node const& n = g[id];
      bool const candidate = n.op->kind == op_kind::product && n.when == step_phase::backward && n.info.dims.bounds == 0 && is_half(g.info(g.input(n, 0)).type) && !is_half(n.info.type);
      int const scaled = n.when == step_phase::backward && n.info.dims.bounds == 0 ? product_scaled_by(g, id) : -1;
      bool const of_attention = n.op == &attention_gradient_info && is_half(g.info(g.input(n, 4)).type);
      waits_[id] = of_attention || (scaled >= 0 && ends(product_shape_of(g, g[scaled]))) || (candidate && n.info.dims.rank >= 2 && ends(product_shape_of(g, n)));
    }
    for (int id = 0; id < g.size(); ++id)
      for (int k = 0; k < g[id].inputs; ++k)
        if (g[id].op->kind != op_kind::view && g[id].op != &result_info) read(g, id, g.input(id, k));
    for (region const& r : g.regions)
      for (int value : r.results) keep(g, value);
    for (output const& o : g.outputs) keep(g, o.value);
  }
  // Of a product, scaled perhaps, or of the node of attention's gradient, all of whose results are.
  constexpr bool operator()(int id) const { return waits_[id]; }

 private:
  // Who adds a value up, sees it whole or updates by it wants it as it is, and so does who rounds a product itself.
  constexpr void read(graph const& g, int reader, int value) {
    node const& n = g[reader];
    op_kind const kind = n.op->kind;
    bool const by_element = kind == op_kind::elementwise || kind == op_kind::row_reduce || kind == op_kind::col_reduce;
    bool const rounds = n.op == &cast_info && is_half(n.info.type) && !g.is_result_of_op(shown(g, value));
    if (!by_element || n.op == &add_info || n.when == step_phase::update || rounds) keep(g, value);
  }
  static constexpr int shown(graph const& g, int value) {
    while (g[value].op->kind == op_kind::view) value = g.input(value, 0);
    return value;
  }
  constexpr void keep(graph const& g, int value) {
    value = shown(g, value);
    waits_[g.is_result_of_op(value) ? g.input(value, 0) : value] = 0;
  }

  vec<char> waits_;
};

struct handed_on_as_halves {
  waiting_products const& waits;
  constexpr int operator()(graph& to, int id, node& n, vec<int>& in) const {
    if (n.op == &attention_gradient_info && waits(id)) {
      attention_facts f = attention_facts_of(n.at);
      f.rounds = true;
      n.at = attributes_of(f);
      n.info.type = to.info(in[4]).type;
    }
    if (n.op == &result_info && is_rounded(to, in[0])) {
      n.info.type = to.info(to.input(in[0], 4)).type;
      return -1;
    }
    for (int& value : in)  // all others see numbers of f32; results stand directly behind their op, so each reader widens them for itself
      if (to[value].op == &result_info && to.is_result_of_op(value) && is_rounded(to, to.input(value, 0))) value = cast({&to, value}, sum_type(to.info(value).type)).id;
    if ((n.op->kind != op_kind::product && n.op != &mul_info) || !waits(id)) return -1;
    var const product{&to, to.emit(n.op, in.data(), in.size(), n.at, n.info)};
    return cast(cast(product, n.op == &mul_info ? dtype::bf16 : to.info(in[0]).type), n.info.type).id;
  }

 private:
  static constexpr bool is_rounded(graph const& g, int op) { return g[op].op == &attention_gradient_info && attention_facts_of(g[op].at).rounds; }
};

}  // namespace detail

// ends: which products are a library's, see kernel_limits.
constexpr graph rounded_gradients(graph const& g, bool (*ends)(product_shape const&)) {
  detail::waiting_products const waits(g, ends);
  return rewrite(g, detail::handed_on_as_halves{waits});
}

}  // namespace tx::passes
