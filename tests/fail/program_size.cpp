// A program of more results than its tables have room for.
// expect: the program is larger than tx::exec::detail::capacity. FIX: use repeat<N, Block> for blocks of equal shape
#include <tx/ops/add.hpp>
#include <tx/plan/compile.hpp>
#include <tx/plan/program.hpp>
#include <tx/backends/cpu/target.hpp>

struct source {
  static constexpr tx::exec::lowered lower(tx::target const& to) {
    tx::graph g{};
    tx::var x = emit_leaf(g, tx::input_info, tx::tensor<float, 4>::info);
    for (int k = 0; k < 33; ++k) {
      x = x + 1.0;
      g.outputs.push_back({x.id});
    }
    return tx::exec::compile(g, to, {});
  }
};
static_assert(tx::exec::program<source, tx::cpu_target>::memory.arena > 0);
