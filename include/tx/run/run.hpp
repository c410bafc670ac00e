// The step: a fold over the program's table. Direct calls, a loop only for a repeat.
#pragma once

#include <tx/plan/program.hpp>
#include <tx/run/observer.hpp>

namespace tx::exec {

template <class Kernel>
concept defined = requires { sizeof(Kernel); };

// A kernel's calls in all programs go through one copy of it, and of what observers are told.
template <class Kernel, class Frame>
__attribute__((noinline)) void told(Frame& f, call const& c, operand_ref const* operands) {
  if (f.observed) tell_before(f, c);
  Kernel::run(f, c, operands);
  if (f.observed) tell_after(f, c);
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

  template <int Step>
  static void one(frame& f) {
    constexpr step s = Program::steps[Step];
    if constexpr (s.kind == step_kind::call) {
      constexpr int kernel = Program::calls[s.index].kernel;
      using own = typename Backend::template kernel<kernel_of<Program, kernel>>;
      static_assert(defined<own>, "tx: the backend has no kernel of this kind. FIX: specialise its kernel<exec::fused<...>>, gemm, whole or zero");
      told<own>(f, Program::calls[s.index], &Program::operands.items[Program::calls[s.index].first]);
    } else {
      constexpr loop l = Program::loops[s.index];
      if constexpr (l.band > 0) return bands<s.index>(f);
      for (int i = 0; i < l.iterations; ++i) {
        f.iteration = l.reversed ? l.iterations - 1 - i : i;
        body<s.index>(f, std::make_integer_sequence<int, l.count>{});
      }
      f.iteration = 0;
    }
  }

  template <int Loop>
  static void bands(frame& f) {
    constexpr loop l = Program::loops[Loop];
    std::int64_t const matrices = l.tag == 0 ? l.matrices : l.matrices / l.bound * f.extent[l.tag];
    for (f.band_first = 0; f.band_first < matrices; f.band_first += l.band) {
      f.band_count = matrices - f.band_first < l.band ? matrices - f.band_first : l.band;
      body<Loop>(f, std::make_integer_sequence<int, l.count>{});
    }
    f.band_first = f.band_count = 0;
  }
};

}  // namespace tx::exec
