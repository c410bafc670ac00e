// Single steps of a program that grows: a line of makers() with operands that suit it, chains between two products, gradients.
#pragma once

#include "grow.hpp"

namespace drawn {

class step_grower : public grower {
 public:
  using grower::grower;

 protected:
  bool suits(operand o, entry const& v) const {
    tx::value_info const i = info(v.id);
    switch (o) {
      case operand::number: return i.type != dtype::boolean;
      case operand::real: return tx::is_float(i.type);
      case operand::truth: return i.type == dtype::boolean;
      default: return true;
    }
  }
  int first_operand(maker const& m) {
    bool const window = m.numbers_of == pick::window, table = m.b == operand::row_ids;
    int const rank = window ? 4 : table ? 2 : -1;
    int const least = m.b == operand::right ? 2 : 0;
    int const id = find([&](entry const& v) { return suits(m.a, v) && (rank < 0 || info(v.id).dims.rank == rank) && info(v.id).dims.rank >= least; });
    if (id >= 0 || m.a == operand::truth) return id;
    if (window) return obtain({p_.type, shape{4, {}, {draw_.between(1, 2), draw_.between(1, 2), draw_.between(2, 4), draw_.between(2, 4)}}});
    if (table) return obtain({p_.type, shape{2, {}, {draw_.between(1, 5), draw_.between(1, 4)}}});
    return -1;
  }

  // A shape that broadcasts with another one.
  shape meeting(shape s) {
    if (draw_.in(2)) return s;
    for (int i = s.tag ? 1 : 0; i < s.rank; ++i)
      if (draw_.in(3)) s.dim[i] = 1;
    if (s.rank > 0 && draw_.in(4)) {  // without leading axes
      for (int cut = draw_.between(1, s.rank); cut > 0; --cut) {
        for (int i = 1; i < s.rank; ++i) s.dim[i - 1] = s.dim[i];
        s.dim[--s.rank] = 0;
        s.tag = {};
      }
    }
    return s;
  }
  tx::value_info right_side(tx::value_info const& a) {
    tx::value_info w{a.type, a.dims};
    int const rank = a.dims.rank;
    int const columns = draw_.between(1, 4);
    if (rank == 2 && a.dims.tag && a.dims.tag.axis == 1) {
      w.dims = shape{2, a.dims.tag.on(0), {a.dims.dim[1], columns}};
    } else if (rank == 2 || draw_.in(4)) {
      w.dims = shape{2, {}, {a.dims.last(), columns}};
    } else {
      w.dims.dim[rank - 2] = a.dims.last();
      w.dims.dim[rank - 1] = columns;
    }
    return w;
  }

  // An operand beside a; -1 where there is none.
  int other_operand(operand o, int a, int b, numbers const& p) {
    tx::value_info const i = info(a);
    shape s = i.dims;
    switch (o) {
      case operand::like: return obtain(i);
      case operand::meets: return obtain({i.type, meeting(s)});
      case operand::truth_too: return obtain({dtype::boolean, meeting(s)});
      case operand::right: return obtain(right_side(i));
      case operand::joins:
        if (!s.tag || p[0] > 0) s.dim[p[0]] = draw_.between(1, 3);
        return obtain({i.type, s});
      case operand::places:
        if (s.dim[p[0]] < 1 || (s.tag && p[0] == 0)) return -1;
        {
          int const limit = s.dim[p[0]];
          s.dim[p[0]] = draw_.between(1, 4);
          return obtain({draw_.in(5) ? dtype::i64 : dtype::i32, s}, limit);
        }
      case operand::row_ids: {
        if (s.dim[0] < 1 || s.tag) return -1;
        shape ids{1, {}, {draw_.between(1, 4)}};
        if (draw_.in(2)) ids = shape{2, {}, {draw_.between(1, 3), draw_.between(1, 3)}};
        if (p_.most > 0 && draw_.in(3)) ids = dims({p_.most, -1}, 2, {-1, draw_.between(1, 2)});
        return obtain({dtype::i32, ids}, s.dim[0]);
      }
      case operand::values: return obtain({i.type, info(b).dims});
      default: return -1;
    }
  }

  // One decision by a line of the table; false where nothing suits it.
  bool step(int line) {
    maker const& m = makers()[static_cast<std::size_t>(line)];
    int const a = first_operand(m);
    if (a < 0) return false;
    auto const p = choose(m.numbers_of, info(a), p_.type, draw_);
    if (!p) return false;
    int b = -1, c = -1;
    if (m.b != operand::none && (b = other_operand(m.b, a, -1, *p)) < 0) return false;
    if (m.c != operand::none && (c = other_operand(m.c, a, b, *p)) < 0) return false;
    return make(line, a, *p, b, c) >= 0;
  }
  int any_line() {
    static int const all = [] {
      int sum = 0;
      for (maker const& m : makers()) sum += m.weight;
      return sum;
    }();
    int left = draw_.under(all);
    for (std::size_t k = 0;; ++k)
      if ((left -= makers()[k].weight) < 0) return static_cast<int>(k);
  }

  // Batched products that hand each other large values, with what attention does in between and what it must not.
  bool between_products() {
    int const n = draw_.between(2, 3), rows = draw_.between(1, 4), depth = draw_.between(1, 2), cols = draw_.between(2, 5);
    bool const two = draw_.in(2);  // two batch axes, alike
    shape left = two ? shape{4, {}, {n, n, rows, depth}} : shape{3, {}, {n, rows, depth}};
    if (p_.most > 0 && draw_.in(2)) left = dims({p_.most, -1}, 3, {-1, rows, depth});
    shape right = left;
    right.dim[left.rank - 2] = depth, right.dim[left.rank - 1] = cols;
    int const x = obtain({p_.type, left}), y = x < 0 ? -1 : obtain({p_.type, right});
    int s = y < 0 ? -1 : make("product(a, b)", x, {}, y);
    if (s < 0) return false;
    int other = s;  // something of one value per row, or of all elements
    for (int k = draw_.between(1, 4); k > 0; --k) {
      tx::value_info const i = info(s);
      int made = -1;
      switch (draw_.under(10)) {
        case 0: made = make("tanh", s); break;
        case 1: made = make("softmax_over", s, {1 << (i.dims.rank - 1)}); break;
        case 2: other = make(draw_.in(2) ? "max_over" : "sum_over(a, p[0])", s, {1 << (i.dims.rank - 1)}); break;
        case 3: {
          numbers p{0, 1, 2, 3};
          if (two) std::swap(p[0], p[1]);
          if (other >= 0) other = make("transpose(a, order", other, p);
          break;
        }
        case 4:
        case 5: made = make(draw_.in(2) ? "a - b" : "a * b", s, {}, other < 0 || draw_.in(3) ? obtain({i.type, meeting(i.dims)}) : other); break;
        case 6: made = make("exp", s); break;
        case 7: made = make("dropped", s); break;
        case 8: made = make(draw_.in(2) ? "cumsum" : "flip", s, {draw_.under(i.dims.rank), 1}); break;
        default: made = make("where", s, {}, obtain(i), obtain({dtype::boolean, meeting(i.dims)})); break;
      }
      if (made >= 0 && info(made) == i) s = made;
    }
    if (other >= 0 && draw_.in(2)) {
      int const made = make("a - b", s, {}, other);
      if (made >= 0 && info(made) == info(s)) s = made;
    }
    tx::value_info values = info(s);
    values.dims.dim[values.dims.rank - 2] = values.dims.last();
    values.dims.dim[values.dims.rank - 1] = draw_.between(1, 2);
    int const v = obtain(values);
    return v >= 0 && make("product(a, b)", s, {}, v) >= 0;
  }

  // A number that gradients can be taken of: sums of some values, or of what sin or tanh makes of them.
  int loss_of(int count) {
    int sum = -1;
    for (int k = 0; k < count; ++k) {
      int const x = find([&](entry const& v) { return v.home == open_ && info(v.id).type == p_.type && info(v.id).count() > 0; });
      int const y = x < 0 || draw_.in(3) ? x : make(draw_.in(2) ? "sin" : "tanh", x);
      int const t = y < 0 ? -1 : make("total", y);
      if (t >= 0) sum = sum < 0 ? t : make("a + b", sum, {}, t);
      if (sum < 0) return -1;
    }
    return sum;
  }
  // Is it a node of its own in every graph, so that nothing else is made of it by chance?
  static bool is_independent(decision const& d) {
    if (d.kind == what::gradient || d.kind == what::also) return false;
    return d.kind != what::make || std::string_view(makers()[static_cast<std::size_t>(d.line)].text).starts_with("independent");
  }
  bool differentiate() {
    int const loss = loss_of(draw_.between(1, 2));
    if (loss < 0) return false;
    decision d = fresh(what::gradient, {loss, -1, -1, -1});
    std::size_t n = 1;
    for (int tries = 0; tries < 8 && n < 4; ++tries) {
      int const x = find([&](entry const& v) { return v.home == open_ && tx::is_float(info(v.id).type) && !tx::is_half(info(v.id).type) && v.id != loss; });
      bool const leaf = x >= 0 && is_independent(*p_.find(x));
      if (x < 0 || (!leaf && (p_.most > 0 || !draw_.in(4))) || std::find(d.in.begin(), d.in.end(), x) != d.in.end()) continue;
      d.in[n++] = x;
    }
    if (n == 1 || add(d) < 0) return false;
    for (int k = 1; k + 1 < static_cast<int>(n); ++k) {
      decision also = fresh(what::also, {d.id, -1, -1, -1});
      also.p[0] = k;
      add(also);
    }
    return true;
  }
};

}  // namespace drawn
