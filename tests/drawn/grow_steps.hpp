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
    for (int i = 0; i < s.rank; ++i)
      if (draw_.in(3)) s.set(i, 1);
    if (s.rank > 0 && draw_.in(4)) {  // without leading axes
      for (int cut = draw_.between(1, s.rank); cut > 0; --cut) s = s.inner();
    }
    return s;
  }
  tx::value_info right_side(tx::value_info const& a) {
    tx::value_info w{a.type, a.dims};
    int const rank = a.dims.rank;
    tx::bounded columns = draw_.between(1, 4);
    if (p_.most > 0 && draw_.in(4)) columns = dims({p_.most, -1}, 1, {draw_.in(2) ? bounded_rows : bounded_columns}).at(0);
    if (rank == 2 || draw_.in(4)) {
      w.dims = tx::extents(a.dims.at(-1), columns);
    } else {
      w.dims.set(rank - 2, a.dims.at(-1));
      w.dims.set(rank - 1, columns);
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
        if (!s.is_bounded(p[0])) s.dim[p[0]] = draw_.between(1, 3);
        return obtain({i.type, s});
      case operand::places:
        if (s.dim[p[0]] < 1 || s.is_bounded(p[0])) return -1;
        {
          int const limit = s.dim[p[0]];
          s.dim[p[0]] = draw_.between(1, 4);
          return obtain({draw_.in(5) ? dtype::i64 : dtype::i32, s}, limit);
        }
      case operand::row_ids: {
        if (s.dim[0] < 1 || s.bounds != 0) return -1;
        shape ids{1, {}, {draw_.between(1, 4)}};
        if (draw_.in(2)) ids = shape{2, {}, {draw_.between(1, 3), draw_.between(1, 3)}};
        if (p_.most > 0 && draw_.in(3)) ids = dims({p_.most, -1}, 2, {draw_.in(2) ? bounded_rows : bounded_columns, draw_.between(1, 2)});
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
    auto const p = choose(m.numbers_of, info(a), p_.type, p_.most, draw_);
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

  // A value together with its own elements at other places: a kernel that has one has the other only as operand.
  bool with_part_of_itself() {
    int x = find([&](entry const& v) { return info(v.id).type == p_.type && info(v.id).dims.rank > 0 && info(v.id).count() > 1; });
    if (x >= 0 && draw_.in(2)) x = make("tanh", x);
    if (x >= 0 && draw_.in(3)) x = make(draw_.in(2) ? "max_over" : "sum_over(a, p[0])", x, {1 << (info(x).dims.rank - 1)});
    if (x < 0 || info(x).dims.rank == 0) return false;
    shape const s = info(x).dims;
    int const axis = draw_.under(s.rank);
    int y = -1;
    if (draw_.in(3) && s.rank > 1) y = make("transpose(a, order", x, any_order(s, draw_));
    else if (s.dim[axis] > 0) y = make("slice", x, {axis, draw_.under(s.dim[axis]), 1, 1});
    return y >= 0 && make(draw_.in(2) ? "a - b" : "a * b", x, {}, y) >= 0;
  }

  // A value, or one of each of its rows, together with positions, in another order perhaps.
  bool with_positions() {
    int x = draw_.in(3) ? obtain({p_.type, shape{2, {}, {3, 3}}}) : find([&](entry const& v) { return info(v.id).type == p_.type && info(v.id).dims.rank > 0; });
    if (x >= 0 && info(x).dims.rank > 1 && draw_.in(3)) x = make("max_over", x, {1 << (info(x).dims.rank - 1)});
    if (x < 0 || info(x).dims.rank == 0) return false;
    shape const s = info(x).dims;
    int i = make("cast(iota(", x, {draw_.under(s.rank)});
    if (i >= 0 && s.rank > 1 && draw_.in(2)) i = make("transpose(a, order", i, any_order(s, draw_));
    if (i >= 0 && draw_.in(2)) i = make("reshape", i, other_extents(s, p_.most, draw_));
    return i >= 0 && make(draw_.in(2) ? "a + b" : "a * b", x, {}, i) >= 0;
  }

  // Attention, and perhaps its gradient by what it is made of.
  bool attends() {
    shape s{3, {}, {draw_.between(1, 2), draw_.between(1, 4), 2 * draw_.between(1, 2)}};
    if (p_.most > 0 && draw_.in(2)) s = dims({p_.most, -1}, 3, {draw_.in(4) ? s.dim[0] : bounded_rows, draw_.in(2) ? bounded_columns : s.dim[1], s.dim[2]});
    int const x = obtain({p_.type, s}), y = x < 0 || draw_.in(3) ? x : obtain({p_.type, s});
    int how = draw_.under(128);
    if (s.bounds != 0 && !draw_.in(3)) how = (how & ~24) | 64;  // packed, for which the numbers of scores are fixed
    int const out = y < 0 ? -1 : make("attended(a, b", x, {how}, y);
    if (out < 0 || !draw_.in(2)) return out >= 0;
    int const loss = make("total", draw_.in(2) ? out : make("tanh", out));
    return loss >= 0 && differentiate(loss).in[1] >= 0;
  }

  // Batched products that hand each other large values, with what attention does in between and what it must not.
  bool between_products() {
    int const n = draw_.between(2, 3), rows = draw_.between(1, 4), depth = draw_.between(1, 2), cols = draw_.between(2, 5);
    bool const two = draw_.in(2);  // two batch axes, alike
    shape left = two ? shape{4, {}, {n, n, rows, depth}} : shape{3, {}, {n, rows, depth}};
    if (p_.most > 0 && draw_.in(2)) left = dims({p_.most, -1}, 3, {draw_.in(4) ? n : bounded_rows, draw_.in(2) ? bounded_columns : rows, draw_.in(3) ? bounded_columns : depth});
    return product_chain(left, cols, -1);
  }
  // Sometimes of all matrices as one.
  int first_product(shape const& left, int cols) {
    shape right = left;
    right.set(left.rank - 2, left.at(-1));
    right.set(left.rank - 1, cols);
    bool const flat = left.bounds == 0 && draw_.in(5);
    int const x = obtain({p_.type, flat ? shape{2, {}, {static_cast<int>(left.count()) / left.last(), left.last()}} : left});
    int const y = x < 0 ? -1 : obtain({p_.type, flat ? shape{2, {}, {left.last(), cols}} : right});
    int const made = y < 0 ? -1 : make("product(a, b)", x, {}, y);
    shape whole = left;
    whole.set(left.rank - 1, cols);
    return flat && made >= 0 ? make("reshape", made, as_numbers(extents_of(whole, p_.most))) : made;
  }
  // values: the right side of its last product, another chain's; -1: one of its own.
  bool product_chain(shape const& left, int cols, int values) {
    bool const two = left.rank == 4;
    int s = first_product(left, cols);
    if (s < 0) return false;
    int other = s;  // something of one value per row, or of all elements
    for (int k = draw_.between(1, 4); k > 0; --k) {
      tx::value_info const i = info(s);
      int made = -1;
      switch (draw_.under(12)) {
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
        case 5: {
          int const b = other < 0 || draw_.in(3) ? obtain({i.type, meeting(i.dims)}) : other;
          made = make(draw_.in(2) ? "a - b" : "a * b", s, {}, b);
          break;
        }
        case 6: made = make("exp", s); break;
        case 7: made = make("dropped", s); break;
        case 8: {
          int const axis = draw_.under(i.dims.rank);
          made = make(draw_.in(2) ? "cumsum" : "flip", s, {axis, 1});
          break;
        }
        case 9: other = make("slice", s, {0, draw_.under(i.dims.dim[0]), 1, 1}); break;  // of one matrix
        case 10: {  // another chain in between, whose second product reads this one's matrices in another order
          int const of = two && values < 0 ? make("transpose(a, order", s, {1, 0, 3, 2}) : -1;
          if (of >= 0 && product_chain(left, cols, of)) made = make("tanh", s);
          break;
        }
        default: {
          int const condition = obtain({dtype::boolean, meeting(i.dims)});
          made = make("where", s, {}, obtain(i), condition);
          break;
        }
      }
      if (made >= 0 && info(made) == i) s = made;
    }
    if (other >= 0 && draw_.in(2)) {
      int const made = make("a - b", s, {}, other);
      if (made >= 0 && info(made) == info(s)) s = made;
    }
    if (two && info(s).dims.bounds == 0 && draw_.in(5)) {  // both batch axes as one, the second first
      shape const d = info(s).dims;
      int const turned = make("transpose(a, order", s, {1, 0, 2, 3});
      int const merged = turned < 0 ? -1 : make("reshape", turned, as_numbers({d.dim[0] * d.dim[1], d.dim[2], d.dim[3]}));
      if (merged >= 0) s = merged;
    }
    return last_product(s, values);
  }
  bool last_product(int s, int values) {
    shape const d = info(s).dims;
    int v = values >= 0 && info(values).dims.rank == d.rank && info(values).dims.dim[d.rank - 2] == d.last() ? values : -1;
    if (v < 0 && d.bounds == 0 && draw_.in(6)) {  // the first matrix is the right side of all
      int first = make("slice", s, {0, 0, 1, 1});
      if (first >= 0 && d.rank == 4) first = make("slice", first, {1, 0, 1, 1});
      int const matrix = first < 0 ? -1 : make("reshape", first, as_numbers({d.dim[d.rank - 2], d.last()}));
      if (matrix >= 0) v = make("transpose(a, order", matrix, {1, 0});
    }
    if (v < 0) {
      tx::value_info own = info(s);
      own.dims.dim[d.rank - 2] = d.last();
      own.dims.dim[d.rank - 1] = draw_.between(1, 2);
      v = obtain(own);
    }
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
    decision const first = differentiate(loss);
    if (first.in[1] < 0) return false;
    if (!draw_.in(3)) return true;
    int const sum = make("total", first.id);  // second gradients, by what the first were taken of
    if (sum < 0) return true;
    decision again = fresh(what::gradient, first.in);
    again.in[0] = sum;
    add(again);
    return true;
  }
  // The decision; without leaves where nothing could be differentiated by.
  decision differentiate(int loss) {
    decision const none = fresh(what::gradient);
    decision d = fresh(what::gradient, {loss, -1, -1, -1});
    std::size_t n = 1;
    for (int tries = 0; tries < 8 && n < 4; ++tries) {
      int const x = find([&](entry const& v) { return v.home == open_ && tx::is_float(info(v.id).type) && !tx::is_half(info(v.id).type) && v.id != loss; });
      bool const leaf = x >= 0 && is_independent(*p_.find(x));
      if (x < 0 || (!leaf && (p_.most > 0 || !draw_.in(4))) || std::find(d.in.begin(), d.in.end(), x) != d.in.end()) continue;
      d.in[n++] = x;
    }
    if (n == 1 || add(d) < 0) return none;
    for (int k = 1; k + 1 < static_cast<int>(n); ++k) {
      decision also = fresh(what::also, {d.id, -1, -1, -1});
      also.p[0] = k;
      add(also);
    }
    return d;
  }
};

}  // namespace drawn
