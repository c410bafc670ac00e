#include "block.hpp"

#include "fault.hpp"

#include <algorithm>
#include <optional>

namespace ptx {

block::block(device_memory& m, class clock& c) : time(c), memory_(m) {}

void block::run(launch const& how, dim3 place, std::uint32_t number) {
  how_ = how;
  place_ = place;
  block_number_ = number;
  int const threads = static_cast<int>(how.threads.count());
  std::size_t const count = static_cast<std::size_t>((threads + warp_size - 1) / warp_size);
  while (warps_.size() < count) warps_.push_back(std::make_unique<warp>(*this, static_cast<int>(warps_.size())));
  std::size_t const bytes = static_cast<std::size_t>(how.of->shared_bytes + how.dynamic_shared);
  shared_.assign(bytes, std::byte{0xff});
  shared_records_.assign(bytes, record{});
  copies_.assign(static_cast<std::size_t>(threads), {});
  block_since_ = time.tick();
  if (handed_in_ != how.began) handed_.begin_launch();
  handed_in_ = how.began;
  handed_.begin_block(number);
  lanes_since_.assign(count, {});
  for (std::size_t w = 0; w < count; ++w)
    warps_[w]->begin(std::min(warp_size, threads - static_cast<int>(w) * warp_size));

  for (;;) {
    for (std::size_t k = 0; k < count; ++k) {
      warp& w = *warps_[how.in == order::forwards ? k : count - 1 - k];
      if (!w.ended()) w.run();
    }
    if (how.paced != nullptr) meet_in_time(count);
    // Every warp has ended, or all its threads wait at one barrier.
    warp* waiting = nullptr;
    for (std::size_t k = 0; k < count; ++k)
      if (!warps_[k]->ended()) waiting = warps_[k].get();
    if (waiting == nullptr) break;
    for (std::size_t k = 0; k < count; ++k) {
      warp& w = *warps_[k];
      if (w.ended() || !w.all_are_there())
        fail(*waiting, 0, "a barrier that some threads never come to: they have ended");
      if (w.waits_at() != waiting->waits_at())
        fail(*waiting, 0,
             "threads of a block wait at different barriers: the other at line " +
                 std::to_string(how.of->code[static_cast<std::size_t>(w.waits_at())].line));
    }
    block_since_ = time.tick();
    handed_.barrier();
    for (std::size_t k = 0; k < count; ++k) warps_[k]->go_on();
  }
  for (std::size_t t = 0; t < copies_.size(); ++t)
    for (auto const& group : copies_[t])
      if (!group.empty()) throw fault(how.of->name, "a thread ended before its copies were waited for");
}

// The last of the warps to come says when all go on, or when the block has ended.
void block::meet_in_time(std::size_t count) {
  std::uint64_t latest = 0;
  bool ended = true;
  for (std::size_t k = 0; k < count; ++k) {
    latest = std::max(latest, warps_[k]->pace_clock.now());
    ended = ended && warps_[k]->ended();
  }
  for (std::size_t k = 0; k < count; ++k) warps_[k]->pace_clock.wait_until(latest);
  if (ended) how_.paced->used.cycles += latest;
}

void block::fail(warp const& w, int lane, std::string const& what) const {
  instruction const* const i = w.running();
  std::string const source = i == nullptr ? "" : how_.within->source_of(*i);
  throw fault(how_.of->name, what + "\n  at line " + std::to_string(i == nullptr ? 0 : i->line) + ": " +
                                 (i == nullptr ? "" : i->text) + (source.empty() ? "" : "\n  of " + source) +
                                 "\n  thread " + std::to_string(w.thread(lane)) + " of " +
                                 std::to_string(how_.threads.count()) + ", block " + std::to_string(block_number_) +
                                 " of " + std::to_string(how_.grid.count()));
}

moment block::now(warp const& w, int lane) const {
  int const thread = w.thread(lane);
  auto const& since = lanes_since_[static_cast<std::size_t>(thread / warp_size)][static_cast<std::size_t>(lane)];
  return {who(thread),  time.now(),   how_.began,
          block_since_, since.data(), static_cast<std::uint32_t>(w.running()->line), &handed_.acquired()};
}

void block::fence(warp const& w, int lane) { handed_.fence(w.thread(lane), block_since_); }
void block::changed(warp const& w, int lane, std::byte const* at) { handed_.atomic(w.thread(lane), reinterpret_cast<std::uint64_t>(at)); }

void block::met(int warp, lanes m) {
  std::uint32_t const now = time.tick();
  each(m, [&](int a) {
    each(m, [&](int b) {
      lanes_since_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = now;
    });
  });
}

namespace {
// What is wrong with an access to so many bytes, if anything is.
std::optional<std::string> note_all(record* r, int bytes, moment const& m, use how) {
  for (int k = 0; k < bytes; ++k)
    if (char const* const wrong = r[k].note(m, how)) return std::string(wrong) + " (" + r[k].last() + ")";
  return {};
}
}  // namespace

std::byte* block::shared(warp& w, int lane, std::uint64_t address, int bytes, use how) {
  if (address > shared_.size() || static_cast<std::uint64_t>(bytes) > shared_.size() - address)
    fail(w, lane,
         "shared memory has " + std::to_string(shared_.size()) + " bytes; it asks for " + std::to_string(bytes) +
             " from " + std::to_string(address));
  if (address % static_cast<std::uint64_t>(bytes) != 0)
    fail(
        w, lane,
        "an address of shared memory that is no multiple of " + std::to_string(bytes) + ": " + std::to_string(address));
  if (auto const wrong = note_all(shared_records_.data() + address, bytes, now(w, lane), how))
    fail(w, lane, "shared memory at " + std::to_string(address) + ": " + *wrong);
  return shared_.data() + address;
}

std::byte* block::global(warp& w, int lane, std::uint64_t address, int bytes, use how, int alignment) {
  auto* const p = reinterpret_cast<std::byte*>(address);
  record* const r = memory_.records(p, static_cast<std::size_t>(bytes));
  if (r == nullptr)
    fail(w, lane, "no memory of the device: " + std::to_string(bytes) + " bytes at " + memory_.whereabouts(address));
  if (alignment == 0) alignment = bytes;
  if (address % static_cast<std::uint64_t>(alignment) != 0)
    fail(w, lane,
         "an address that is no multiple of " + std::to_string(alignment) + ": " + memory_.whereabouts(address));
  if (auto const wrong = note_all(r, bytes, now(w, lane), how))
    fail(w, lane, memory_.whereabouts(address) + ": " + *wrong);
  return p;
}

std::byte* block::generic(warp& w, int lane, std::uint64_t address, int bytes, use how) {
  auto const inside = [&](void const* first, std::size_t size) {
    auto const from = reinterpret_cast<std::uint64_t>(first);
    return address >= from && address < from + size;
  };
  if (inside(shared_.data(), shared_.size())) return shared(w, lane, address - shared_base(), bytes, how);
  auto* const p = reinterpret_cast<std::byte*>(address);
  if (inside(w.local(lane), w.local_bytes()))
    return w.local_at(lane, address - reinterpret_cast<std::uint64_t>(w.local(lane)), bytes, how);
  if (how == use::read && inside(how_.parameters, static_cast<std::size_t>(how_.of->parameter_bytes()))) {
    if (!inside(how_.parameters, static_cast<std::size_t>(how_.of->parameter_bytes() - bytes + 1)))
      fail(w, lane, "beyond the kernel's parameters");
    return p;
  }
  return global(w, lane, address, bytes, how);
}

void block::begin_copy(warp& w, int lane, copy c) {
  if (c.real > 0)
    std::memcpy(c.read.data(), global(w, lane, c.from, c.real, use::read, c.bytes), static_cast<std::size_t>(c.real));
  shared(w, lane, c.to, c.bytes, use::write);
  for (int k = 0; k < c.bytes; ++k) shared_records_[c.to + static_cast<std::size_t>(k)].in_flight = true;
  auto& groups = copies_[static_cast<std::size_t>(w.thread(lane))];
  if (groups.empty()) groups.emplace_back();
  groups.back().push_back(c);
}

void block::close_group(int thread) {
  auto& groups = copies_[static_cast<std::size_t>(thread)];
  if (groups.empty()) groups.emplace_back();
  groups.emplace_back();
}

// Copies of all groups but the last so many land; the open group is not counted.
void block::wait_for_groups(warp& w, int lane, int but) {
  auto& groups = copies_[static_cast<std::size_t>(w.thread(lane))];
  while (static_cast<int>(groups.size()) - 1 > but) {
    for (copy const& c : groups.front()) {
      for (int k = 0; k < c.bytes; ++k) {
        record& r = shared_records_[c.to + static_cast<std::size_t>(k)];
        r.in_flight = false;
        r.written.when = time.now();
      }
      // It may have read at any moment since it began.
      if (c.real > 0 && std::memcmp(global(w, lane, c.from, c.real, use::read, c.bytes), c.read.data(),
                                    static_cast<std::size_t>(c.real)) != 0)
        fail(w, lane, "what a copy reads was written before it was waited for");
      std::memcpy(shared_.data() + c.to, c.read.data(), static_cast<std::size_t>(c.bytes));
    }
    groups.erase(groups.begin());
  }
}

}  // namespace ptx
