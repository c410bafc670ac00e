// Runs a program: its instructions, unrolled while compiling, as direct calls of kernels; loops for bodies that are repeated and for bands alone.
#pragma once

#include <tx/plan/program.hpp>
#include <tx/run/observer.hpp>

#include <span>

namespace tx::exec {

template <class Kernel>
concept defined = requires { sizeof(Kernel); };
// The kernel stands in the name of what does not compile.
template <class Kernel>
struct backend_kernel {
  static_assert(defined<Kernel>, "tx: the backend has no kernel of this kind. FIX: specialise its kernel<exec::fused<...>>, gemm, whole or zero");
  static constexpr bool value = true;
};

// A kernel's calls in all programs go through one copy of it, and of what observers are told.
template <class Kernel, class Frame>
__attribute__((noinline)) void run_call(Frame& f, call const& c, operand_ref const* operands) {
  if (f.observed) tell_before(f, c);
  Kernel::run(f, c, operands);
  if (f.observed) tell_after(f, c);
}

// The same where numbers of the program vary: it runs with those of the run.
template <class Kernel, class Frame>
__attribute__((noinline)) void run_call_in_extents(Frame& f, call const& c, operand_ref const* operands, varying_number const* varying) {
  if (f.observed) tell_before(f, c);
  call now = c;
  resolve(now, f.extents);
  f.operands_now.assign(operands, operands + c.operands);
  for (operand_ref& r : f.operands_now) resolve(r, varying, f.extents);
  Kernel::run(f, now, f.operands_now.data());
  if (f.observed) tell_after(f, c);
}

// A kernel that starts several calls of it together.
template <class Kernel, class Frame>
concept starts_together = requires(Frame const& f, std::span<started_call const> calls) { Kernel::run_together(f, calls); };
template <class Kernel, class Frame, std::size_t Count>
__attribute__((noinline)) void run_calls_together(Frame& f, started_call const (&calls)[Count]) {
  if (f.observed) {  // observers are told of each
    for (started_call const& s : calls) run_call<Kernel>(f, *s.of, s.operands);
  } else {
    Kernel::run_together(f, std::span<started_call const>(calls));
  }
}

template <class Program, class Backend>
struct runner {
  using frame = typename frame_type<Backend>::type;

  static void run(frame& f) { body<0>(f, std::make_integer_sequence<int, Program::loops[0].count>{}); }

 private:
  template <int Region, int... I>
  static void body(frame& f, std::integer_sequence<int, I...>) {
    constexpr int first = Program::loops[Region].first;
    [[maybe_unused]] int const in_order[] = {0, (one<first + I>(f), 0)...};
  }

  template <int Region>
  struct whole_body {
    frame& f;
    void operator()() const { body<Region>(f, std::make_integer_sequence<int, Program::loops[Region].count>{}); }
  };

  template <int Call>
  using kernel_called = typename Backend::template kernel<kernel_of<Program, Program::calls[Call].kernel>>;

  template <int Call>
  static void one_call(frame& f) {
    using own = kernel_called<Call>;
    static_assert(backend_kernel<own>::value);
    operand_ref const* const operands = &Program::operands.items[Program::calls[Call].first];
    if constexpr (Program::varies) run_call_in_extents<own>(f, Program::calls[Call], operands, Program::varying.items);
    else run_call<own>(f, Program::calls[Call], operands);
  }
  // Instruction First + K for each K.
  template <int First, int... K>
  static void together(frame& f, std::integer_sequence<int, K...>) {
    using own = kernel_called<Program::instructions[First].index>;
    if constexpr (starts_together<own, frame>) {
      static constexpr started_call calls[] = {{&Program::calls.items[Program::instructions[First + K].index], &Program::operands.items[Program::calls[Program::instructions[First + K].index].first]}...};
      run_calls_together<own>(f, calls);
    } else {
      (one_call<Program::instructions[First + K].index>(f), ...);
    }
  }

  template <int Instruction>
  static void one(frame& f) {
    constexpr instruction s = Program::instructions[Instruction];
    if constexpr (s.kind == instruction_kind::call) {
      if constexpr (s.together == 1) one_call<s.index>(f);
      else if constexpr (s.together > 1) together<Instruction>(f, std::make_integer_sequence<int, s.together>{});
    } else {
      for_each_iteration(f, Program::loops[s.index], whole_body<s.index>{f});
    }
  }
};

}  // namespace tx::exec
