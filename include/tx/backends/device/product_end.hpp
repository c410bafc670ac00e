// What a library does with a product's results as it stores them, told by the signature of the kernel that the product heads (fused by passes/fusion_rules.hpp, ends_with): so nothing else is
// started for it. Of products of f32 or halves, p:
//
//   p    cast<half>(p)    p + x    copy(p + x)    cast<half>(p + cast<f32>(row))
//
// and of E4M3, whose results are scaled first: s = p * rows' scales * columns' scales
//
//   p    s    cast<bf16>(s)    cast<bf16>(s + cast<f32>(row))
#pragma once

#include <tx/plan/signature.hpp>

#include <cstdint>
#include <span>

namespace tx::backends::device {

// Ops that an end is made of.
enum class end_op : std::uint8_t { other, add, mul, cast, copy };

struct end_let {
  end_op op = end_op::other;
  dtype type = dtype::f32;
  exec::form shape = exec::form::map;
  int operand[2] = {-1, -1};
};

// Numbers among the kernel's inputs, of which the product is 0; 0: there is none.
struct product_end {
  bool known = false;
  dtype to = dtype::f32;  // of what is stored
  int row_scales = 0, column_scales = 0;
  int row = 0;    // of halves, added to each row of results
  int added = 0;  // of the shape and the type of the results

  static constexpr product_end of(dtype sides, std::span<exec::in_sig const> in, std::span<end_let const> lets, std::span<exec::out_sig const> outs) {
    reader r{sides == dtype::e4m3 ? dtype::bf16 : sides, in, lets};
    if (in.empty() || in[0].how != exec::access::product || outs.size() != 1 || outs[0].shape != exec::form::map || outs[0].per_row) return {};
    product_end e{.known = true, .to = in[0].type};
    if (sides == dtype::e4m3 && r.left() > 0) {
      e.row_scales = r.combined(end_op::mul, exec::access::row);
      e.column_scales = r.combined(end_op::mul, exec::access::contiguous);
      e.known = e.row_scales > 0 && e.column_scales > 0 && in[0].type == dtype::f32;
    }
    if (r.left() == 3) {
      e.row = r.widened_row();
      e.known = e.known && e.row > 0;
    } else if (sides != dtype::e4m3 && (r.left() == 2 || (r.left() == 1 && lets.back().op == end_op::add))) {
      e.added = r.combined(end_op::add, exec::access::contiguous);
      e.known = e.added > 0;
      if (r.left() == 1) e.known = r.goes_on(end_op::copy, e.to) && e.known;
    }
    if (r.left() == 1) {
      e.to = r.half;
      e.known = is_half(r.half) && r.goes_on(end_op::cast, r.half) && e.known;
    }
    bool const stored = r.left() == 0 && outs[0].value == r.value && outs[0].type == e.to;
    return e.known && stored ? e : product_end{};
  }

 private:
  // Goes through the lets, from what is made of the product to what is made of that.
  struct reader {
    dtype half;
    std::span<exec::in_sig const> in;
    std::span<end_let const> lets;
    std::size_t at = 0;
    int value = 0;

    constexpr std::size_t left() const { return lets.size() - at; }
    constexpr int number_of(std::size_t let) const { return static_cast<int>(in.size() + let); }
    // What a let reads beside `of`, if it reads that once; else 0.
    static constexpr int other(end_let const& l, int of) { return (l.operand[0] == of) == (l.operand[1] == of) ? 0 : l.operand[0] == of ? l.operand[1] : l.operand[0]; }
    constexpr void step() { value = number_of(at++); }

    // Is the next one that op of the value alone?
    constexpr bool goes_on(end_op op, dtype type) {
      end_let const& l = lets[at];
      bool const right = l.op == op && l.shape == exec::form::map && l.type == type && l.operand[0] == value;
      step();
      return right;
    }
    // The input that the next one combines the value with, of the product's type; 0: it does not.
    constexpr int combined(end_op op, exec::access how) {
      if (left() == 0) return 0;
      end_let const& l = lets[at];
      int const i = other(l, value);
      bool const right = l.op == op && l.shape == exec::form::map && l.type == in[0].type && i > 0 && i < static_cast<int>(in.size()) && in[static_cast<std::size_t>(i)].how == how &&
                         in[static_cast<std::size_t>(i)].type == in[0].type;
      step();
      return right ? i : 0;
    }
    // A row of halves that is widened by the next one, and added by the one behind that; 0: it is not.
    constexpr int widened_row() {
      end_let const &widens = lets[at], &adds = lets[at + 1];
      int const i = widens.operand[0], wide = number_of(at);
      bool const right = widens.op == end_op::cast && adds.op == end_op::add && widens.shape == exec::form::map && adds.shape == exec::form::map && widens.type == in[0].type &&
                         adds.type == in[0].type && other(adds, value) == wide && i > 0 && i < static_cast<int>(in.size()) && in[static_cast<std::size_t>(i)].type == half;
      ++at;
      step();
      return right ? i : 0;
    }
  };
};

}  // namespace tx::backends::device
