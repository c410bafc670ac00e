// Loads and stores.
#include "instructions.hpp"

namespace ptx {

namespace {

enum class space { generic, global, shared, local, parameters };

space space_of(spelled const& s) {
  for (auto part : s.parts) {
    if (part == "global" || part == "const") return space::global;
    if (part == "shared" || part == "shared::cta") return space::shared;
    if (part == "local") return space::local;
    if (part == "param" || part == "param::entry") return space::parameters;
  }
  return space::generic;
}

template <space Space>
std::byte* memory_at(warp& w, int lane, std::uint64_t at, int bytes, use how) {
  if constexpr (Space == space::global)
    return w.of.global(w, lane, at, bytes, how);
  else if constexpr (Space == space::shared)
    return w.of.shared(w, lane, at, bytes, how);
  else if constexpr (Space == space::generic)
    return w.of.generic(w, lane, at, bytes, how);
  else if constexpr (Space == space::local)
    return w.local_at(lane, at, bytes, how);
  else {
    auto const first = reinterpret_cast<std::uint64_t>(w.of.how().parameters);
    if (at < first ||
        at + static_cast<std::uint64_t>(bytes) > first + static_cast<std::uint64_t>(w.of.how().of->parameter_bytes()))
      w.of.fail(w, lane, "beyond the kernel's parameters");
    return reinterpret_cast<std::byte*>(at);
  }
}

// Memory that is promised to be only read while the kernel runs.
bool written_meanwhile(warp& w, std::byte const* at, int bytes) {
  record const* const r = w.of.memory().records(at, static_cast<std::size_t>(bytes));
  for (int k = 0; k < bytes; ++k)
    if (r[k].written.when >= w.of.how().began) return true;
  return false;
}

template <class T, space Space>
void load(warp& w, instruction const& i, lanes m) {
  int const n = i.number;
  in_order(w, m, [&](int l) {
    int const bytes = n * static_cast<int>(sizeof(T));
    std::byte const* const from = memory_at<Space>(w, l, address_of(w, i, n, l, i.offset), bytes, use::read);
    if constexpr (Space == space::global)
      if (i.is_constant && written_meanwhile(w, from, bytes))
        w.of.fail(w, l, "a load that says its memory is only read, of what this kernel wrote");
    for (int k = 0; k < n; ++k) {
      T x;
      std::memcpy(&x, from + static_cast<std::size_t>(k) * sizeof(T), sizeof x);
      w.widen<T>(i.slots[static_cast<std::size_t>(k)], l, x);
    }
  });
}

template <class T, space Space>
void store(warp& w, instruction const& i, lanes m) {
  int const n = i.number;
  in_order(w, m, [&](int l) {
    std::byte* const to =
        memory_at<Space>(w, l, address_of(w, i, 0, l, i.offset), n * static_cast<int>(sizeof(T)), use::write);
    for (int k = 0; k < n; ++k) {
      T const x = w.narrow<T>(i.slots[static_cast<std::size_t>(1 + k)], l);
      std::memcpy(to + static_cast<std::size_t>(k) * sizeof(T), &x, sizeof x);
    }
  });
}

template <class T>
action for_space(space s, bool loads) {
  switch (s) {
    case space::generic: return loads ? load<T, space::generic> : store<T, space::generic>;
    case space::global: return loads ? load<T, space::global> : store<T, space::global>;
    case space::shared: return loads ? load<T, space::shared> : store<T, space::shared>;
    case space::local: return loads ? load<T, space::local> : store<T, space::local>;
    case space::parameters: return loads ? load<T, space::parameters> : nullptr;
  }
  return nullptr;
}

void nothing(warp&, instruction const&, lanes) {}
void fence(warp& w, instruction const&, lanes m) {
  in_order(w, m, [&](int l) { w.of.fence(w, l); });
}

}  // namespace

found memory_instruction(spelled const& s) {
  auto const name = s.name();
  if (name == "prefetch" || name == "prefetchu") return meaning{nothing};
  // One of a block alone hands nothing to others.
  if (name == "membar" || name == "fence") return meaning{s.has("cta") ? nothing : fence};
  if (name != "ld" && name != "ldu" && name != "st") return {};
  for (auto part : s.parts)
    if (part == "L2::cache_hint") return {};  // an operand more
  bool const loads = name != "st";
  return with_type(s.type(), [&]<class T>() -> found {
    if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
      action const run = for_space<T>(space_of(s), loads);
      return run == nullptr ? found() : found(meaning{run, flow::plain, s.elements(), false, false, s.has("nc")});
    } else {
      return {};
    }
  });
}

}  // namespace ptx
