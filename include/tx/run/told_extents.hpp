// How the arguments of a run tell what it has of bounded extents.
#pragma once

#include <tx/graph/print.hpp>
#include <tx/run/extents.hpp>
#include <tx/run/view.hpp>

namespace tx::exec {

// What is said of argument number `at` with another number of elements than its type has: both shapes, where whole rows were given.
TX_COLD inline std::string unlike(int at, std::size_t given, value_info const& wanted) {
  std::int64_t const row = wanted.dims.rank == 0 || wanted.count() == 0 ? 0 : wanted.count() / wanted.dims.dim[0];
  auto const count = static_cast<std::int64_t>(given);
  std::string text = "executor: argument " + std::to_string(at) + " is a " + to_string(wanted) + ", " +
                     (wanted.dims.bounds != 0 ? "at most " : "") + std::to_string(wanted.count()) + " elements, and was given " + std::to_string(count);
  if (row > 0 && count % row == 0) {
    value_info like = wanted;
    like.dims.bounds = 0;
    like.dims.dim[0] = static_cast<int>(count / row);
    text += ", as " + to_string(like) + " has";
  } else if (row > 1) {
    text += ", which are no whole rows of " + std::to_string(row);
  }
  return text + ". FIX: as many as the step was compiled for, or compile it for others, or with a bounded extent, dyn<Max>";
}

// What a run's arguments tell of bounded extents. A view tells all of its own. A range has a number of elements alone, so it tells one that is
// not known from others; one with two waits for those behind it.
class told_extents {
 public:
  void reset(bound_table const& most) {
    extents_.bound_of = most;
    for (int& now : extents_.now) now = -1;
  }
  run_extents const& extents() const { return extents_; }

  // Throws shape_error for other extents than an argument before has.
  void by_view(int at, value_info const& wanted, view_extents const& has) {
    for (int a = 0; a < wanted.dims.rank; ++a)
      for (int t = 1; t <= max_tags; ++t)
        if (wanted.dims.factors_at(a).count(t) != 0) note(at, t, a, has.extents[a]);
  }
  // -> whether all extents of that argument are known. Throws shape_error for a number of elements that it cannot have.
  bool by_count(int at, value_info const& wanted, std::size_t given) {
    int unknown = 0;
    for (int t = 1; t <= max_tags; ++t) {
      if (wanted.dims.count_factors().count(t) == 0 || extents_.now[t] >= 0) continue;
      if (unknown != 0 || wanted.dims.count_factors().count(t) != 1) return false;
      unknown = t;
    }
    if (unknown == 0) {
      if (static_cast<std::int64_t>(given) != extents_.count(wanted.dims)) other_count(at, wanted, given);
      return true;
    }
    int& now = extents_.now[unknown];
    now = 1;
    std::int64_t const each = extents_.count(wanted.dims);
    now = -1;
    if (each == 0) return false;
    auto const count = static_cast<std::int64_t>(given);
    if (count % each != 0 || count / each > extents_.bound_of.most[unknown]) throw shape_error(unlike(at, given, wanted));
    now = static_cast<int>(count / each);
    return true;
  }
  // What the program reads is there. Throws value_error.
  void check_least() const {
    for (int t = 1; t <= max_tags; ++t)
      if (extents_.now[t] >= 0 && extents_.now[t] < extents_.bound_of.least[t])
        too_few("a bounded extent, dyn<" + std::to_string(extents_.bound_of.most[t]) + ", " + std::to_string(t) + ">,", extents_.now[t], extents_.bound_of.least[t]);
    for (int k = 0; k < extents_.bound_of.products; ++k) {
      needed_elements const& n = extents_.bound_of.of_products[k];
      if (std::int64_t const now = extents_.in_run(n.of.max, n.of.of); now < n.elements)
        too_few("an extent of up to " + std::to_string(n.of.max) + ", a product of bounded ones,", now, n.elements);
    }
  }
  [[noreturn]] TX_COLD static void not_told(int at, value_info const& wanted, std::size_t given) {
    throw shape_error("executor: argument " + std::to_string(at) + " is a " + to_string(wanted) + " and was given " + std::to_string(given) +
                      " elements, which do not tell its extents. FIX: a view that says them, as tx::array_view or C++23's std::mdspan");
  }

 private:
  [[noreturn]] TX_COLD static void too_few(std::string const& extent, std::int64_t now, int least) {
    throw value_error("executor: " + extent + " is " + std::to_string(now) + " in this run, and the program takes element " + std::to_string(least - 1) +
                      " of it. FIX: at least " + std::to_string(least));
  }
  void note(int at, int tag, int axis, std::int64_t has) {
    int& now = extents_.now[tag];
    if (now >= 0 && now != has) differ(at, axis, has, now);
    now = static_cast<int>(has);
  }
  [[noreturn]] TX_COLD static void differ(int at, int axis, std::int64_t has, int now) {
    throw shape_error("executor: argument " + std::to_string(at) + " has " + std::to_string(has) + (axis == 0 ? " rows" : " along axis " + std::to_string(axis)) +
                      "; an argument before it with the same bounded extent has " + std::to_string(now) +
                      ". FIX: as many in each argument that shares the extent, or a tag of its own: tx::dyn<most, tag>");
  }
  [[noreturn]] TX_COLD void other_count(int at, value_info const& wanted, std::size_t given) const {
    shape const& s = wanted.dims;
    bool rows_alone = s.is_bounded(0);
    for (int a = 1; a < s.rank; ++a) rows_alone = rows_alone && !s.is_bounded(a);
    std::int64_t const row = s.dim[0] == 0 ? 0 : s.count() / s.dim[0];
    if (rows_alone && row > 0 && static_cast<std::int64_t>(given) % row == 0)
      differ(at, 0, static_cast<std::int64_t>(given) / row, static_cast<int>(extents_.in_run(s.dim[0], s.factors_at(0))));
    throw shape_error(unlike(at, given, wanted));
  }

  run_extents extents_{};
};

}  // namespace tx::exec
