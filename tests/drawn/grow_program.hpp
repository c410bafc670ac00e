// Whole programs: leaves, steps, repeated bodies, results and what replaces leaves.
#pragma once

#include "grow_steps.hpp"

namespace drawn {

class program_grower : public step_grower {
 public:
  using step_grower::step_grower;

  program run() {
    train_ = draw_.in(3);
    leaves();
    int const steps = draw_.between(3, 16);
    int bodies = 0;
    for (int k = 0; k < steps; ++k) {
      if (bodies < 2 && draw_.in(train_ ? 4 : 9)) {
        if (body()) {
          ++bodies;
          if (draw_.in(2)) differentiate();
        }
      }
      else if (draw_.in(14)) {
        if (between_products() && bodies < 2 && draw_.in(3) && body()) ++bodies;  // which may read what products hand each other
      }
      else if (draw_.in(16)) differentiate();
      else if (draw_.in(20)) with_part_of_itself();
      else if (draw_.in(30)) with_positions();
      else if (draw_.in(60)) attends();
      else if (!train_ && draw_.in(24)) flat_block();
      else step(any_line());
    }
    outputs();
    drop_dead(p_);
    return std::move(p_);
  }

 private:
  int extent() { return draw_.in(40) ? 0 : draw_.in(3) ? 1 : draw_.in(2) ? draw_.of(alike_) : draw_.between(2, 5); }
  std::vector<int> extents(int rank) {
    std::vector<int> e;
    for (int i = 0; i < rank; ++i) e.push_back(extent());
    return e;
  }
  int rank() {
    static std::vector<int> const likely{0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6};
    return draw_.of(likely);
  }

  void leaves() {
    alike_ = {draw_.between(2, 4), draw_.between(2, 5)};
    for (int k = draw_.between(2, 5); k > 0; --k) {
      std::vector<int> e = extents(rank());
      if (p_.most > 0 && !e.empty() && !draw_.in(3)) {
        e[0] = draw_.in(4) ? bounded_columns : bounded_rows;
        for (int& x : e) x = x == 0 ? 1 : draw_.in(4) ? draw_.in(2) ? bounded_rows : bounded_columns : x;
        if (draw_.in(3)) std::swap(e.front(), e.back());
      }
      bool bounded = false;
      for (int x : e) bounded = bounded || x < 0;
      decision d = fresh(!bounded && draw_.in(2) ? what::parameter : what::input);
      d.p = as_numbers(e);
      if (d.kind == what::input && draw_.in(5)) {
        static std::vector<dtype> const types{dtype::f64, dtype::f32, dtype::bf16, dtype::f16, dtype::i64, dtype::i32, dtype::i16, dtype::i8, dtype::u8, dtype::boolean, dtype::e4m3};
        d.type = draw_.of(types);
        if (tx::is_integer(d.type) && d.type != dtype::boolean && draw_.in(2)) d.p[7] = draw_.between(1, 5);
      }
      if (!train_ && d.kind == what::parameter && draw_.in(3)) d.kind = what::block, d.p[7] = draw_.between(1, 2);
      int const id = add(d, d.kind == what::input ? d.p[7] : 0);
      for (int parts = 0; id >= 0 && !train_ && d.kind != what::input && parts < 2 && draw_.in(3); ++parts) part_of(id);
    }
    if (p_.most > 0 && !bounded_input()) new_bounded();
    if (pool_.empty()) new_leaf({p_.type, shape{2, {}, {2, 3}}}, 0);
  }
  bool bounded_input() const {
    for (entry const& v : pool_)
      if (info(v.id).dims.bounds != 0) return true;
    return false;
  }
  void new_bounded() {
    decision d = fresh(what::input);
    d.p = as_numbers({bounded_rows, draw_.in(2) ? bounded_columns : draw_.between(1, 3)});
    add(d);
  }
  // A leaf that shares elements with another one.
  void part_of(int whole) {
    shape const s = info(whole).dims;
    int const count = static_cast<int>(s.count());
    decision d = fresh(what::part, {whole, -1, -1, -1});
    if (s.rank > 0 && s.dim[0] > 1) {
      std::vector<int> e = extents_of(s, p_.most);
      e[0] = draw_.between(1, s.dim[0]);
      d.p = as_numbers(e);
      d.p[7] = draw_.under(s.dim[0] - e[0] + 1) * (count / s.dim[0]);
    } else {
      d.p = as_numbers({count});
    }
    add(d);
  }

  static constexpr std::size_t deepest = 3;  // bodies in each other

  // What goes from iteration to iteration, what all read, mostly seen through a view, and what each has a slice of.
  bool body() {
    decision const o = [&] {
      decision d = fresh(what::open);
      d.p[0] = draw_.in(8) ? 1 : draw_.between(2, 4);
      d.p[1] = draw_.in(3);
      return d;
    }();
    auto const floats = [&](entry const& v) { return info(v.id).count() > 0 && (info(v.id).type == p_.type || draw_.in(4)); };
    std::vector<std::pair<what, int>> outside;
    std::vector<int> early;  // made of leaves before the loop, and read after it
    for (int k = draw_.under(4); k > 0; --k)
      if (int const x = find(floats); x >= 0) outside.emplace_back(what::carry, x);
    for (int k = draw_.under(4); k > 0; --k) {
      static std::vector<char const*> const views{"transpose(a, order", "transpose(a)", "broadcast_to(a, dims", "slice", "reshape"};
      int const line = line_of(draw_.of(views));
      if (!draw_.in(3)) step(line);
      if (int const x = find([&](entry const&) { return true; }); x >= 0) outside.emplace_back(what::same, x);
    }
    for (int k = draw_.under(4); k > 0; --k) {
      std::vector<int> e = extents(draw_.between(0, 3));
      if (open_ < 0 && !outside.empty() && outside.front().first == what::carry && !draw_.in(3)) {  // as a layer's parameters, in some order of axes
        shape const like = info(outside.front().second).dims;
        if (like.rank > 4 || like.bounds != 0) continue;
        numbers const order = any_order(like, draw_);
        e.clear();
        for (int i = 0; i < like.rank; ++i) e.push_back(like.dim[order[static_cast<std::size_t>(i)]]);
        e.insert(e.begin(), o.p[0]);
        decision d = fresh(what::parameter);
        d.p = as_numbers(e);
        if (int const x = draw_.in(3) ? -1 : add(d); x >= 0) {
          if (draw_.in(3)) early.push_back(make("tanh", x));
          outside.emplace_back(what::slices, x);
          if (draw_.in(8)) outside.emplace_back(what::same, x);  // all of what each has a slice of
          continue;
        }
        e.erase(e.begin());
      }
      e.insert(e.begin(), o.p[0]);
      int const before = open_ < 0 && draw_.in(3) ? find([&](entry const& v) { return v.home < 0 && is_leaf_of_block(v.id) && info(v.id).dims.rank > 0 && info(v.id).dims.dim[0] == o.p[0]; }) : -1;
      if (before >= 0) {  // another loop's
        outside.emplace_back(what::slices, before);
        continue;
      }
      if (int const x = obtain({p_.type, dims({}, static_cast<int>(e.size()), {as_numbers(e)[0], as_numbers(e)[1], as_numbers(e)[2], as_numbers(e)[3], as_numbers(e)[4], 0})}); x >= 0)
        outside.emplace_back(what::slices, x);
    }
    int const counter = open_ < 0 && !train_ && draw_.in(6) ? new_counter() : -1;
    if (outside.empty() || add(o) < 0 || p_.decisions.empty() || p_.decisions.back().id != o.id) return false;
    open_ = o.id;
    std::vector<int> carries;
    for (auto const& [kind, x] : outside) {
      int const id = add_argument(kind, x);
      if (id >= 0 && kind == what::carry) carries.push_back(id);
    }
    read_counter(counter);
    for (int k = draw_.between(1, 8); k > 0; --k) {
      if (draw_.in(16)) between_products();
      else if (draw_.in(30)) differentiate();
      else if (draw_.in(20)) with_part_of_itself();
      else if (draw_.in(40)) with_positions();
      else if (bodies_around(open_).size() < deepest && draw_.in(10)) body();
      else if (draw_.in(50)) attends();
      else step(any_line());
    }
    finish_body(o.id, carries);
    for (int x : early)
      if (x >= 0) make("a * b", x, {}, x);
    if (int const next = counter < 0 ? -1 : make("a + b", counter, {}, counter); next >= 0) replaces_.emplace_back(counter, next);
    return true;
  }
  // A number of the program that a body reads without being handed it, and computes what will replace it.
  int new_counter() {
    decision d = fresh(what::block);
    d.p = as_numbers({1});
    d.p[7] = 1;
    return add(d);
  }
  void read_counter(int counter) {
    int const x = counter < 0 ? -1 : find([&](entry const& v) { return v.home == open_ && info(v.id).type == p_.type; });
    int const first = x < 0 ? -1 : make("a * b", x, {}, counter);
    int const next = first < 0 ? -1 : make("a + b", counter, {}, counter);
    if (next >= 0) make(draw_.in(2) ? "a * b" : "a - b", first, {}, next);
  }
  void finish_body(int open, std::vector<int> const& carries) {
    std::vector<int> handed;
    for (int c : carries) {
      int value = find([&](entry const& v) { return v.home == open && v.id != c && info(v.id) == info(c); });
      if (value < 0 || draw_.in(4)) value = obtain(info(c));
      if (value < 0) value = c;
      add_quietly(fresh(what::next, {value, open, c, -1}));
      handed.push_back(c);
    }
    for (int k = draw_.between(carries.empty() ? 1 : 0, 3); k > 0; --k) {
      bool const product = draw_.in(3);  // what the next product of a band reads is kept as well
      int const value = find([&](entry const& v) {
        return v.home == open && info(v.id).dims.rank < tx::max_rank && (!product || b_->g[b_->value(v.id).id].op->kind == tx::op_kind::product);
      });
      if (value < 0) continue;
      decision const d = fresh(what::stack, {value, open, -1, -1});
      add_quietly(d);
      handed.push_back(d.id);
    }
    if (handed.empty()) {  // nothing to hand out: an argument goes as it is, a new one where all that were drawn were refused
      int any = -1;
      for (decision const& a : arguments_)
        if (any < 0 && a.home == open) any = a.id;
      if (any < 0) any = obtain({p_.type, shape{}});
      decision const d = fresh(what::stack, {any, open, -1, -1});
      add_quietly(d);
      handed.push_back(d.id);
    }
    open_ = p_.find(open)->home;
    std::vector<decision> arguments;
    for (decision const& a : arguments_)
      if (a.home == open) arguments.push_back(a);
    std::erase_if(arguments_, [&](decision const& a) { return a.home == open; });
    decision const close = fresh(what::close, {-1, open, -1, -1});
    add_quietly(close);
    e_->extend(leaf());
    for (int h : handed) {
      if (draw_.in(6) && h != handed.front()) continue;
      int const result = add(fresh(what::result, {h, -1, -1, -1}));
      for (decision const& a : arguments)
        if (result >= 0 && open_ < 0 && a.kind == what::slices && is_leaf_of_block(a.in[0]) && info(result) == info(a.in[0])) replaces_.emplace_back(a.in[0], result);
    }
  }
  void add_quietly(decision const& d) {
    b_->add(d);
    p_.decisions.push_back(d);
  }

  bool flat_block() {
    decision d = fresh(what::flat);
    for (std::size_t k = 0; k < 3; ++k) {
      int const x = find([&](entry const& v) { return info(v.id).type == p_.type && info(v.id).dims.bounds == 0 && info(v.id).count() > 0; });
      if (x >= 0 && (k == 0 || draw_.in(2))) d.in[k] = x;
    }
    d.p[0] = draw_.under(3), d.p[1] = draw_.under(3);
    if (d.in[0] < 0) return false;
    try {
      b_->add(d);
    } catch (tx::invalid const&) {
      return false;
    }
    e_->extend(leaf());
    p_.decisions.push_back(d);
    flats_.push_back(d.id);
    return true;
  }

  void outputs() {
    auto const out = [&](int id) { p_.decisions.push_back(fresh(what::out, {id, -1, -1, -1})); };
    bool const trains = train_ && trained();
    std::vector<char> read(static_cast<std::size_t>(p_.next_id), 0);
    for (decision const& d : p_.decisions)
      for (int id : d.in)
        if (id >= 0) read[static_cast<std::size_t>(id)] = 1;
    int results = 0;
    for (std::size_t k = pool_.size(); k-- > 0 && results < (trains ? 2 : 6);) {
      entry const v = pool_[k];
      bool const whole = v.home < 0;
      bool const scalar_only = trains && (p_.end.mode == training::sharded || p_.end.mode == training::accumulated);
      if (!whole || scalar_only || !(results == 0 || (read[static_cast<std::size_t>(v.id)] == 0 && !draw_.in(3)) || draw_.in(8))) continue;
      out(v.id);
      ++results;
    }
    for (int f : flats_) out(f);
    if (trains) return;
    replaced_leaves();
    if (!draw_.in(2)) return;
    int const late = find([&](entry const& v) { return info(v.id).dims.bounds == 0; });  // a leaf, perhaps, that is replaced
    if (late >= 0) out(late);
  }
  // A loss as the first result, and what becomes of it.
  bool trained() {
    int const loss = loss_of(draw_.between(1, 3));
    if (loss < 0) return false;
    p_.decisions.push_back(fresh(what::out, {loss, -1, -1, -1}));
    finish& f = p_.end;
    static std::vector<training> const modes{training::at_once, training::at_once, training::sharded, training::clipped, training::accumulated, training::sharded};
    f.mode = draw_.of(modes);
    if (p_.most > 0 && (f.mode == training::sharded || f.mode == training::accumulated)) f.mode = training::clipped;  // a batch of unknown extent is not cut
    f.optimizer = draw_.under(9);
    f.narrows = draw_.in(2);
    f.halves = p_.type == dtype::f32 && draw_.in(3) ? draw_.between(1, 2) : 0;
    f.recomputes = draw_.in(3);
    f.shards = draw_.between(1, 3);
    f.several_ranks = f.shards != 3;
    return true;
  }
  bool is_leaf_of_block(int id) const {
    what const kind = p_.find(id)->kind;
    return kind == what::parameter || kind == what::block || kind == what::part;
  }
  void replaced_leaves() {
    p_.end.narrows = draw_.in(4);
    p_.end.halves = p_.type == dtype::f32 && draw_.in(8) ? draw_.between(1, 2) : 0;
    std::vector<int> targets;
    for (entry const& v : pool_) {
      decision const& d = *p_.find(v.id);
      if (v.home >= 0 || !is_leaf_of_block(v.id) || !draw_.in(2)) continue;
      int const whole = d.kind == what::part ? d.in[0] : d.id;  // leaves that share elements are not both replaced
      bool clash = false;
      for (int t : targets) clash = clash || t == v.id || t == whole || (p_.find(t)->kind == what::part && p_.find(t)->in[0] == whole);
      if (!clash) targets.push_back(v.id);
    }
    if (targets.size() > 1 && draw_.in(2) && info(targets[0]) == info(targets[1])) {  // two leaves change places
      p_.decisions.push_back(fresh(what::assign, {targets[1], targets[0], -1, -1}));
      p_.decisions.push_back(fresh(what::assign, {targets[0], targets[1], -1, -1}));
      targets.erase(targets.begin(), targets.begin() + 2);
    }
    for (int t : targets) {
      int x = -1;
      for (auto const& [leaf, result] : replaces_)  // slice by slice, in the loop that reads them
        if (leaf == t && !draw_.in(4)) x = result;
      if (x < 0) x = obtain(info(t));
      if (x >= 0) p_.decisions.push_back(fresh(what::assign, {x, t, -1, -1}));
    }
  }

  bool train_ = false;
  std::vector<int> alike_;  // extents that many shapes have
  std::vector<int> flats_;
  std::vector<std::pair<int, int>> replaces_;  // leaves that a body reads, and values that can replace them: results that are made of their slices, numbers
};

inline program draw_program(unsigned seed) {
  chance options(seed ^ 0x9e3779b9u);
  int const most = options.in(4) ? options.between(2, 5) : 0;
  dtype const type = options.in(3) ? dtype::f32 : dtype::f64;
  return program_grower(seed, most, type).run();
}

}  // namespace drawn
