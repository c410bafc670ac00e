// Draws decisions one by one: each is made at once, so that what the shape rules refuse, or what grows beyond bounds, is left out.
#pragma once

#include "choose.hpp"
#include "numbers.hpp"
#include "refusals.hpp"
#include "rules.hpp"

namespace drawn {

class grower {
 protected:
  auto leaf() const {
    return [](tx::node const& n) { return leaf_values(n); };
  }

 public:
  grower(unsigned seed, int most, dtype type) : draw_(seed) {
    p_.most = most;
    p_.type = type;
    b_ = std::make_unique<builder>(p_, row_count{most, -1});
    e_ = std::make_unique<evaluator>(b_->g, leaf(), plain_run());
  }

 protected:
  static constexpr int most_elements = 200;

  struct entry {
    int id, home, limit;
  };
  tx::value_info info(int id) const { return b_->value(id).info(); }

  decision fresh(what kind, std::array<int, 4> in = {-1, -1, -1, -1}) {
    decision d{};
    d.kind = kind;
    d.id = p_.next_id++;
    d.home = open_;
    d.in = in;
    d.type = p_.type;
    return d;
  }

  static constexpr char const *too_large = "too large", *beyond_bounds = "beyond bounds";
  static bool is_own(std::string_view text) { return text == too_large || text == beyond_bounds; }

  // The decision's value, -1 where it is refused.
  int add(decision const& d, int limit = 0) {
    bool const differentiates = d.kind == what::gradient;
    tx::graph const before = differentiates ? b_->g : tx::graph{};
    try {
      b_->add(d);
      if (b_->has(d.id) && !small(b_->value(d.id))) throw tx::invalid(too_large);
      e_->extend(leaf());
      if (b_->has(d.id) && !tame(d.id)) throw tx::invalid(beyond_bounds);
    } catch (tx::invalid const& e) {
      if (differentiates) {
        if (!may_be_refused(e.what()) && !is_own(e.what())) throw std::logic_error(e.what());
        b_->g = before;
        e_ = std::make_unique<evaluator>(b_->g, leaf(), plain_run());
        set_arguments();
        e_->extend(leaf());
      }
      return -1;
    }
    p_.decisions.push_back(d);
    if (b_->has(d.id)) pool_.push_back({d.id, d.home, limit});
    return d.id;
  }
  static bool small(var v) { return v.dims().rank <= tx::max_rank && v.info().count() <= most_elements; }
  bool tame(int id) const {
    bool const halves = tx::is_half(info(id).type);
    for (double x : (*e_)[b_->value(id).id])
      if (!(std::abs(x) < (halves ? 100 : 1e4))) return false;
    return true;
  }

  bool readable(entry const& v) const { return v.home == open_ || (v.home < 0 && info(v.id).count() == 1); }
  int limit_of(int id) const {
    for (entry const& v : pool_)
      if (v.id == id) return v.limit;
    return 0;
  }

  // A value that satisfies `wanted`, the later the likelier; -1 where there is none.
  template <class Wanted>
  int find(Wanted const& wanted) {
    std::vector<int> fit;
    for (entry const& v : pool_)
      if (readable(v) && wanted(v)) fit.push_back(v.id);
    if (fit.empty()) return -1;
    int const n = static_cast<int>(fit.size());
    return fit[static_cast<std::size_t>(draw_.in(2) ? std::max(n - 1 - draw_.under(3), 0) : draw_.under(n))];
  }

  int line_of(char const* text) const {
    for (std::size_t i = 0; i < makers().size(); ++i)
      if (std::string_view(makers()[i].text).starts_with(text)) return static_cast<int>(i);
    throw std::logic_error(std::string("no line makes ") + text);
  }
  int make(int line, int a, numbers const& p, int b = -1, int c = -1) {
    maker const& m = makers()[static_cast<std::size_t>(line)];
    if (a < 0 || (m.b != operand::none && b < 0) || (m.c != operand::none && c < 0)) return -1;
    decision d = fresh(what::make, {a, b, c, -1});
    d.line = line;
    d.p = p;
    shape const& s = info(a).dims;
    int limit = 0;
    if (m.limit == below::as_a) limit = limit_of(a);
    if (m.limit == below::axis) limit = s.rank > 0 ? s.dim[p[0]] : 0;
    if (m.limit == below::last) limit = s.last();
    return add(d, limit);
  }
  int make(char const* text, int a, numbers const& p = {}, int b = -1, int c = -1) { return make(line_of(text), a, p, b, c); }

  // A leaf of the program; of a body, an argument with its value.
  int new_leaf(tx::value_info w, int limit) {
    int const body = open_;
    std::vector<int> const around = bodies_around(body);  // outermost first
    open_ = -1;
    std::vector<int> extents = extents_of(w.dims, p_.most);
    std::vector<what> ways(around.size(), what::same);
    for (std::size_t k = around.size(); k-- > 0;)
      if (extents.size() < tx::max_rank && draw_.in(2)) {
        ways[k] = what::slices;
        extents.insert(extents.begin(), p_.find(around[k])->p[0]);
      }
    bool const own = w.type == p_.type && w.dims.bounds == 0 && draw_.in(2);
    decision d = fresh(own ? what::parameter : what::input);
    d.type = w.type;
    d.p = as_numbers(extents);
    if (!own) d.p[7] = limit;
    int id = add(d, limit);
    for (std::size_t k = 0; k < around.size() && id >= 0; ++k) {
      open_ = around[k];
      id = add_argument(ways[k], id);
    }
    open_ = body;
    return id;
  }
  std::vector<int> bodies_around(int body) const {
    std::vector<int> all;
    for (; body >= 0; body = p_.find(body)->home) all.insert(all.begin(), body);
    return all;
  }
  int add_argument(what kind, int outside) {
    decision d = fresh(kind, {outside, open_, -1, -1});
    int const limit = kind == what::carry ? 0 : limit_of(outside);  // a carry's next value may be any
    // The value of an argument in the first iteration is needed before anything that follows from it.
    try {
      b_->add(d);
    } catch (tx::invalid const&) {
      return -1;
    }
    arguments_.push_back(d);
    set_argument(d);
    p_.decisions.push_back(d);
    pool_.push_back({d.id, d.home, limit});
    return d.id;
  }
  void set_arguments() {
    for (decision const& d : arguments_) {  // those of a body in a body come after what they are given
      e_->extend(leaf());
      set_argument(d);
    }
  }
  void set_argument(decision const& d) {
    values v = (*e_)[b_->value(d.in[0]).id];
    bool const last = p_.find(d.home)->p[1] != 0;
    auto const one = static_cast<std::ptrdiff_t>(info(d.id).count());
    if (d.kind == what::slices) v = values(last ? v.end() - one : v.begin(), last ? v.end() : v.begin() + one);
    e_->set(b_->value(d.id).id, std::move(v));
  }

  // A value of that type and shape, made of others by views and reductions where there is none, else a leaf.
  int obtain(tx::value_info w, int limit = 0) {
    try {
      count_in(w.dims);
    } catch (tx::invalid const&) {
      return -1;  // a bounded extent too often
    }
    auto const may = [&](entry const& v) { return info(v.id).type == w.type && (limit == 0 || (v.limit > 0 && v.limit <= limit)); };
    auto const ready = [&] { return find([&](entry const& v) { return may(v) && info(v.id) == w; }); };
    if (!draw_.in(3))
      if (int const id = ready(); id >= 0) return id;
    for (int tries = 0; tries < 6; ++tries) {
      int const x = find([&](entry const& v) { return may(v) && info(v.id).count() > 0; });
      if (x < 0) break;
      if (int const id = turned_into(x, w); id >= 0 && info(id) == w) return id;
    }
    if (int const id = ready(); id >= 0) return id;
    if (w.type == dtype::boolean && draw_.in(2)) {
      int const x = obtain({p_.type, w.dims});
      int const y = x < 0 ? -1 : obtain({p_.type, w.dims});
      if (int const id = y < 0 ? -1 : make("less(a, b)", x, {}, y); id >= 0 && info(id) == w) return id;
    }
    int const made = new_leaf(w, limit);
    return made >= 0 && info(made) == w ? made : -1;
  }

  int turned_into(int x, tx::value_info w) {
    shape const from = info(x).dims;
    shape const& to = w.dims;
    std::vector<int> const have = extents_of(from, p_.most), want = extents_of(to, p_.most);
    if (have == want) return -1;
    if (count_in(from) == count_in(to)) {
      std::vector<int> a = have, b = want;
      std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
      if (a != b) return make("reshape", x, as_numbers(want));
      numbers p{};
      std::vector<char> used(have.size(), 0);
      for (std::size_t i = 0; i < want.size(); ++i) {
        int const start = draw_.under(static_cast<int>(have.size()));
        for (std::size_t j = 0; j < have.size(); ++j) {
          std::size_t const k = (j + static_cast<std::size_t>(start)) % have.size();
          if (used[k] != 0 || have[k] != want[i]) continue;
          used[k] = 1;
          p[i] = static_cast<int>(k);
          break;
        }
      }
      return make("transpose(a, order", x, p);
    }
    if (have.size() <= want.size()) {
      bool widens = true;
      for (std::size_t i = 0; i < have.size(); ++i) {
        int const h = have[have.size() - 1 - i], t = want[want.size() - 1 - i];
        widens = widens && (h == t || h == 1);
      }
      if (widens) return make("broadcast_to(a, dims", x, as_numbers(want));
    }
    if (have.size() != want.size()) return -1;
    int mask = 0, sliced = -1;
    for (std::size_t i = 0; i < have.size(); ++i) {
      if (have[i] == want[i]) continue;
      if (want[i] == 1) mask |= 1 << i;
      else if (sliced < 0 && have[i] > want[i] && want[i] > 0) sliced = static_cast<int>(i);
      else return -1;
    }
    if (sliced >= 0 && mask == 0) {
      int const extent = have[static_cast<std::size_t>(sliced)], count = want[static_cast<std::size_t>(sliced)];
      int const step = count > 1 && (extent - 1) / (count - 1) > 1 && draw_.in(2) ? 2 : 1;
      return make("slice", x, {sliced, draw_.under(extent - (count - 1) * step), count, step});
    }
    if (sliced >= 0 || w.type == dtype::boolean) return -1;
    return make(draw_.in(2) ? "max_over" : "sum_over", x, {mask});
  }

  chance draw_;
  program p_{};
  std::unique_ptr<builder> b_;
  std::unique_ptr<evaluator> e_;
  std::vector<entry> pool_;
  std::vector<decision> arguments_;  // of the bodies that are open
  int open_ = -1;
};

}  // namespace drawn
