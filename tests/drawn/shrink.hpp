// A program that fails, with as few decisions as still do.
#pragma once

#include "check.hpp"
#include "choose.hpp"

namespace drawn {

class shrinker {
 public:
  // fails(program): does it still?
  template <class Fails>
  static program run(program p, Fails const& fails) {
    int const tries_left = 3000;
    shrinker s{tries_left};
    for (bool smaller = true; smaller && s.left_ > 0;) smaller = s.pass(p, fails);
    return p;
  }

 private:
  explicit shrinker(int tries) : left_(tries) {}

  template <class Fails>
  bool pass(program& p, Fails const& fails) {
    bool any = false;
    auto const attempt = [&](program q) {
      drop_dead(q);
      if (left_-- <= 0 || q.decisions.empty() || !fails(q)) return false;
      p = std::move(q);
      return any = true;
    };
    simpler_end(p, attempt);
    for (std::size_t k = p.decisions.size(); k-- > 0;) {
      if (k >= p.decisions.size()) continue;
      decision const d = p.decisions[k];
      if (d.kind == what::out || d.kind == what::assign || d.kind == what::next || d.kind == what::stack) {
        program q = p;
        q.decisions.erase(q.decisions.begin() + static_cast<std::ptrdiff_t>(k));
        attempt(std::move(q));
        continue;
      }
      if (d.kind == what::open) {
        for (auto const& [which, value] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 0}})
          if (d.p[static_cast<std::size_t>(which)] > value) {
            program q = p;
            q.decisions[k].p[static_cast<std::size_t>(which)] = value;
            attempt(std::move(q));
          }
        continue;
      }
      if (d.kind == what::close || is_leaf(d.kind)) continue;
      if (bypassed(p, k, attempt)) continue;
      replaced(p, k, attempt);
    }
    return any;
  }

  static bool is_leaf(what k) { return k == what::input || k == what::parameter || k == what::block; }

  template <class Attempt>
  void simpler_end(program& p, Attempt const& attempt) {
    auto const with = [&](auto const& change) {
      program q = p;
      change(q.end);
      return attempt(std::move(q));
    };
    if (p.end.mode != training::none) with([](finish& f) { f.mode = training::none; });
    if (p.end.mode == training::sharded || p.end.mode == training::clipped) with([](finish& f) { f.mode = training::at_once; });
    if (p.end.narrows) with([](finish& f) { f.narrows = false; });
    if (p.end.halves != 0) with([](finish& f) { f.halves = 0; });
    if (p.end.recomputes) with([](finish& f) { f.recomputes = false; });
    if (p.end.optimizer != 0) with([](finish& f) { f.optimizer = 0; });
    if (p.end.shards > 1) with([](finish& f) { f.shards = 1; });
    if (p.end.several_ranks) with([](finish& f) { f.several_ranks = false; });
    if (p.type != dtype::f64) {
      program q = p;
      for (decision& d : q.decisions)
        if (d.type == p.type) d.type = dtype::f64;
      q.type = dtype::f64;
      attempt(std::move(q));
    }
    if (p.most > 0) {
      program q = p;
      for (decision& d : q.decisions)
        for (std::size_t i = 0; i < 6; ++i)
          if (d.p[i] < 0) d.p[i] = dims({p.most, p.most}, 1, {d.p[i]}).dim[0];
      q.most = 0;
      attempt(std::move(q));
    }
  }

  // Its readers read its first operand in its place.
  template <class Attempt>
  bool bypassed(program& p, std::size_t k, Attempt const& attempt) {
    decision const d = p.decisions[k];
    for (int instead : d.in) {
      if (instead < 0 || d.kind == what::carry || d.kind == what::same || d.kind == what::slices || d.kind == what::result) continue;
      program q = p;
      for (decision& r : q.decisions)
        for (int& id : r.in)
          if (id == d.id) id = instead;
      if (attempt(std::move(q))) return true;
    }
    return false;
  }

  // A leaf with its shape stands in its place; in a body, an argument with one.
  template <class Attempt>
  bool replaced(program& p, std::size_t k, Attempt const& attempt) {
    decision const d = p.decisions[k];
    tx::value_info info;
    try {
      auto const b = build(p, {p.most, -1});
      if (!b->has(d.id)) return false;
      info = b->value(d.id).info();
    } catch (tx::invalid const&) {
      return false;
    }
    program q = p;
    decision leaf{};
    leaf.kind = what::input;
    leaf.type = info.type;
    leaf.p = as_numbers(extents_of(info.dims, p.most));
    leaf.p[7] = tx::is_integer(info.type) ? 1 : 0;
    if (d.home < 0) {
      leaf.id = d.id;
      q.decisions[k] = leaf;
      return attempt(std::move(q));
    }
    if (d.kind == what::same) return false;
    leaf.id = q.next_id++;
    std::vector<decision> made{leaf};  // and an argument of each body around, outermost first
    std::vector<int> around;
    for (int body = d.home; body >= 0; body = p.find(body)->home) around.insert(around.begin(), body);
    for (int body : around) {
      decision argument{};
      argument.kind = what::same;
      argument.id = body == d.home ? d.id : q.next_id++;
      argument.home = body;
      argument.in = {made.back().id, body, -1, -1};
      made.push_back(argument);
    }
    q.decisions[k] = made.back();
    q.decisions.insert(q.decisions.begin() + static_cast<std::ptrdiff_t>(k), made.begin(), made.end() - 1);
    return attempt(std::move(q));
  }

  int left_;
};

}  // namespace drawn
