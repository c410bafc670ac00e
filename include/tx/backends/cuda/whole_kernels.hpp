// The kernels of a device backend for ops on whole operands: by their rules, and some by tasks of their own.
#pragma once

#include <tx/backends/cuda/attention_backward.hpp>
#include <tx/backends/cuda/attention_forward.hpp>
#include <tx/backends/cuda/kernels.hpp>
#include <tx/backends/cuda/scatter_task.hpp>
#include <tx/backends/cuda/whole_task.hpp>
#include <tx/ops/attention_rules.hpp>
#include <tx/ops/embedding.hpp>

namespace tx::backends::cuda {

// By the op's rule.
template <class Device, class Signature>
struct whole_kernel;
template <class Device, class Rule, dtype... Out, class... In>
struct whole_kernel<Device, exec::whole<Rule, exec::elements<Out...>, exec::ins<In...>>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    run(f, c, operands, std::make_integer_sequence<int, sizeof...(Out)>{}, std::make_integer_sequence<int, sizeof...(In)>{});
  }

 private:
  template <int... O, int... K>
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands, std::integer_sequence<int, O...>, std::integer_sequence<int, K...>) {
    using task = whole_task<Rule, exec::elements<Out...>, exec::ins<In...>>;
    typename task::arguments a{};
    a.at = c.at;
    a.step = f.step_in_memory();
    ((get<O>(a.out) = exec::whole_result<Out>(f, operands[static_cast<int>(sizeof...(In)) + O])), ...);
    ((get<K>(a.in) = exec::whole_input<In>(f, operands[K])), ...);
    shape const rows = get<0>(a.out).dims;  // rules cut by rows
    constexpr int threads = 128;
    if (task::by_element && rows.count() > most_rows) throw shape_error("cuda: a result of " + std::to_string(rows.count()) + " elements. FIX: up to 2147483647, as parts of a batch: tx::accumulate<parts>");
    int const blocks = detail::blocks_for(task::by_element ? rows.count() : rows.count() / detail::upper_of(rows.last(), 1), threads);
    if (rows.count() > 0) Device::template launch<task>(blocks, threads, 0, a);
  }
};

template <class Device, class Rule, class Out, class In>
struct kernel<Device, exec::whole<Rule, Out, In>> : whole_kernel<Device, exec::whole<Rule, Out, In>> {};

// The gradient of a look-up.
template <class Device, dtype T, class Gradient, class Ids>
struct kernel<Device, exec::whole<rules::scatter_rows, exec::elements<T>, exec::ins<Gradient, Ids>>> {
  static void run(exec::frame const& f, exec::call const&, exec::operand_ref const* operands) {
    using task = scatter_task<T, Ids::sig.type>;
    typename task::arguments a{};
    shape const to = f.dims(operands[2]), ids = f.dims(operands[1]);
    a.to = f.at<std::byte>(operands[2]);
    a.gradient = f.at<std::byte>(operands[0]);
    a.ids = f.at<std::byte>(operands[1]);
    a.count = ids.count();
    a.bag = divider(static_cast<std::uint32_t>(ids.last()));
    if (a.count > most_rows) throw shape_error("cuda: " + std::to_string(a.count) + " ids. FIX: up to 2147483647, as parts of a batch: tx::accumulate<parts>");
    a.rows = to.dim[0];
    a.cols = to.last();
    std::int64_t const blocks = (a.rows + task::rows_of_block - 1) / task::rows_of_block;
    if (to.count() > 0) Device::template launch<task>(static_cast<int>(detail::lower_of(blocks, most_grid)), task::threads, task::shared_bytes, a);
  }
};

namespace detail {

// Operands of attention: q, k, v, then those that the attributes tell, from operand `first` on.
template <class... In>
struct attention_operands {
  exec::frame const& f;
  exec::call const& c;
  exec::operand_ref const* operands;
  int first;
  attention_facts facts = attention_facts_of(c.at);

  // Of operand k; the facts say which there are.
  static constexpr exec::in_sig signature(int k) {
    constexpr exec::in_sig all[] = {In::sig...};
    return k < static_cast<int>(sizeof...(In)) ? all[k] : exec::in_sig{};
  }
  template <class T>
  T const* data(int behind) const {
    return f.at<T const>(operands[first + 3 + behind]);
  }
  // All others are computed by the rule: numbers that are read and not drawn, or other types.
  bool is_taken() const {
    if (facts.bias || (facts.mask && signature(first + 3 + facts.mask_at()).type != dtype::boolean)) return false;
    return !facts.dropout || (signature(first + 3 + facts.noise_at()).how == exec::access::random && signature(first + 3 + facts.rate_at()).type == dtype::f32);
  }
  attention_problem problem() const {
    shape const q = f.dims(operands[first]), k = f.dims(operands[first + 1]);
    attention_problem p{};
    p.q = f.at<std::byte const>(operands[first]);
    p.k = f.at<std::byte const>(operands[first + 1]);
    p.v = f.at<std::byte const>(operands[first + 2]);
    p.f = facts;
    p.head = static_cast<int>(q.last() / facts.heads);
    if (facts.packed()) {
      p.texts = f.dims(operands[first + 3 + facts.query_offsets_at()]).dim[0] - 1;
      p.queries = facts.longest;
      p.keys = facts.longest_keys();
      p.query_rows = q.dim[0];
      p.key_rows = k.dim[0];
      p.query_offsets = data<i32>(facts.query_offsets_at());
      p.key_offsets = data<i32>(facts.key_offsets_at());
    } else {
      p.texts = q.dim[0];
      p.queries = static_cast<int>(q.dim[1]);
      p.keys = static_cast<int>(k.dim[1]);
    }
    if (facts.mask) p.mask = data<std::uint8_t>(facts.mask_at());
    if (facts.dropout) {
      exec::operand_ref const& noise = operands[first + 3 + facts.noise_at()];
      std::int64_t const rows = p.texts * facts.heads * p.queries;
      if (noise.random.own != 0 && rows > most_rows) throw shape_error("cuda: attention in parts that drops probabilities of " + std::to_string(rows) + " rows. FIX: up to 2147483647, as parts of a batch: tx::accumulate<parts>");
      p.rate = data<f32>(facts.rate_at());
      p.key = f.key;
      p.stream = f.stream(noise);
      p.step = f.step_in_memory();
      p.rows = f.rows_drawn(noise);
    }
    return p;
  }
};

template <class Device, class Task>
void launch_attention(typename Task::arguments const& a, int lines, int heads) {
  std::int64_t const blocks = a.p.texts * heads * ((lines + attention_lines - 1) / attention_lines);
  if (blocks > most_grid) throw shape_error("cuda: attention of " + std::to_string(blocks) + " blocks. FIX: up to 2147483647, as parts of a batch: tx::accumulate<parts>");
  if (blocks > 0) Device::template launch<Task>(static_cast<int>(blocks), Task::threads, Task::shared_bytes, a);
}
// Heads of up to 64 elements, or of up to 128.
template <class Device, template <dtype, int> class Task, dtype D, class Arguments>
void launch_attention_of(Arguments const& a, int lines, int heads) {
  if (a.p.head <= 64) launch_attention<Device, Task<D, 64>>(a, lines, heads);
  else launch_attention<Device, Task<D, most_head>>(a, lines, heads);
}

}  // namespace detail

template <class Device, dtype D, dtype Sum, class... In>
  requires(is_half(D))
struct kernel<Device, exec::whole<rules::attention, exec::elements<D, Sum, Sum>, exec::ins<In...>>> {
  using by_rule = whole_kernel<Device, exec::whole<rules::attention, exec::elements<D, Sum, Sum>, exec::ins<In...>>>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    constexpr int out = static_cast<int>(sizeof...(In));
    detail::attention_operands<In...> const of{f, c, operands, 0};
    typename attention_forward_task<D, most_head>::arguments a{of.problem(), f.at<std::byte>(operands[out]), f.at<float>(operands[out + 1]), f.at<float>(operands[out + 2])};
    if (!of.is_taken() || a.p.head > most_head || a.p.head % chunk != 0) return by_rule::run(f, c, operands);
    if (of.facts.packed()) Device::clear(a.out, f.dims(operands[out]).count() * size_of(D));  // tokens of no text
    if (a.p.head <= 64) detail::launch_attention<Device, attention_forward_task<D, 64>>({a.p, a.out, a.greatest, a.log_sum}, a.p.queries, of.facts.heads);
    else detail::launch_attention<Device, attention_forward_task<D, most_head>>(a, a.p.queries, of.facts.heads);
  }
};

template <class Device, dtype Slope, class SlopeOut, class Out, class Greatest, class LogSum, class Q, class... In>
  requires(is_half(Q::sig.type) && SlopeOut::sig.type == Q::sig.type && Out::sig.type == Q::sig.type)
struct kernel<Device, exec::whole<rules::attention_gradient, exec::elements<Slope, Slope, Slope>, exec::ins<SlopeOut, Out, Greatest, LogSum, Q, In...>>> {
  using by_rule = whole_kernel<Device, exec::whole<rules::attention_gradient, exec::elements<Slope, Slope, Slope>, exec::ins<SlopeOut, Out, Greatest, LogSum, Q, In...>>>;
  static constexpr dtype type = Q::sig.type;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    constexpr int d_q = 5 + static_cast<int>(sizeof...(In));
    detail::attention_operands<SlopeOut, Out, Greatest, LogSum, Q, In...> const of{f, c, operands, 4};
    attention_gradient_arguments a{};
    a.p = of.problem();
    if (!of.is_taken() || a.p.head > most_head || a.p.head % chunk != 0) return by_rule::run(f, c, operands);
    a.d_out = f.at<std::byte const>(operands[0]);
    a.out = f.at<std::byte const>(operands[1]);
    a.greatest = f.at<float const>(operands[2]);
    a.log_sum = f.at<float const>(operands[3]);
    a.product = reinterpret_cast<float*>(f.scratch(c));
    a.d_q = f.at<std::byte>(operands[d_q]);
    a.d_k = f.at<std::byte>(operands[d_q + 1]);
    a.d_v = f.at<std::byte>(operands[d_q + 2]);
    for (int k = 0; k < 3 && of.facts.packed(); ++k) Device::clear(f.at<std::byte>(operands[d_q + k]), f.dims(operands[d_q + k]).count() * size_of(Slope));  // tokens of no text
    detail::launch_attention_of<Device, attention_query_task, type>(a, a.p.queries, of.facts.heads);
    detail::launch_attention_of<Device, attention_key_task, type>(a, a.p.keys, of.facts.key_heads);
  }
};

}  // namespace tx::backends::cuda
