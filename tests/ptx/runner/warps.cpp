// What lanes of a warp do together, and barriers.
#include "instructions.hpp"

namespace ptx {

namespace {

enum shuffle_kind : int { butterfly, down, up, index };

// %r{|%p}, a, b, c, mask: every lane gets the a of another. c: the last lane of a part of the warp, and which bits say
// the part.
template <int Kind, bool Says>
void shuffle(warp& w, instruction const& i, lanes m) {
  constexpr int first = Says ? 2 : 1;
  std::uint32_t sent[warp_size];
  auto const* const a = lanes_of<std::uint32_t>(w, i, first);
  std::copy(a, a + warp_size, sent);
  auto* const d = lanes_of<std::uint32_t>(w, i, 0);
  auto const *const by = lanes_of<std::uint32_t>(w, i, first + 1), *const c = lanes_of<std::uint32_t>(w, i, first + 2);
  lanes inside = 0;
  each(m, [&](int l) {
    int const part = static_cast<int>(c[l] >> 8 & 31), clamp = static_cast<int>(c[l] & 31),
              b = static_cast<int>(by[l] & 31);
    int const last = (l & part) | (clamp & ~part), lowest = l & part;
    int from = Kind == up ? l - b : Kind == down ? l + b : Kind == butterfly ? l ^ b : lowest | (b & ~part);
    bool const in = Kind == up ? from >= last : from <= last;
    if (!in) from = l;
    if ((m >> from & 1) == 0)
      w.of.fail(w, l, "it asks for what lane " + std::to_string(from) + " of its warp has, which is not there");
    d[l] = sent[from];
    inside |= lanes{in} << l;
  });
  if constexpr (Says) {
    lanes& p = w.predicate(i.slots[1]);
    p = (p & ~m) | (inside & m);
  }
}

enum vote_kind : int { all, any, uniform, ballot };

template <int Kind>
void vote(warp& w, instruction const& i, lanes m) {
  lanes const p = w.predicate(i.slots[1]) & m;
  if constexpr (Kind == ballot) {
    each(m, [&](int l) { lanes_of<std::uint32_t>(w, i, 0)[l] = p; });
  } else {
    bool const r = Kind == all ? p == m : Kind == any ? p != 0 : p == m || p == 0;
    lanes& d = w.predicate(i.slots[0]);
    d = r ? d | m : d & ~m;
  }
}

// Lanes that have the same number.
template <class T>
void match(warp& w, instruction const& i, lanes m) {
  T const* const a = lanes_of<T>(w, i, 1);
  std::uint32_t r[warp_size] = {};
  each(m, [&](int l) { each(m, [&](int k) { r[l] |= lanes{a[k] == a[l]} << k; }); });
  each(m, [&](int l) { lanes_of<std::uint32_t>(w, i, 0)[l] = r[l]; });
}

template <class T, int Kind>  // sum, least, most, and, or, xor
void reduce(warp& w, instruction const& i, lanes m) {
  T const* const a = lanes_of<T>(w, i, 1);
  T r = a[std::countr_zero(m)];
  each(m & (m - 1), [&](int l) {
    T const x = a[l];
    r = Kind == 0   ? static_cast<T>(static_cast<std::uint32_t>(r) + static_cast<std::uint32_t>(x))
        : Kind == 1 ? std::min(r, x)
        : Kind == 2 ? std::max(r, x)
        : Kind == 3 ? static_cast<T>(r & x)
        : Kind == 4 ? static_cast<T>(r | x)
                    : static_cast<T>(r ^ x);
  });
  each(m, [&](int l) { lanes_of<T>(w, i, 0)[l] = r; });
}

void active(warp& w, instruction const& i, lanes m) {
  each(m, [&](int l) { lanes_of<std::uint32_t>(w, i, 0)[l] = m; });
}
void met(warp& w, instruction const&, lanes m) { w.of.met(w.thread(0) / warp_size, m); }
void trap(warp& w, instruction const&, lanes m) {
  w.of.fail(w, std::countr_zero(m), "it says that something is wrong");
}
void nothing(warp&, instruction const&, lanes) {}

template <class T>
found reduction(spelled const& s) {
  action const run = s.has("add")   ? reduce<T, 0>
                     : s.has("min") ? reduce<T, 1>
                     : s.has("max") ? reduce<T, 2>
                     : s.has("and") ? reduce<T, 3>
                     : s.has("or")  ? reduce<T, 4>
                     : s.has("xor") ? reduce<T, 5>
                                    : nullptr;
  return run == nullptr ? found() : found(meaning{run, flow::meeting});
}

}  // namespace

found warp_instruction(spelled const& s) {
  auto const name = s.name();
  if (name == "bra") return meaning{nothing, flow::branch};
  if (name == "ret" || name == "exit") return meaning{nothing, flow::leave};
  if (name == "trap") return meaning{trap};
  if (name == "bar" || name == "barrier") {
    if (s.has("warp")) return meaning{met, flow::meeting, 0, true};
    if (s.has("sync") && s.operands == 1) return meaning{nothing, flow::barrier, 0, true};
    return {};
  }
  if (name == "activemask") return meaning{active};
  if (name == "shfl") {
    auto const pick = [&]<int Kind>() {
      return meaning{s.two_results ? shuffle<Kind, true> : shuffle<Kind, false>, flow::meeting};
    };
    if (s.has("bfly")) return pick.template operator()<butterfly>();
    if (s.has("down")) return pick.template operator()<down>();
    if (s.has("up")) return pick.template operator()<up>();
    if (s.has("idx")) return pick.template operator()<index>();
  }
  if (name == "vote") {
    if (s.has("ballot")) return meaning{vote<ballot>, flow::meeting};
    if (s.has("all")) return meaning{vote<all>, flow::meeting};
    if (s.has("any")) return meaning{vote<any>, flow::meeting};
    if (s.has("uni")) return meaning{vote<uniform>, flow::meeting};
  }
  if (name == "match" && s.has("any"))
    return meaning{bytes_of(s.type()) == 8 ? match<std::uint64_t> : match<std::uint32_t>, flow::meeting};
  if (name == "redux") return s.type() == scalar::s32 ? reduction<std::int32_t>(s) : reduction<std::uint32_t>(s);
  return {};
}

}  // namespace ptx
