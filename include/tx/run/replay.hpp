// How a run of a program's kernels is started: one after the other, or by a backend that has recorded them all.
#pragma once

#include <tx/run/frame.hpp>

namespace tx::exec {

// A backend that records runs says so by a type `replay`, of which each executor has one: replay(frame, run) does what run() does. A recorded run
// may be used again where launch_facts are the same: arguments, scalars and the step lie in memory, in the same places.
struct every_kernel {
  template <class Run>
  void operator()(frame const&, Run const& run) {
    run();
  }
};
template <class Backend>
concept replays = requires { typename Backend::replay; };
template <class Backend>
struct replay_of {
  using type = every_kernel;
};
template <replays Backend>
struct replay_of<Backend> {
  using type = typename Backend::replay;
};

// What launches depend on besides the program and where its memory is.
struct launch_facts {
  philox_key key{};
  std::int64_t shard = 0;
  std::byte const* scalars = nullptr;  // and arguments beside them: two runs may be under way, with places of their own
  int extents[max_tags + 1] = {};

  static launch_facts of(frame const& f) {
    launch_facts l{f.key, f.shard, f.base[base_scalars], {}};
    for (int t = 0; t <= max_tags; ++t) l.extents[t] = f.extents.now[t];
    return l;
  }
  friend bool operator==(launch_facts const& a, launch_facts const& b) {
    bool same = a.key.word[0] == b.key.word[0] && a.key.word[1] == b.key.word[1] && a.shard == b.shard && a.scalars == b.scalars;
    for (int t = 0; t <= max_tags; ++t) same = same && a.extents[t] == b.extents[t];
    return same;
  }
};

}  // namespace tx::exec
