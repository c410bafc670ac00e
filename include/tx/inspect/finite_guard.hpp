// finite_guard: as long as it lives, the runs of an executor end at the first number that is not finite, with an
// exception that names the op that made it, the layer and the kernel:
//
//   tx::finite_guard const guard{run};  // or {run, {.infinities = true}}
//   run(x, y);                          // throws tx::not_finite_error
//
// Before a run it looks at settings, arguments, parameters and states, after each kernel at what that has stored: NaN
// always, infinities if they count (masks of scores may be -inf). Values that a kernel does not store are judged by
// what becomes of them. When one is bad, the kernel is computed again from its operands, op by op. No program is
// compiled for it and no bit of a run changes; each value is read once more, and a copy of what a step changes is kept,
// so that after the exception parameters, states and the count of steps are those before the step
// (finite_options::restore). Among several ranks each has a guard; the exception must leave the rank's function, for the
// others to get a rank_error, which brings nothing back: a rank that goes on by itself would add its gradients to those
// of another step. Where ranks divide words unevenly (dist/uneven_parts.hpp) a guard sees what lies behind the last one too: there a division by a number of each
// word is 0 / 0, which a step leaves out and a guard tells of. The executor must outlive the guard and not be moved meanwhile. The host must reach the backend's
// memory.
#pragma once

#include <tx/inspect/finite_watch.hpp>
#include <tx/run/executor.hpp>

namespace tx {

template <class Step, class Backend>
class finite_guard {
 public:
  explicit finite_guard(executor<Step, Backend>& run, finite_options options = {})
      : run_(run), watch_(programs(), arguments(std::make_integer_sequence<int, inputs>{}), model(), options) {
    run_.observe(watch_);
  }
  finite_guard(finite_guard const&) = delete;
  finite_guard& operator=(finite_guard const&) = delete;
  ~finite_guard() { run_.end_observing(watch_); }

 private:
  static_assert(!exec::remote<Backend>,
                "tx::finite_guard: the host does not reach this backend's memory. FIX: the same step on tx::cpu or "
                "tx::reference");
  static constexpr int inputs = static_cast<int>(std::tuple_size_v<typename Step::arguments>);

  TX_COLD static std::vector<exec::program_tables> programs() {
    std::vector<exec::program_tables> all{exec::tables_of<exec::program_on<Step, Backend>>()};
    return all;
  }
  template <int... K>
  static std::vector<value_info> arguments(std::integer_sequence<int, K...>) {
    return {std::tuple_element_t<static_cast<std::size_t>(K), typename Step::arguments>::info...};
  }
  TX_COLD static exec::watched_model model() {
    using flat = layout<typename Step::model>;
    exec::watched_model m{{kept_parameters_of<typename Step::model>(Step::states)}, {}, {}};
    if constexpr (exec::trains<Step>) {
      m.changes.push_back(detail::elements_that_are_trained<typename Step::model>(Step::states) * size_of(flat::type));
      for (int s = 0; s < Step::states; ++s) {
        m.names.push_back(kept_states_of<typename Step::model>(Step::states, s));
        m.changes.push_back(detail::elements_of_state<typename Step::model>(Step::states, s) * size_of(flat::type));
      }
    }
    for (declared_setting const& s : exec::program_on<Step, Backend>::settings) m.settings.emplace_back(s.name);
    return m;
  }

  executor<Step, Backend>& run_;
  exec::finite_watch watch_;
};

}  // namespace tx
