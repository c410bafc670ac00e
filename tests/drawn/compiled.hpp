// A drawn program compiled for backends, as users' programs are, and run on each: what it computes must be what its graph says.
#pragma once

#include "outcome_check.hpp"
#include "memory.hpp"
#include "rules.hpp"

#include "../cuda_host/interpreter.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/plan/compile.hpp>
#include <tx/run/run.hpp>

#include <iostream>

namespace drawn {

struct compiled_program {
  int seed;
  void (*record)(graph& g, row_count rows);
  finish end;
  int most;  // of the bounded extent, 0 where there is none
  dtype type;
};

template <compiled_program const& P, tx::compile_options Options>
struct source {
  static constexpr tx::exec::lowered lower(tx::target const& to, tx::exec::inspection* seen = nullptr) {
    graph g{};
    if (P.most > 0) g.bound_of = row_count{P.most}.bounds();
    P.record(g, {P.most, -1});
    graph const all = finished(g, P.end);
    return tx::exec::compile(all, to, Options, seen);
  }
};

namespace detail {

inline recorded leaves_of(compiled_program const& p, row_count rows) {
  graph g{};
  if (rows.most > 0 && rows.fixed < 0) g.bound_of = rows.bounds();
  p.record(g, rows);
  return with_leaves(finished(g, p.end), p.type, rows);
}

template <compiled_program const& P, class Backend, tx::compile_options Options>
bool agrees(char const* name, recorded const& planned, int rows, std::function<std::string(outcome const&)> const& wrong) {
  using program = tx::exec::program<source<P, Options>, Backend::target>;
  run_memory memory(planned, program::memory.arena, rows);
  memory.f.threads = 2;
  tx::exec::runner<program, Backend>::run(memory.f);
  std::string const what = wrong(memory.told(program::results));
  if (!what.empty()) std::cout << "seed " << P.seed << " on " << name << ", " << rows << " rows: " << what << std::endl;
  return what.empty();
}

}  // namespace detail

// On every backend, with every number of rows. (The reference computes nested reductions anew for each element: it is given one op at a time.)
template <compiled_program const& P>
bool agrees_everywhere() {
  bool good = true;
  std::vector<int> all{P.most};
  if (P.most > 0) all = {P.most, 1, 0, P.most - 1};
  recorded const planned = detail::leaves_of(P, {P.most, -1});
  for (int rows : all) {
    recorded const fixed = detail::leaves_of(P, {P.most, P.most > 0 ? rows : -1});
    outcome_check const near(fixed);
    auto const wrong = [&](outcome const& o) { return near.wrong(o); };
    good &= detail::agrees<P, tx::cpu, tx::compile_options{}>("cpu", planned, rows, wrong);
    good &= detail::agrees<P, tx::cpu, tx::compile_options{.band_bytes = 16}>("cpu in bands", planned, rows, wrong);
    good &= detail::agrees<P, tx::reference, tx::compile_options{.fuse = false}>("reference", planned, rows, wrong);
    good &= detail::agrees<P, interpreted, tx::compile_options{}>("the interpreted device", planned, rows, wrong);
  }
  std::cout << "seed " << P.seed << (good ? " agrees" : " FAILS") << std::endl;
  return good;
}

}  // namespace drawn
