// Parameters of which ranks keep portions (zero<3>) are gathered for the next iteration while one is computed: a repeated block carries what it was handed by the one before.
//
//   before   region 1 of p [12, 192, 768]: w = all_gather(slice of p), y = matmul(x, w)
//   after    c = all_gather(p[0]) before it; region 1 carries c [768, 768]: y = matmul(x, c), and c' = all_gather_of_next(slice of p) is carried on
//
// In the last iteration there is no next one: it gathers its own once more. That is what the first iteration of the backward pass, which runs in reverse, begins with; so what
// travels is one block more than without, and one block more lies in memory.
#pragma once

#include <tx/dist/begun.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/slice.hpp>
#include <tx/passes/hand_in.hpp>

namespace tx::dist::detail {

class ahead_fetcher {
 public:
  // worth_it: bytes of what is gathered, of which less is there at once.
  constexpr ahead_fetcher(graph& g, std::int64_t worth_it) : g_(g), worth_it_(worth_it), own_(g.size()) {}

  constexpr void run() {
    for (bool const reversed : {false, true})  // a backward pass begins with what the forward one ends with
      for (int r = 1; r < g_.regions.size(); ++r)
        if (g_.regions[r].reversed == reversed && is_plain_loop(r))
          for (int id = 0; id < own_; ++id)
            if (is_of_slice(r, id)) fetch_ahead(r, id);
    g_.current = 0;
    g_.site = 0;
  }

 private:
  // What a loop carries on of a slice when it ends: that of its last iteration.
  struct fetched {
    int given, owner, carry;
    attributes at;
  };

  constexpr bool is_plain_loop(int r) const {
    region const& body = g_.regions[r];
    return body.owner >= 0 && body.iterations > 1 && !body.turn && body.of_ranks == 0;
  }
  // Does it gather, in the body, a slice of what lies outside of all bodies?
  constexpr bool is_of_slice(int r, int id) const {
    if (g_[id].op != &all_gather_info || g_[id].region != r || g_.info(id).bytes() < worth_it_) return false;
    int const slice = g_.input(id, 0), leaf = passes::detail::outermost(g_, slice);
    bool const handed_in = g_[slice].op == &argument_info && argument_number(g_[slice].at) >= g_.regions[r].carries + g_.regions[r].invariants;
    return handed_in && leaf >= 0 && (g_[leaf].op == &block_info || g_[leaf].op == &parameter_info);
  }

  constexpr void fetch_ahead(int r, int id) {
    node const gathers = g_[id];
    int const given = g_.input(g_.regions[r].owner, argument_number(g_[g_.input(id, 0)].at));
    int const first = of_first_iteration(r, given, gathers), carry = g_.regions[r].carries;
    int const now = passes::detail::one_more_carry(g_, r, first, id, gathers.info);
    replace_everywhere(g_, id, now);
    g_.nodes[id].op = &all_gather_of_next_info;
    g_.regions[r].results[carry] = id;
    known_.push_back({given, g_.regions[r].owner, carry, gathers.at});
  }
  constexpr int of_first_iteration(int r, int given, node const& gathers) {
    region const& body = g_.regions[r];
    go_on_in(g_, body.parent, gathers);
    for (fetched const& f : known_)
      if (body.reversed && f.given == given && f.at == gathers.at && f.owner < body.owner && !g_.regions[run_region(g_[f.owner].at)].reversed)
        return g_.emit(&result_info, &f.owner, 1, of_result(f.carry), gathers.info);
    var const all{&g_, given};
    var const one = slice(all, 0, body.reversed ? body.iterations - 1 : 0, 1, 1);
    return emit(all_gather_info, {reshape(one, all.dims().inner())}, gathers.at).id;
  }

  graph& g_;
  std::int64_t worth_it_;
  int own_;  // nodes from here on are made here
  vec<fetched> known_{};
};

}  // namespace tx::dist::detail
