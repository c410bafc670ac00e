// A program named by a type: the frozen tables of a lowered graph, and its kernels as types.
#pragma once

#include <tx/plan/lower.hpp>

#include <utility>

namespace tx::exec {

namespace detail {

// What one constant evaluation hands over; the exact sizes are known only after it.
struct capacity {
  static constexpr int kernels = 512, ins = 8192, lets = 8192, outs = 2048, calls = 8192, operands = 32768, varying = 8192, instructions = 8192, loops = 64, results = 32, checks = 128, sites = 256, settings = 32, site_of = 16384;
};
struct loose_tables {
  bounded_array<kernel_sig, capacity::kernels> kernels;
  bounded_array<in_sig, capacity::ins> ins;
  bounded_array<let_sig, capacity::lets> lets;
  bounded_array<out_sig, capacity::outs> outs;
  bounded_array<call, capacity::calls> calls;
  bounded_array<operand_ref, capacity::operands> operands;
  bounded_array<varying_number, capacity::varying> varying;
  bound_table bound_of;
  bounded_array<instruction, capacity::instructions> instructions;
  bounded_array<loop, capacity::loops> loops;
  bounded_array<result_ref, capacity::results> results;
  bounded_array<range_check, capacity::checks> checks;
  bounded_array<source_site, capacity::sites> sites;
  bounded_array<declared_setting, capacity::settings> settings;
  bounded_array<std::uint16_t, capacity::site_of> site_of;
  memory_use memory;
  missing_gradient no_gradient;
  bool replaces_leaves;
};

template <class T, int N>
constexpr void move_in(bounded_array<T, N>& to, vec<T> const& from) {
  if (from.size() > N) throw invalid("the program is larger than tx::exec::detail::capacity. FIX: use repeat<N, Block> for blocks of equal shape");
  to.count = from.size();
  for (int i = 0, end = from.size(); i < end; ++i) to.items[i] = from[i];
}

constexpr loose_tables loosen(lowered const& l) {
  loose_tables t{};
  move_in(t.kernels, l.kernels);
  move_in(t.ins, l.ins);
  move_in(t.lets, l.lets);
  move_in(t.outs, l.outs);
  move_in(t.calls, l.calls);
  move_in(t.operands, l.operands);
  move_in(t.varying, l.varying);
  t.bound_of = l.bound_of;
  move_in(t.instructions, l.instructions);
  move_in(t.loops, l.loops);
  move_in(t.results, l.results);
  move_in(t.checks, l.checks);
  move_in(t.sites, l.sites);
  move_in(t.settings, l.settings);
  move_in(t.site_of, l.site_of);
  t.memory = l.memory;
  t.no_gradient = l.no_gradient;
  t.replaces_leaves = l.replaces_leaves;
  return t;
}

// The op and the value it computes stand in the name of what does not compile.
template <op_info const* Op, value_info Of>
struct op_with_gradient {
  static_assert(Op == nullptr,
                "tx: an op between the loss and a parameter has no gradient. FIX: give its op_info a vjp, or put stop_gradient(x) around its operand; "
                "one that a gradient is made of, as prod's, cannot be differentiated again");
  static constexpr bool value = true;
};

}  // namespace detail

// Source::lower(target) is the constant evaluation that makes the program; lower(target, inspection*) also tells how, see outline.hpp.
template <class Source, target const& To>
struct program {
 private:
  static constexpr detail::loose_tables loose = detail::loosen(Source::lower(To));
  static_assert(detail::op_with_gradient<loose.no_gradient.op, loose.no_gradient.of>::value);

 public:
  static constexpr auto kernels = freeze<kernel_sig, loose.kernels.count>(loose.kernels);
  static constexpr auto ins = freeze<in_sig, loose.ins.count>(loose.ins);
  static constexpr auto lets = freeze<let_sig, loose.lets.count>(loose.lets);
  static constexpr auto outs = freeze<out_sig, loose.outs.count>(loose.outs);
  static constexpr auto calls = freeze<call, loose.calls.count>(loose.calls);
  static constexpr auto operands = freeze<operand_ref, loose.operands.count>(loose.operands);
  static constexpr auto varying = freeze<varying_number, loose.varying.count>(loose.varying);
  static constexpr bound_table bound_of = loose.bound_of;
  static constexpr auto instructions = freeze<instruction, loose.instructions.count>(loose.instructions);
  static constexpr auto loops = freeze<loop, loose.loops.count>(loose.loops);
  static constexpr auto results = freeze<result_ref, loose.results.count>(loose.results);
  static constexpr auto checks = freeze<range_check, loose.checks.count>(loose.checks);
  static constexpr auto sites = freeze<source_site, loose.sites.count>(loose.sites);
  static constexpr auto settings = freeze<declared_setting, loose.settings.count>(loose.settings);
  static constexpr auto site_of = freeze<std::uint16_t, loose.site_of.count>(loose.site_of);
  static constexpr memory_use memory = loose.memory;
  // Does it store over parameters, an optimizer's states or those of the model?
  static constexpr bool replaces_leaves = loose.replaces_leaves;
  // Do numbers of it depend on what a run's arguments have of bounded extents?
  static constexpr bool varies = bound_of.any();
  // Does it speak to other ranks?
  static constexpr bool collective = [] {
    for (kernel_sig const& k : kernels)
      if (k.kind == kernel_kind::collective) return true;
    return false;
  }();
};

namespace detail {

// An op without a kernel is named in the first lines of the error.
template <op_info const* Op>
concept has_scalar_rule = requires { typename scalar_rule<Op>::type; };
template <op_info const* Op>
concept has_partitioned_rule = requires { typename partitioned_rule<Op>::type; };
template <op_info const* Op>
constexpr auto require_scalar_rule() {
  static_assert(has_scalar_rule<Op>, "tx: the op has no kernel. FIX: specialise tx::scalar_rule<&its_info>, its arithmetic on one element");
  return std::bool_constant<has_scalar_rule<Op>>{};
}
template <op_info const* Op>
constexpr auto require_partitioned_rule() {
  static_assert(has_partitioned_rule<Op>, "tx: the op has no kernel. FIX: specialise tx::partitioned_rule<&its_info>, which works on whole operands");
  return std::bool_constant<has_partitioned_rule<Op>>{};
}

template <op_info const* Op>
concept has_collective_rule = requires { typename collective_rule<Op>::type; };
template <op_info const* Op>
constexpr auto require_collective_rule() {
  static_assert(has_collective_rule<Op>, "tx: the op has no kernel. FIX: specialise tx::exec::collective_rule<&its_info>, which acts on all ranks");
  return std::bool_constant<has_collective_rule<Op>>{};
}

template <class P, int I>
constexpr auto let_type() {
  constexpr let_sig l = P::lets[I];
  if constexpr (decltype(require_scalar_rule<l.op>())::value) {
    using rule = typename scalar_rule<l.op>::type;
    if constexpr (l.operands == 1)
      return let<rule, l.type, l.shape, l.op->costly, l.operand[0]>{};
    else if constexpr (l.operands == 2)
      return let<rule, l.type, l.shape, l.op->costly, l.operand[0], l.operand[1]>{};
    else
      return let<rule, l.type, l.shape, l.op->costly, l.operand[0], l.operand[1], l.operand[2]>{};
  }
}

template <class P, int K, int... I, int... L, int... O>
constexpr auto fused_type(std::integer_sequence<int, I...>, std::integer_sequence<int, L...>, std::integer_sequence<int, O...>) {
  constexpr kernel_sig k = P::kernels[K];
  return fused<k.columns, ins<in<P::ins[k.first_in + I].type, P::ins[k.first_in + I].how>...>, lets<decltype(let_type<P, k.first_let + L>())...>,
               outs<out<P::outs[k.first_out + O].value, P::outs[k.first_out + O].type, P::outs[k.first_out + O].shape,
                        P::outs[k.first_out + O].per_row>...>>{};
}

template <class P, int K, int... I, int... O>
constexpr auto whole_type(std::integer_sequence<int, I...>, std::integer_sequence<int, O...>) {
  constexpr kernel_sig k = P::kernels[K];
  if constexpr (decltype(require_partitioned_rule<k.op>())::value)
    return whole<typename partitioned_rule<k.op>::type, elements<P::outs[k.first_out + O].type...>,
                 ins<in<P::ins[k.first_in + I].type, P::ins[k.first_in + I].how>...>>{};
}

template <class P, int K, int... I>
constexpr auto collective_type(std::integer_sequence<int, I...>) {
  constexpr kernel_sig k = P::kernels[K];
  if constexpr (decltype(require_collective_rule<k.op>())::value)
    return collective<typename collective_rule<k.op>::type, P::outs[k.first_out].type, P::ins[k.first_in + I].type...>{};
}

template <class T>
struct type_of {
  using type = T;
};

template <class P, int K>
constexpr auto kernel_type() {
  constexpr kernel_sig k = P::kernels[K];
  if constexpr (k.kind == kernel_kind::zero) {
    return type_of<zero>{};
  } else if constexpr (k.kind == kernel_kind::whole) {
    return type_of<decltype(whole_type<P, K>(std::make_integer_sequence<int, k.ins>{}, std::make_integer_sequence<int, k.outs>{}))>{};
  } else if constexpr (k.kind == kernel_kind::collective) {
    return type_of<decltype(collective_type<P, K>(std::make_integer_sequence<int, k.ins>{}))>{};
  } else {
    using body = decltype(fused_type<P, K>(std::make_integer_sequence<int, k.ins>{}, std::make_integer_sequence<int, k.lets>{},
                                           std::make_integer_sequence<int, k.outs>{}));
    if constexpr (k.kind == kernel_kind::gemm)
      return type_of<gemm<k.type, body>>{};
    else
      return type_of<body>{};
  }
}

}  // namespace detail

// The signature of kernel K: what a backend specialises `kernel` for.
template <class P, int K>
using kernel_of = typename decltype(detail::kernel_type<P, K>())::type;

}  // namespace tx::exec
