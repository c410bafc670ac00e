// A loop whose body is loops that take turns (core/turns.hpp): in each of its iterations a rank runs of some of them one iteration, of others none. What goes from one to the next, and from
// iteration to iteration, is a carry of the loop; each of those that take turns may read it and give it another value.
//
//   loop_of_turns loop(g);
//   loop.begin(times);
//   int const sum = loop.carry(info);           zeros at first
//   {
//     loop_of_turns::turn t(loop, part, when, parts);
//     int const s = t.carry(sum);
//     t.hand_in(...);                           leaves of `part`
//     t.adds(s, t.value(0));                    s + the first output of `part`
//     t.close();
//   }
//   loop.close();
//   loop.after_all(sum)
#pragma once

#include <tx/expr/stacked.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/passes/as_body.hpp>

namespace tx::dist::detail {

class loop_of_turns {
  struct carried {
    int start;   // outside of the loop
    int inside;  // argument
    int now;     // what it has become within the body so far
  };

 public:
  constexpr explicit loop_of_turns(graph& g) : g_(g) {}

  constexpr void begin(int times) {
    region_ = g_.regions.size();
    region loop{};
    loop.iterations = times;
    g_.regions.push_back(loop);
  }
  constexpr int carry(value_info const& info) {
    g_.current = 0;
    int const start = broadcast_to(constant(g_, info.type, 0), info.dims).id, inside = argument(info);
    carries_.push_back({start, inside, inside});
    return carries_.size() - 1;
  }
  constexpr int now(int carry_number) const { return carries_[carry_number].now; }
  // What the body sees of a value around it.
  constexpr int seen(int outside) {
    for (int k = 0; k < given_.size(); ++k)
      if (given_[k] == outside) return seen_[k];
    int const inside = argument(g_.info(outside));
    given_.push_back(outside);
    seen_.push_back(inside);
    return inside;
  }
  constexpr void close() {
    vec<int> inputs{};
    region& body = g_.regions[region_];
    auto const add = [&](int inside, int outside) {
      g_.nodes[inside].at = of_argument(inputs.size(), region_);
      body.arguments.push_back(inside);
      inputs.push_back(outside);
    };
    for (carried const& c : carries_) {
      add(c.inside, c.start);
      body.results.push_back(c.now);
    }
    for (int k = 0; k < given_.size(); ++k) add(seen_[k], given_[k]);
    body.carries = carries_.size();
    body.invariants = given_.size();
    g_.current = 0;
    g_.when = step_phase::forward;
    int const owner = g_.emit(&repeat_info, inputs.data(), inputs.size(), of_region(region_), g_.info(body.results[0]));
    g_.regions[region_].owner = owner;
  }
  // A carry once the loop has ended.
  constexpr var after_all(int carry_number) {
    int const owner = g_.regions[region_].owner;
    g_.current = 0;
    return {&g_, g_.emit(&result_info, &owner, 1, of_result(carry_number), g_.info(carries_[carry_number].inside))};
  }

  // A loop in it that computes a part of a model: what it is given of the loop's carries first, then other leaves, then what becomes of them, and what it stacks.
  class turn {
   public:
    constexpr turn(loop_of_turns& all, graph const& part, turns when, int slots) : all_(all), part_(part), body_(begin(all), part) {
      region& r = body_.body();
      r.iterations = slots;
      r.parts = true;
      r.turn = when;
    }
    // Returns the argument.
    constexpr int carry(int number) {
      carries_.push_back(number);
      ++body_.body().carries;
      return body_.argument(all_.now(number), all_.g_.info(all_.now(number)), -1);
    }
    // outside(node, stacked): the value of the loop's body that a leaf stands for; may say that an iteration sees a slice of it.
    template <class Outside>
    constexpr void hand_in(Outside const& outside) {
      for (bool const wanted : {false, true})
        for (int id = 0; id < part_.size(); ++id) {
          if (!passes::body_of_graph::is_handed_in(part_, id)) continue;
          bool stacked = false;
          int const value = outside(part_[id], stacked);
          if (stacked != wanted) continue;
          body_.argument(value, part_.info(id), id);
          ++(stacked ? body_.body().stacked : body_.body().invariants);
        }
      body_.copy_nodes(0);
      all_.g_.current = body_.id();
    }
    // Of output number k of the part.
    constexpr int value(int k) const { return body_[part_.outputs[k].value]; }
    // What the carry that comes next becomes, in their order.
    constexpr void becomes(int id) { body_.body().results.push_back(id); }
    constexpr void adds(int argument, int id) {
      all_.g_.when = step_phase::update;
      becomes((var{&all_.g_, argument} + var{&all_.g_, id}).id);
    }
    constexpr void stacks(int id) { body_.body().results.push_back(id); }
    // Carries are what it made of them from here on. Returns what it stacks.
    constexpr vec<int> close() {
      int const owner = body_.close();
      graph& g = all_.g_;
      for (int k = 0; k < carries_.size(); ++k) {
        value_info const info = g.info(all_.now(carries_[k]));
        all_.carries_[carries_[k]].now = g.emit(&result_info, &owner, 1, of_result(k), info);
      }
      vec<int> out{};
      region const r = body_.body();
      for (int k = carries_.size(); k < r.results.size(); ++k) {
        value_info const info = tx::detail::stacked(g.info(r.results[k]), r.iterations);
        out.push_back(g.emit(&result_info, &owner, 1, of_result(k), info));
      }
      return out;
    }

   private:
    static constexpr graph& begin(loop_of_turns& all) {
      all.g_.current = all.region_;
      all.g_.when = step_phase::forward;
      return all.g_;
    }

    loop_of_turns& all_;
    graph const& part_;
    passes::body_of_graph body_;
    vec<int> carries_{};
  };

 private:
  constexpr int argument(value_info const& info) {
    constexpr int unnumbered = 1 << 20;
    g_.current = region_;
    return emit_leaf(g_, argument_info, info, of_argument(unnumbered + carries_.size() + given_.size(), region_)).id;
  }

  graph& g_;
  int region_ = 0;
  vec<carried> carries_{};
  vec<int> given_{}, seen_{};
};

}  // namespace tx::dist::detail
