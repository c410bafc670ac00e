// What kernels for devices move beside operands and results, and what of their arithmetic runs on units for matrices: for inspect/roofline.hpp, by the
// formulas of target.hpp.
#pragma once

#include <tx/backends/device/product_end.hpp>
#include <tx/backends/device/target.hpp>
#include <tx/ops/attention_facts.hpp>
#include <tx/plan/kernel_cost.hpp>

#include <string_view>
#include <vector>

namespace tx::backends::device {

// Is nothing made of a whole row or column, so that an epilogue runs on tiles?
template <class Kernel>
bool works_by_element(Kernel const& k) {
  bool all = true;
  for (auto const& l : k.lets) all = all && l.shape == exec::form::map;
  for (exec::out_sig const& o : k.outs) all = all && !o.per_row && o.shape == exec::form::map;
  return all;
}
// Sums over rows are added up by share.
template <class Kernel>
double share_bytes(Kernel const& k) {
  double bytes = 0;
  for (int o = 0; o < k.sig.outs; ++o)
    if (k.out(o).shape == exec::form::col_reduce) bytes += 2.0 * shares_of(k.c.rows) * static_cast<double>(k.width(o) * size_of(k.out(o).type));
  return bytes;
}
// Does a library give what is made of a product?
template <class Kernel>
bool ends_with_product(Kernel const& k) {
  auto const named = [](std::string_view op) { return op == "add" ? end_op::add : op == "mul" ? end_op::mul : op == "cast" ? end_op::cast : op == "copy" ? end_op::copy : end_op::other; };
  std::vector<end_let> lets;
  for (auto const& l : k.lets) lets.push_back({named(l.op.name), l.type, l.shape, {l.operand[0], l.operand[1]}});
  return k.written_by(0).rank == 1 && product_end::of(k.sig.type, k.ins, lets, k.outs).known;
}
// Results of a product that wait for a kernel that makes of them what is wanted: written once, read once.
template <bool Library, class Kernel>
double waiting_bytes(Kernel const& k) {
  bool const by_library = Library && takes_product(k.sig.type, k.c) && (!works_by_element(k) || epilogue_follows(k.sig.type, k.c));
  bool const follows = by_library ? !ends_with_product(k) : !works_by_element(k) && !k.lets.empty();
  return follows ? 2.0 * static_cast<double>(k.c.rows * k.c.cols * size_of(sum_type(k.sig.type))) : 0;
}
// Sums of parts of the depth.
template <bool Library, matrix_units Units, class Kernel>
double part_bytes(Kernel const& k) {
  exec::call const& c = k.c;
  if (Library && takes_product(k.sig.type, c)) return 0;
  int const tile = tile_of(k.sig.type, Units);
  std::int64_t const tiles = tiles_of(tile, c.batch > 0 ? c.rows / c.batch : 0, c.cols, c.batch);
  int const parts = depth_parts(tiles, c.depth);
  return parts > 1 ? 2.0 * static_cast<double>(parts * tiles * tile * tile * size_of(sum_type(k.sig.type))) : 0;
}
// Kernels that a gradient of attention is: over queries and over keys, and where there is a gradient of a bias over that; 0 of another op.
template <class Kernel>
int gradient_kernels(Kernel const& k) {
  std::string_view const name = k.sig.op.name;
  return name == "attention_gradient" || name == "joined_attention_gradient" ? 2 : name == "biased_attention_gradient" ? 3 : 0;
}
// Attention's products: of scores and of values forward. Backward each kernel has the scores and the gradient of probabilities anew, and there is one product for
// each of q, k and v.
template <class Kernel>
double attention_flops(Kernel const& k) {
  int const gradients = gradient_kernels(k);
  bool const gradient = gradients > 0;
  if (!gradient && std::string_view(k.sig.op.name) != "attention") return 0;
  attention_facts const f = attention_facts_of(k.c.at);
  int const first = gradient ? 4 : 0;  // behind its result's gradient, its result and two numbers of each query
  exec::operand_ref const &q = k.operand(first), &keys = k.operand(first + 1);
  if (q.rank != 3) return 0;  // packed: the lengths of texts are not planned
  double const scores = static_cast<double>(q.extent[0]) * q.extent[1] * keys.extent[1] * f.heads, head = static_cast<double>(q.extent[2]) / f.heads;
  return (gradient ? 4 * gradients + 6 : 4) * scores * head * (f.causal ? 0.5 : 1);
}

template <bool Library, matrix_units Units>
struct work {
  template <class Kernel>
  static void add(kernel_cost& out, Kernel const& k) {
    exec::call const& c = k.c;
    if (k.has_product()) {
      if (is_storage_only(k.sig.type)) {  // units multiply E4M3 twice as fast as halves
        double const flops = 2.0 * static_cast<double>(c.rows * c.cols * c.depth);
        out.matrix_flops = k.sig.type == dtype::e4m3 ? flops / 2 : flops;
        out.other_flops -= flops;
      }
      double const sides = static_cast<double>((c.rows * c.depth + c.batch * c.depth * c.cols) * size_of(k.sig.type)), waits = waiting_bytes<Library>(k);
      if (waits > 0) out.behind_bytes = out.least_bytes - sides + waits / 2;
      out.moved_bytes += waits + part_bytes<Library, Units>(k);
    }
    if (k.by_rows()) out.moved_bytes += share_bytes(k);
    if (k.sees_whole()) {
      out.matrix_flops = attention_flops(k);
      for (int other = 1; other < gradient_kernels(k); ++other)  // reads q, k, v and the result's gradient again
        for (int const i : {0, 4, 5, 6}) out.moved_bytes += static_cast<double>(exec::elements_of(k.operand(i)) * size_of(k.operand(i).type));
    }
  }
};

}  // namespace tx::backends::device
