// A drawn program: a list of decisions, each naming those before it whose values it reads. Any of them can be replaced by a leaf, so
// a program that fails is shrunk by leaving decisions out.
#pragma once

#include "makers.hpp"

#include <algorithm>
#include <string>

namespace drawn {

enum class what {
  make,       // a line of makers()
  input,      // extents p[0 ... 5] of rank p[6]; integers are below p[7]
  parameter,  // the same, elements of the flat block of its own
  block,      // the same of state p[7]
  part,       // a leaf over elements p[7] ... of the parameter or block in[0]
  open,       // a body: p[0] iterations, reversed if p[1]; the next three are its arguments of values in[0] outside
  carry,
  same,
  slices,
  next,       // in[0] is the next value of carry in[2]
  stack,      // in[0] is stacked
  close,
  result,     // of carry or stack in[0]
  gradient,   // of in[0] by in[1 ...]: the first of them
  also,       // gradient p[0] of in[0]
  flat,       // in[0 ...] laid end to end in a block
  out,        // in[0] is a result of the program
  assign,     // in[0] replaces leaf in[1]
};

struct decision {
  what kind = what::make;
  int id = 0;
  int line = -1;  // of makers()
  int home = -1;  // the `open` of the body it is part of; -1: of the program
  std::array<int, 4> in{-1, -1, -1, -1};
  numbers p{};
  dtype type = dtype::f64;
};

// What is done with a program when it is recorded.
enum class training { none, at_once, clipped, accumulated, sharded };
struct finish {
  bool narrows = false;
  int halves = 0;  // 0: no mixed precision; 1: bf16, 2: f16
  training mode = training::none;
  int optimizer = 0;
  bool recomputes = false;
  int shards = 1;
  bool several_ranks = false;
  bool quarters = false;  // products by parameters are of E4M3, with bf16
};

struct program {
  std::vector<decision> decisions;
  finish end{};
  dtype type = dtype::f64;  // of parameters, and mostly of all else
  int most = 0;             // of the bounded extent; 0: there is none
  int next_id = 0;

  decision const* find(int id) const {
    for (decision const& d : decisions)
      if (d.id == id) return &d;
    return nullptr;
  }
};

// Leaves out decisions that nothing needs.
inline void drop_dead(program& p) {
  std::vector<char> live(static_cast<std::size_t>(p.next_id), 0);
  auto mark = [&](int id) {
    if (id < 0 || live[static_cast<std::size_t>(id)] != 0) return false;
    live[static_cast<std::size_t>(id)] = 1;
    return true;
  };
  for (decision const& d : p.decisions)
    if (d.kind == what::out || d.kind == what::assign) mark(d.id);
  for (bool more = true; more;) {
    more = false;
    for (decision const& d : p.decisions) {
      bool const of_live_body = d.kind == what::close && live[static_cast<std::size_t>(d.in[1])] != 0;
      bool const of_live_carry = d.kind == what::next && live[static_cast<std::size_t>(d.in[2])] != 0;
      if (of_live_body || of_live_carry) more |= mark(d.id);
      if (live[static_cast<std::size_t>(d.id)] == 0) continue;
      for (int id : d.in) more |= mark(id);
      more |= mark(d.home);
    }
  }
  std::erase_if(p.decisions, [&](decision const& d) { return live[static_cast<std::size_t>(d.id)] == 0; });
}

}  // namespace drawn
