// What the kernels of a program move and compute on a device, and how long they take there at least: the longer of the two, for each kernel
// (Williams, Waterman, Patterson, "Roofline", 2009, https://doi.org/10.1145/1498765.1498785), and what a launch costs. What kernels of a target move is its
// device_work (plan/kernel_cost.hpp), which comes with the rates of devices.
//
//   #include <tx/backends/cuda/kernel_cost.hpp>
//   for (tx::kernel_cost const& k : tx::costs_of<step, tx::cuda_blas_target>(tx::h100)) std::cout << k.name << " " << k.seconds() << "\n";
#pragma once

#include <tx/inspect/profile.hpp>
#include <tx/plan/kernel_cost.hpp>

namespace tx {

namespace detail {

template <target const& To>
TX_COLD kernel_cost cost_of(exec::program_tables const& tables, exec::call const& c, device_rates const& on) {
  exec::called_kernel const k(tables, c);
  profiled_kernel const planned = described({&c, 0, 0, 0, c.rows, {}}, k);
  kernel_cost out;
  out.name = planned.name;
  out.runs = exec::runs_of(tables, c).all();
  out.on = on;
  out.least_bytes = out.moved_bytes = static_cast<double>(planned.bytes);
  out.other_flops = static_cast<double>(planned.flops);
  device_work<To>::add(out, k);
  return out;
}

template <target const& To>
concept has_device_work = requires { sizeof(device_work<To>); };

}  // namespace detail

// Of a run of a step planned for a device, a call after the other.
template <class Step, target const& To>
TX_COLD std::vector<kernel_cost> costs_of(device_rates const& on) {
  static_assert(detail::has_device_work<To>, "tx::costs_of: it does not know what kernels of this target do. FIX: include <tx/backends/cuda/kernel_cost.hpp> for cuda_target and cuda_blas_target, or write a tx::device_work of your own target");
  exec::program_tables const tables = exec::tables_of<typename Step::template program<To>>();
  std::vector<kernel_cost> all;
  for (exec::call const& c : tables.calls) all.push_back(detail::cost_of<To>(tables, c, on));
  for (exec::instruction const& s : tables.instructions)
    if (s.kind == exec::instruction_kind::call && s.together == 0) all[static_cast<std::size_t>(s.index)].starts_alone = false;
  return all;
}

// Sums over the calls of a run. Calls that start together count as one.
struct run_cost {
  std::int64_t calls = 0;
  double matrix_flops = 0, other_flops = 0, least_bytes = 0, moved_bytes = 0, seconds = 0;
};
TX_COLD inline run_cost total_of(std::vector<kernel_cost> const& all) {
  run_cost sum;
  for (kernel_cost const& k : all) {
    auto const runs = static_cast<double>(k.runs);
    sum.calls += k.starts_alone ? k.runs : 0;
    sum.matrix_flops += runs * k.matrix_flops;
    sum.other_flops += runs * k.other_flops;
    sum.least_bytes += runs * k.least_bytes;
    sum.moved_bytes += runs * k.moved_bytes;
    sum.seconds += k.seconds();
  }
  return sum;
}

}  // namespace tx
