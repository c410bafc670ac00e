// What the kernels of a program move and compute on a device, and how long they take there at least: the longer of the two, for each kernel
// (Williams, Waterman, Patterson, "Roofline", 2009, https://doi.org/10.1145/1498765.1498785), and what a launch costs.
//
//   for (tx::kernel_cost const& k : tx::costs_of<step, tx::cuda_blas_target>(tx::h100)) std::cout << k.name << " " << k.seconds() << "\n";
#pragma once

#include <tx/backends/cuda/target.hpp>
#include <tx/inspect/profile.hpp>
#include <tx/ops/attention_facts.hpp>

namespace tx {

// What a device does in a second; what is reached, which is less than what its maker prints.
struct device_rates {
  char const* name;
  double bytes;        // of its memory
  double half_flops;   // products of halves, on units for matrices
  double float_flops;  // all other arithmetic
  double launch;       // seconds from the end of a kernel to the start of the next one of a captured graph
};
// A copy of 3,015 GB/s and products of 650 TFLOP/s were measured on an H100 (bench/results/h100.md); an H200 is that with memory of 4.8 TB/s in place of 3.35.
inline constexpr device_rates h100{"H100", 3.0e12, 6.5e14, 4.5e13, 1e-6};
inline constexpr device_rates h200{"H200", 4.3e12, 6.5e14, 4.5e13, 1e-6};

// A call of a program, as often as a run makes it.
struct kernel_cost {
  std::string name;
  std::int64_t runs = 0;
  double matrix_flops = 0;  // on units for matrices, of one call
  double other_flops = 0;
  double least_bytes = 0;   // every operand and result once
  double moved_bytes = 0;   // and what the kernels write for themselves and read again
  double behind_bytes = 0;  // of those, what a second kernel moves, behind a product
  device_rates on{};

  double seconds() const {  // of all its calls
    double const arithmetic = matrix_flops / on.half_flops + other_flops / on.float_flops, memory = (moved_bytes - behind_bytes) / on.bytes;
    double const behind = behind_bytes > 0 ? on.launch + behind_bytes / on.bytes : 0;
    return static_cast<double>(runs) * (on.launch + (arithmetic > memory ? arithmetic : memory) + behind);
  }
};

namespace detail {

// Is nothing made of a whole row or column, so that an epilogue runs on tiles?
inline bool works_by_element(exec::called_kernel const& k) {
  bool all = true;
  for (exec::known_let const& l : k.lets) all = all && l.shape == exec::form::map;
  for (exec::out_sig const& o : k.outs) all = all && !o.per_row && o.shape == exec::form::map;
  return all;
}
// Sums over rows are added up by share.
inline double share_bytes(exec::called_kernel const& k) {
  double bytes = 0;
  for (int o = 0; o < k.sig.outs; ++o)
    if (k.out(o).shape == exec::form::col_reduce) bytes += 2.0 * backends::cuda::shares_of(k.c.rows) * static_cast<double>(k.width(o) * size_of(k.out(o).type));
  return bytes;
}
// Does a library give what is made of a product: it as it is, rounded to halves, added to a value, or with a row of halves added and rounded?
inline bool ends_with_product(exec::called_kernel const& k) {
  if (k.outs.size() != 1 || k.written_by(0).rank != 1) return false;
  auto const is = [&](std::size_t let, std::string_view op) { return std::string_view(k.lets[let].op.name) == op; };
  auto const rounds = [&](std::size_t let) { return is(let, "cast") && is_half(k.lets[let].type) && k.lets[let].type == k.sig.type; };
  switch (k.lets.size()) {
    case 0: return true;
    case 1: return rounds(0) || (is(0, "add") && k.in(k.lets[0].operand[0] + k.lets[0].operand[1]).how == exec::access::contiguous);
    case 3: return is(0, "cast") && k.in(k.lets[0].operand[0]).type == k.sig.type && is(1, "add") && rounds(2);
    default: return false;
  }
}
// Results of a product that wait for a kernel that makes of them what is wanted: written once, read once.
inline double waiting_bytes(exec::called_kernel const& k, bool library) {
  using namespace backends::cuda;
  bool const by_library = library && takes_product(k.sig.type, k.c) && (!works_by_element(k) || epilogue_follows(k.sig.type, k.c));
  bool const follows = by_library ? !ends_with_product(k) : !works_by_element(k) && !k.lets.empty();
  return follows ? 2.0 * static_cast<double>(k.c.rows * k.c.cols * size_of(sum_type(k.sig.type))) : 0;
}
// Sums of parts of the depth.
inline double part_bytes(exec::called_kernel const& k, bool library) {
  using namespace backends::cuda;
  exec::call const& c = k.c;
  if (library && takes_product(k.sig.type, c)) return 0;
  int const tile = tile_of(k.sig.type, true);
  std::int64_t const tiles = tiles_of(tile, c.batch > 0 ? c.rows / c.batch : 0, c.cols, c.batch);
  int const parts = depth_parts(tiles, c.depth);
  return parts > 1 ? 2.0 * static_cast<double>(parts * tiles * tile * tile * size_of(sum_type(k.sig.type))) : 0;
}
// Attention's products: of scores and of values forward. Backward goes over queries and over keys, each with the scores and the gradient of probabilities anew,
// then one product for each of q, k and v.
inline double attention_flops(exec::called_kernel const& k) {
  bool const gradient = std::string_view(k.sig.op.name) == "attention_gradient";
  if (!gradient && std::string_view(k.sig.op.name) != "attention") return 0;
  attention_facts const f = attention_facts_of(k.c.at);
  int const first = gradient ? 4 : 0;  // behind its result's gradient, its result and two numbers of each query
  exec::operand_ref const &q = k.operand(first), &keys = k.operand(first + 1);
  if (q.rank != 3) return 0;  // packed: the lengths of texts are not planned
  double const scores = static_cast<double>(q.extent[0]) * q.extent[1] * keys.extent[1] * f.heads, head = static_cast<double>(q.extent[2]) / f.heads;
  return (gradient ? 14 : 4) * scores * head * (f.causal ? 0.5 : 1);
}

TX_COLD inline kernel_cost cost_of(exec::program_tables const& tables, exec::call const& c, bool library, device_rates const& on) {
  exec::called_kernel const k(tables, c);
  profiled_kernel const planned = described({&c, 0, 0, 0, c.rows, {}}, k);
  kernel_cost out;
  out.name = planned.name;
  out.runs = exec::runs_of(tables, c).all();
  out.on = on;
  out.least_bytes = out.moved_bytes = static_cast<double>(planned.bytes);
  out.other_flops = static_cast<double>(planned.flops);
  if (k.has_product()) {
    if (is_half(k.sig.type)) {
      out.matrix_flops = 2.0 * static_cast<double>(c.rows * c.cols * c.depth);
      out.other_flops -= out.matrix_flops;
    }
    double const sides = static_cast<double>((c.rows * c.depth + c.batch * c.depth * c.cols) * size_of(k.sig.type)), waits = waiting_bytes(k, library);
    if (waits > 0) out.behind_bytes = out.least_bytes - sides + waits / 2;
    out.moved_bytes += waits + part_bytes(k, library);
  }
  if (k.by_rows()) out.moved_bytes += share_bytes(k);
  if (k.sees_whole()) {
    out.matrix_flops = attention_flops(k);
    if (std::string_view(k.sig.op.name) == "attention_gradient")  // the second kernel reads q, k, v and the result's gradient again
      for (int const i : {0, 4, 5, 6}) out.moved_bytes += static_cast<double>(whole_elements(k.operand(i)) * size_of(k.operand(i).type));
  }
  return out;
}

}  // namespace detail

// Of a run of a step planned for a device, a call after the other.
template <class Step, target const& To>
TX_COLD std::vector<kernel_cost> costs_of(device_rates const& on) {
  static_assert(To.product_scratch == backends::cuda::library_scratch || To.product_scratch == backends::cuda::product_scratch<true>,
                "tx::costs_of: it knows kernels of cuda_target and of cuda_blas_target. FIX: one of these");
  using program = typename Step::template program<To>;
  exec::program_tables const tables = exec::tables_of<program>();
  std::vector<kernel_cost> all;
  for (exec::call const& c : tables.calls) all.push_back(detail::cost_of(tables, c, To.product_scratch == backends::cuda::library_scratch, on));
  return all;
}

// Sums over the calls of a run.
struct run_cost {
  std::int64_t calls = 0;
  double matrix_flops = 0, other_flops = 0, least_bytes = 0, moved_bytes = 0, seconds = 0;
};
TX_COLD inline run_cost total_of(std::vector<kernel_cost> const& all) {
  run_cost sum;
  for (kernel_cost const& k : all) {
    auto const runs = static_cast<double>(k.runs);
    sum.calls += k.runs;
    sum.matrix_flops += runs * k.matrix_flops;
    sum.other_flops += runs * k.other_flops;
    sum.least_bytes += runs * k.least_bytes;
    sum.moved_bytes += runs * k.moved_bytes;
    sum.seconds += k.seconds();
  }
  return sum;
}

}  // namespace tx
