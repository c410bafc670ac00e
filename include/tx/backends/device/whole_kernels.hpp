// The kernels of a device backend for ops on whole operands: by their rules, and some by tasks of their own.
#pragma once

#include <tx/backends/device/attention_backward.hpp>
#include <tx/backends/device/attention_bias.hpp>
#include <tx/backends/device/attention_forward.hpp>
#include <tx/backends/device/kernels.hpp>
#include <tx/backends/device/scatter_task.hpp>
#include <tx/backends/device/whole_task.hpp>
#include <tx/ops/attention_rules.hpp>
#include <tx/ops/embedding.hpp>

namespace tx::backends::device {

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
    if (task::by_element && rows.count() > most_rows) throw shape_error("device: a result of " + std::to_string(rows.count()) + " elements. FIX: up to " + std::to_string(most_rows) + ", as parts of a batch: tx::accumulate<parts>");
    int const blocks = detail::blocks_for(task::by_element ? rows.count() : rows.count() / detail::upper_of(rows.last(), 1), threads);
    if (rows.count() > 0) Device::template launch<task>(blocks, threads, 0, a);
  }
};

template <class Device, class Rule, class Out, class In>
struct kernel<Device, exec::whole<Rule, Out, In>> : whole_kernel<Device, exec::whole<Rule, Out, In>> {};

// The gradient of a look-up.
template <class Device, dtype T, class Gradient, class Ids>
struct kernel<Device, exec::whole<rules::scatter_rows, exec::elements<T>, exec::ins<Gradient, Ids>>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    shape const to = f.dims(operands[2]), ids = f.dims(operands[1]);
    std::int64_t const count = ids.count(), rows = to.dim[0], cols = to.last();
    if (count > most_rows) throw shape_error("device: " + std::to_string(count) + " ids. FIX: up to " + std::to_string(most_rows) + ", as parts of a batch: tx::accumulate<parts>");
    divider const bag(static_cast<std::uint32_t>(ids.last()));
    std::byte *const codes = f.scratch(c), *const sums = codes + exec::aligned(count * 4);
    std::byte* const gradient = f.at<std::byte>(operands[0]);
    if (count > 0 && cols > 0) {
      using task = repeated_ids_task<T, Ids::sig.type>;
      launch<task>((count + task::places - 1) / task::places, {sums, codes, gradient, f.at<std::byte>(operands[1]), count, cols, bag});
    }
    if (to.count() > 0) {
      using task = scatter_task<T>;
      std::int64_t const rows_of_block = detail::lower_of(detail::upper_of(rows / enough_blocks, 1), task::most_rows_of_block);
      launch<task>((rows + rows_of_block - 1) / rows_of_block, {f.at<std::byte>(operands[2]), gradient, sums, codes, count, rows, cols, rows_of_block, bag});
    }
  }

 private:
  static constexpr std::int64_t enough_blocks = 1024;  // each of which looks through all places

  template <class Task>
  static void launch(std::int64_t blocks, typename Task::arguments const& a) {
    Device::template launch<Task>(static_cast<int>(detail::lower_of(blocks, most_grid)), Task::threads, Task::shared_bytes, a);
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
  // Behind q, k and v, which is operand `first`: is one of them a bias? Numbers of dropout are drawn, and its rate is one more.
  static constexpr bool has_bias(int first) {
    constexpr exec::in_sig all[] = {In::sig...};
    int floats = 0, drawn = 0;
    for (int k = first + 3; k < static_cast<int>(sizeof...(In)); ++k) {
      if (all[k].how == exec::access::random) ++drawn;
      else floats += is_float(all[k].type);
    }
    return floats > drawn;
  }
  // All others are computed by the rule: numbers that are read and not drawn, or other types.
  bool is_taken() const {
    if (facts.mask && signature(first + 3 + facts.mask_at()).type != dtype::boolean) return false;
    if (dtype const type = signature(first + 3 + facts.bias_at()).type; facts.bias && type != dtype::f32 && type != signature(first).type) return false;
    return !facts.dropout || (signature(first + 3 + facts.noise_at()).how == exec::access::random && signature(first + 3 + facts.rate_at()).type == dtype::f32);
  }
  // The same of attention and of its gradient, which read each other's numbers.
  bool has_kernels(attention_problem const& p) const { return is_taken() && p.head <= most_head && p.head % chunk == 0; }
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
    if (facts.bias) {
      exec::operand_ref const& bias = operands[first + 3 + facts.bias_at()];
      shape const dims = f.dims(bias);
      p.bias = f.at<std::byte const>(bias);
      p.bias_is_half = is_half(signature(first + 3 + facts.bias_at()).type);
      std::int64_t step = 1;
      for (int axis = 3; axis >= 0; --axis) {
        p.bias_steps[axis] = dims.dim[axis] == 1 ? 0 : step;
        step *= dims.dim[axis];
      }
    }
    if (facts.dropout) {
      exec::operand_ref const& noise = operands[first + 3 + facts.noise_at()];
      std::int64_t const rows = p.texts * facts.heads * p.queries;
      if (noise.random.own != 0 && rows > most_rows) throw shape_error("device: attention in parts that drops probabilities of " + std::to_string(rows) + " rows. FIX: up to " + std::to_string(most_rows) + ", as parts of a batch: tx::accumulate<parts>");
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
void launch_attention(typename Task::arguments const& a, std::int64_t blocks) {
  if (blocks > most_grid) throw shape_error("device: attention of " + std::to_string(blocks) + " blocks. FIX: up to 2147483647, as parts of a batch: tx::accumulate<parts>");
  if (blocks > 0) Device::template launch<Task>(static_cast<int>(blocks), Task::threads, Task::shared_bytes, a);
}
// Of lines of so many heads of each text. Heads have up to 64 elements, or up to 128.
template <class Device, template <dtype, int, bool> class Task, dtype D, bool Biased, class Arguments>
void launch_attention_of(Arguments const& a, int lines, int heads) {
  std::int64_t const blocks = a.p.texts * heads * attention_tiles(lines);
  if (a.p.head <= 64) launch_attention<Device, Task<D, 64, Biased>>(a, blocks);
  else launch_attention<Device, Task<D, most_head, Biased>>(a, blocks);
}

}  // namespace detail

template <class Device, dtype D, dtype Sum, class... In>
  requires(is_half(D))
struct kernel<Device, exec::whole<rules::attention, exec::elements<D, Sum, Sum>, exec::ins<In...>>> {
  using by_rule = whole_kernel<Device, exec::whole<rules::attention, exec::elements<D, Sum, Sum>, exec::ins<In...>>>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    constexpr int out = static_cast<int>(sizeof...(In));
    detail::attention_operands<In...> const of{f, c, operands, 0};
    attention_forward_arguments const a{of.problem(), f.at<std::byte>(operands[out]), f.at<float>(operands[out + 1]), f.at<float>(operands[out + 2])};
    if (!of.has_kernels(a.p)) return by_rule::run(f, c, operands);
    if (a.p.leaves_some()) Device::clear(a.out, f.dims(operands[out]).count() * size_of(D));
    detail::launch_attention_of<Device, attention_forward_task, D, detail::attention_operands<In...>::has_bias(0)>(a, a.p.queries, of.facts.heads);
  }
};

namespace detail {

// The gradient of attention. In: its operands, those of attention from the fifth on.
template <class Device, class SlopeOut, class Out, class Greatest, class LogSum, class Q, class... In>
struct attention_gradient_kernels {
  using attended = attention_operands<SlopeOut, Out, Greatest, LogSum, Q, In...>;
  static constexpr dtype type = Q::sig.type;
  static constexpr bool biased = attended::has_bias(4);
  static constexpr int results = 5 + static_cast<int>(sizeof...(In));  // number of the first

  // What does not depend on where results go; false: the op's rule computes it.
  static bool begin(attention_gradient_arguments& a, exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    attended const of{f, c, operands, 4};
    a.p = of.problem();
    if (!of.has_kernels(a.p)) return false;
    a.d_out = f.at<std::byte const>(operands[0]);
    a.out = f.at<std::byte const>(operands[1]);
    a.greatest = f.at<float const>(operands[2]);
    a.log_sum = f.at<float const>(operands[3]);
    std::byte* const scratch = f.scratch(c);
    a.product = reinterpret_cast<float*>(scratch);
    a.kept = reinterpret_cast<std::uint32_t*>(scratch + attention_scratch{a.p.texts, of.facts.heads, a.p.queries, a.p.keys, of.facts.dropout}.products());
    return true;
  }
  static void launch(attention_gradient_arguments const& a) {
    launch_attention_of<Device, attention_query_task, type, biased>(a, a.p.queries, a.p.f.heads);
    launch_attention_of<Device, attention_key_task, type, biased>(a, a.p.keys, a.p.f.key_heads);
  }
};

}  // namespace detail

// Bias: the type of its gradient, where that is one of the results.
template <class Device, dtype Slope, dtype... Bias, class SlopeOut, class Out, class Greatest, class LogSum, class Q, class... In>
  requires(is_half(Q::sig.type) && SlopeOut::sig.type == Q::sig.type && Out::sig.type == Q::sig.type && ((Bias == dtype::f32) && ...))
struct kernel<Device, exec::whole<rules::attention_gradient, exec::elements<Slope, Slope, Slope, Bias...>, exec::ins<SlopeOut, Out, Greatest, LogSum, Q, In...>>> {
  using by_rule = whole_kernel<Device, exec::whole<rules::attention_gradient, exec::elements<Slope, Slope, Slope, Bias...>, exec::ins<SlopeOut, Out, Greatest, LogSum, Q, In...>>>;
  using kernels = detail::attention_gradient_kernels<Device, SlopeOut, Out, Greatest, LogSum, Q, In...>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    constexpr int d_q = kernels::results;
    attention_gradient_arguments a{};
    if (!kernels::begin(a, f, c, operands)) return by_rule::run(f, c, operands);
    a.d_q = f.at<std::byte>(operands[d_q]);
    a.d_k = f.at<std::byte>(operands[d_q + 1]);
    a.d_v = f.at<std::byte>(operands[d_q + 2]);
    a.d_q_apart = std::int64_t{a.p.f.heads} * a.p.head;
    a.d_k_apart = std::int64_t{a.p.f.key_heads} * a.p.head;
    if (a.p.leaves_some())
      for (int k = d_q; k < d_q + 3; ++k) Device::clear(f.at<std::byte>(operands[k]), f.dims(operands[k]).count() * size_of(Slope));
    kernels::launch(a);
    if constexpr (sizeof...(Bias) > 0) {
      a.d_bias = f.at<float>(operands[d_q + 3]);
      if (a.p.head <= 64) launch_bias<64>(a);
      else launch_bias<most_head>(a);
    }
  }

 private:
  template <int Width>
  static void launch_bias(attention_gradient_arguments const& a) {
    using task = attention_bias_task<kernels::type, Width>;
    detail::launch_attention<Device, task>(a, task::blocks(a.p));
  }
};

template <class Device, dtype Slope, class SlopeOut, class Out, class Greatest, class LogSum, class Q, class... In>
  requires(is_half(Q::sig.type) && SlopeOut::sig.type == Q::sig.type && Out::sig.type == Q::sig.type)
struct kernel<Device, exec::whole<rules::joined_attention_gradient, exec::elements<Slope>, exec::ins<SlopeOut, Out, Greatest, LogSum, Q, In...>>> {
  using by_rule = whole_kernel<Device, exec::whole<rules::joined_attention_gradient, exec::elements<Slope>, exec::ins<SlopeOut, Out, Greatest, LogSum, Q, In...>>>;
  using kernels = detail::attention_gradient_kernels<Device, SlopeOut, Out, Greatest, LogSum, Q, In...>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    attention_gradient_arguments a{};
    if (!kernels::begin(a, f, c, operands)) return by_rule::run(f, c, operands);
    exec::operand_ref const& all = operands[kernels::results];
    std::int64_t const width = std::int64_t{a.p.f.heads} * a.p.head, key_width = std::int64_t{a.p.f.key_heads} * a.p.head;
    a.d_q = f.at<std::byte>(all);
    a.d_k = a.d_q + width * size_of(Slope);
    a.d_v = a.d_k + key_width * size_of(Slope);
    a.d_q_apart = a.d_k_apart = width + 2 * key_width;
    if (a.p.leaves_some()) Device::clear(a.d_q, f.dims(all).count() * size_of(Slope));
    kernels::launch(a);
  }
};

}  // namespace tx::backends::device
