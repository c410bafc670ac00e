#include "block.hpp"

#include <algorithm>

namespace ptx {

void warp::begin(int threads) {
  kernel const& k = *of.how().of;
  begun_ = threads >= warp_size ? all_lanes : (lanes{1} << threads) - 1;
  living_ = begun_;
  groups_.assign(1, group{0, begun_, false});
  if (ready_for_ != of.how().began) {
    file_.assign(static_cast<std::size_t>(k.register_bytes), std::byte{0});
    local_bytes_ = static_cast<std::size_t>(k.local_bytes);
    local_.assign(local_bytes_ * warp_size, std::byte{0xff});
    ready_for_ = of.how().began;
  }
  local_written_.assign(local_.size(), false);
  if (of.how().paced != nullptr) pace_clock.begin(k);
  fill_constants();
}

void warp::fill_constants() {
  dim3 const n = of.how().threads, g = of.how().grid, b = of.place();
  for (constant const& c : of.how().of->constants) {
    for (int l = 0; l < warp_size; ++l) {
      std::uint64_t x = c.bits;
      switch (c.what) {
        case constant::kind::number: break;
        case constant::kind::parameter: x += reinterpret_cast<std::uint64_t>(of.how().parameters); break;
        case constant::kind::shared: break;
        case constant::kind::dynamic_shared: x += static_cast<std::uint64_t>(of.how().of->shared_bytes); break;
        case constant::kind::global: x += reinterpret_cast<std::uint64_t>(of.how().variables->at(c.name)); break;
        case constant::kind::local: break;
        case constant::kind::special: {
          unsigned const t = static_cast<unsigned>(thread(l));
          unsigned const values[] = {t % n.x,
                                     t / n.x % n.y,
                                     t / n.x / n.y,
                                     n.x,
                                     n.y,
                                     n.z,
                                     b.x,
                                     b.y,
                                     b.z,
                                     g.x,
                                     g.y,
                                     g.z,
                                     static_cast<unsigned>(l),
                                     static_cast<unsigned>(number_),
                                     (1u << l) - 1,
                                     (1u << l) - 1 + (1u << l),
                                     ~((1u << l) - 1 + (1u << l)),
                                     ~((1u << l) - 1),
                                     1u << l};
          x = values[c.bits];
        }
      }
      if (c.to.width == 0) {
        predicate(c.to) = x != 0 ? all_lanes : 0;
      } else {
        std::memcpy(file_.data() + c.to.at + l * c.to.width, &x, static_cast<std::size_t>(c.to.width));
      }
    }
  }
}

// The group that may go on and is furthest behind.
warp::group* warp::next() {
  group* found = nullptr;
  for (auto& g : groups_)
    if (!g.waits && (found == nullptr || g.pc < found->pc)) found = &g;
  return found;
}

void warp::merge() {
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (std::size_t j = groups_.size() - 1; j > i; --j)
      if (groups_[j].pc == groups_[i].pc) {
        groups_[i].mask |= groups_[j].mask;
        groups_[i].waits = false;  // perhaps all are there now
        groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(j));
      }
}

void warp::run() {
  for (;;) {
    if (groups_.size() > 1) {
      std::erase_if(groups_, [](group const& g) { return g.mask == 0; });
      merge();
    }
    group* const g = next();
    if (g == nullptr) break;
    // Alone it runs on; with others until it is no longer the one behind.
    int until = 1 << 30;
    for (auto const& other : groups_)
      if (&other != g && other.pc > g->pc) until = std::min(until, other.pc);
    step(*g, until);
    std::erase_if(groups_, [](group const& x) { return x.mask == 0; });
  }
  auto const& code = of.how().of->code;
  for (auto const& g : groups_)
    if (code[static_cast<std::size_t>(g.pc)].kind == flow::meeting) {
      running_ = &code[static_cast<std::size_t>(g.pc)];
      of.fail(*this, std::countr_zero(g.mask), "it waits for lanes of its warp that never come");
    }
  if (groups_.size() > 1) {
    running_ = &code[static_cast<std::size_t>(groups_[0].pc)];
    of.fail(*this, std::countr_zero(groups_[0].mask),
            "threads of a warp wait at different barriers: the other at line " +
                std::to_string(code[static_cast<std::size_t>(groups_[1].pc)].line));
  }
}

// Whether all lanes that the instruction's masks name are there. Those that have ended are not waited for.
bool warp::meets(group const& g, instruction const& i) const {
  if (i.all_meet) return (living_ & ~g.mask) == 0;
  lanes wanted = 0;
  slot const mask = i.slots[static_cast<std::size_t>(i.count - 1)];
  each(g.mask, [&](int l) { wanted |= narrow<lanes>(mask, l); });
  return (wanted & living_ & ~g.mask) == 0;
}

// Lanes with the same mask do it together: each of them names itself and all others.
void warp::meet(group const& g, instruction const& i) {
  if (i.all_meet) return i.run(*this, i, g.mask);
  slot const mask = i.slots[static_cast<std::size_t>(i.count - 1)];
  for (lanes left = g.mask; left != 0;) {
    int const first = std::countr_zero(left);
    lanes const named = narrow<lanes>(mask, first) & living_;
    lanes same = 0;
    each(left, [&](int l) { same |= lanes{narrow<lanes>(mask, l) == narrow<lanes>(mask, first)} << l; });
    if (same != named) of.fail(*this, first, "lanes that meet name different masks, or not themselves");
    i.run(*this, i, same);
    left &= ~same;
  }
}

std::byte* warp::local_at(int lane, std::uint64_t at, int bytes, use how) {
  auto const size = static_cast<std::uint64_t>(bytes);
  if (at > local_bytes_ || size > local_bytes_ - at) of.fail(*this, lane, "beyond its local memory");
  if (at % size != 0)
    of.fail(*this, lane, "an address of local memory that is no multiple of " + std::to_string(bytes));
  std::size_t const first = static_cast<std::size_t>(lane) * local_bytes_ + at;
  for (std::size_t k = first; k < first + size; ++k) {
    if (how != use::write && !local_written_[k]) of.fail(*this, lane, "local memory that was never written");
    local_written_[k] = true;
  }
  return local_.data() + first;
}

// The lanes that do it, and which memory they read or write.
void warp::pace_of(instruction const& i, lanes m) {
  pace& p = *of.how().paced;
  int const at = static_cast<int>(&i - of.how().of->code.data());
  timing const& t = p.of(at);
  auto where = pace::memory::none;
  if ((t.loads || t.stores) && m != 0) {
    slot const address = i.slots[static_cast<std::size_t>(t.stores ? 0 : i.count - 1)];
    where = pace::memory::near;
    each(m, [&](int l) {
      std::uint64_t const a = narrow<std::uint64_t>(address, l) + static_cast<std::uint64_t>(i.offset);
      if (t.is_generic && of.is_its_own(a)) where = pace::memory::shared;
      else if (p.is_far(a)) where = pace::memory::far;
    });
  }
  p.note(pace_clock, at, where);
}

void warp::step(group& g, int until) {
  instruction const* const code = of.how().of->code.data();
  int const without = of.how().without;
  while (g.pc < until) {
    instruction const& i = code[g.pc];
    running_ = &i;
    lanes m = g.mask;
    if (i.guard.at >= 0) m &= i.guard_is_negated ? ~predicate(i.guard) : predicate(i.guard);
    if (of.how().paced != nullptr) pace_of(i, m);
    switch (i.kind) {
      case flow::plain:
        if (m != 0 && (i.wait < 0 || i.wait != without)) i.run(*this, i, m);
        ++g.pc;
        break;
      case flow::branch:
        if (m == g.mask) {
          bool const back = i.target <= g.pc;
          g.pc = i.target;
          if (back && groups_.size() > 1) return;
        } else {
          ++g.pc;
          if (m != 0) {
            group const gone{i.target, m, false};
            g.mask &= ~m;
            groups_.push_back(gone);
            return;
          }
        }
        break;
      case flow::leave:
        living_ &= ~m;
        g.mask &= ~m;
        ++g.pc;
        for (auto& other : groups_)  // perhaps those that wait, wait for nobody else
          if (other.waits && code[other.pc].kind == flow::meeting) other.waits = false;
        if (g.mask == 0 || groups_.size() > 1) return;
        break;
      case flow::meeting:
        if (m != 0 && (i.wait < 0 || i.wait != without)) {
          if (m != g.mask) return part(g, m);
          if (!meets(g, i)) {
            g.waits = true;
            return;
          }
          meet(g, i);
        }
        ++g.pc;
        break;
      case flow::barrier:
        if (m == 0 || i.wait == without) {
          ++g.pc;
          break;
        }
        if (m != g.mask) return part(g, m);
        g.waits = true;
        return;
    }
  }
}

// Lanes for which an instruction is not meant go past it; the others come to it by themselves.
void warp::part(group& g, lanes meant) {
  group const past{g.pc + 1, g.mask & ~meant, false};
  g.mask = meant;
  groups_.push_back(past);
}

void warp::go_on() {
  groups_[0].waits = false;
  ++groups_[0].pc;
}

}  // namespace ptx
