// The order of kernels as points in time: what lifetimes are counted in. Loops lie in line, entered and left.
#pragma once

#include <tx/passes/fuse.hpp>

namespace tx::exec::detail {

struct timeline {
  vec<int> time{};            // group -> when it runs
  vec<int> enter{}, leave{};  // region -> its first and last moment
  vec<int> band_enter{}, band_leave{};  // the same of a loop over bands
  vec<vec<int>> order{};      // region -> its groups
  int length = 0;

  constexpr timeline(graph const& g, passes::fusion const& f) : g_(g), f_(f) {
    time = vec<int>(f.groups.size(), 0);
    enter = vec<int>(g.regions.size(), 0);
    leave = vec<int>(g.regions.size(), 0);
    order = vec<vec<int>>(g.regions.size());
    for (int i = 0; i < f.groups.size(); ++i) order[f.groups[i].region].push_back(i);
    band_enter = vec<int>(f.bands.size(), -1);
    band_leave = vec<int>(f.bands.size(), -1);
    visit(0);
  }

 private:
  constexpr void visit(int r) {
    enter[r] = length++;
    for (int i : order[r]) {
      int const head = f_.groups[i].head;
      if (head >= 0 && g_[head].op->kind == op_kind::region) {
        visit(run_region(g_[head].at));
        time[i] = length - 1;
      } else {
        time[i] = length++;
        if (int const band = f_.groups[i].band; band >= 0) {
          if (band_enter[band] < 0) band_enter[band] = time[i];
          band_leave[band] = time[i];
        }
      }
    }
    leave[r] = length++;
  }

  graph const& g_;
  passes::fusion const& f_;
};

}  // namespace tx::exec::detail
