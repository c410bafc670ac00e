// What crosses between the host and a backend's memory in a run: arguments and scalars in, results out. Two runs may be under way whose results nobody has
// taken yet; each has a slot, 0 or 1.
#pragma once

#include <tx/plan/plan.hpp>
#include <tx/run/frame.hpp>
#include <tx/run/parameter_memory.hpp>
#include <tx/run/staged.hpp>

#include <cstring>
#include <vector>

namespace tx::exec {

// Where each result lies in a copy of all, and how long that is.
template <class Program>
inline constexpr auto result_offsets = [] {
  auto const& results = Program::results;
  fixed<std::int64_t, results.size() + 1> at{};
  for (int k = 0; k < results.size(); ++k) at[k + 1] = at[k] + aligned(results[k].info.bytes());
  return at;
}();

// Memory that the host reaches: everything is used where it lies. Results that nobody has taken are copied before another run writes over them.
template <class Step, class Backend>
class staging {
  using program = typename Step::template program<Backend::target>;
  static constexpr auto const& offsets = result_offsets<program>;

 public:
  void begin(int slot, std::byte const* arena, bool other_is_under_way) {
    if (other_is_under_way && kept_[1 - slot].empty()) keep(kept_[1 - slot], arena);
    kept_[slot].clear();
  }
  std::byte* argument(int, std::byte const* values, std::size_t) { return const_cast<std::byte*>(values); }
  std::byte* scalars(std::byte* values, std::size_t) { return values; }
  std::uint32_t step(std::int64_t steps) { return static_cast<std::uint32_t>(steps); }
  void send() {}
  void fetch(std::byte const*) {}
  void await(int) {}
  std::byte const* result(int slot, int k, std::byte const* arena) const { return kept_[slot].empty() ? arena + program::results[k].offset : kept_[slot].data() + offsets[k]; }

 private:
  static void keep(std::vector<std::byte>& to, std::byte const* arena) {
    to.resize(static_cast<std::size_t>(offsets[program::results.size()]));
    for (int k = 0; k < program::results.size(); ++k) std::memcpy(to.data() + offsets[k], arena + program::results[k].offset, static_cast<std::size_t>(program::results[k].info.bytes()));
  }

  std::vector<std::byte> kept_[most_under_way];  // results of a slot, where they lie in the arena no more
};

// A backend whose device copies by itself, to and from memory of the host that it reaches: upload_ahead beside what is under way, before all that is started
// afterwards, download_later in order; a `moment` that is noted behind them can be waited for.
template <class Backend>
concept copies_later = requires(std::byte* device, std::byte* host, std::int64_t count, typename Backend::moment& m) {
  Backend::allocate_on_host(count);
  Backend::upload_ahead(device, host, count);
  Backend::download_later(host, device, count);
  m.note();
  m.wait();
};

// Of another one: the host waits in each copy.
template <class Backend>
struct copying {
  static constexpr bool later = false;
  struct memory {
    static std::byte* allocate(std::int64_t count) { return static_cast<std::byte*>(::operator new(static_cast<std::size_t>(count), std::align_val_t{memory_alignment})); }
    static void release(std::byte* p, std::int64_t) { ::operator delete(p, std::align_val_t{memory_alignment}); }
  };
  struct moment {
    void note() {}
    void wait() {}
  };
};
template <copies_later Backend>
struct copying<Backend> {
  static constexpr bool later = true;
  using memory = host_memory<Backend>;
  using moment = typename Backend::moment;
};

// A place beside the arena for every argument, one for the scalars, and a copy of the results on the host. What is sent is put together on the host first, so that
// it is one copy, and the host waits for the end of a run alone, when its results are wanted. Each slot has places of its own, so that what a
// run is sent travels while the one before is computed.
template <class Step, remote Backend>
class staging<Step, Backend> {
  using program = typename Step::template program<Backend::target>;
  using places = staged<typename Step::arguments>;
  using copies = copying<Backend>;
  static constexpr auto const& offsets = result_offsets<program>;
  static constexpr std::int64_t sent = places::scalars + scalars_and_step, fetched = offsets[program::results.size()];  // bytes

 public:
  staging() {
    for (one& s : slots_) {
      if constexpr (Backend::target.counter_words > 0) Backend::clear(s.device.data() + places::scalars + scalars_and_step, Backend::target.counter_bytes());
      std::memset(s.host.data(), 0, static_cast<std::size_t>(s.host.size()));
    }
  }

  void begin(int slot, std::byte const*, bool) {
    slot_ = slot;
    if (own().sending) {  // for a run that failed behind that: what it has started may still read what it was sent
      own().end.note();
      own().end.wait();
    }
    own().sending = false;
  }
  std::byte* argument(int k, std::byte const* values, std::size_t count) { return put(places::offsets[k], values, count); }
  std::byte* scalars(std::byte const* values, std::size_t count) { return put(places::scalars, values, count); }
  // What the frame has of it.
  std::uint32_t step(std::int64_t steps) {
    auto const now = static_cast<std::uint32_t>(steps);
    put(places::scalars + scalar_bytes, reinterpret_cast<std::byte const*>(&now), sizeof now);
    return 0;
  }
  void send() {
    own().sending = true;
    if constexpr (copies::later) Backend::upload_ahead(own().device.data(), own().host.data(), sent);
    else Backend::upload(own().device.data(), own().host.data(), sent);
    own().end.note();
  }
  void fetch(std::byte const* arena) {
    for (int k = 0; k < program::results.size(); ++k) {
      std::byte* const to = own().results() + offsets[k];
      std::byte const* const from = arena + program::results[k].offset;
      if constexpr (copies::later) Backend::download_later(to, from, program::results[k].info.bytes());
      else Backend::download(to, from, program::results[k].info.bytes());
    }
    own().end.note();
    own().sending = false;
  }
  void await(int slot) { slots_[slot].end.wait(); }
  std::byte const* result(int slot, int k, std::byte const*) const { return slots_[slot].results() + offsets[k]; }

 private:
  struct one {
    bytes<Backend> device{places::bytes_on(Backend::target)};
    bytes<typename copies::memory> host{aligned(sent) + fetched};  // arguments, scalars and the step as the device has them, then results
    typename copies::moment end{};  // of its run, or of what was sent for it
    bool sending = false;           // and nothing has been noted behind that
    one() = default;
    one(one const&) = delete;
    one& operator=(one const&) = delete;
    ~one() {  // nothing copies to or from memory that is given back
      try {
        if (sending) end.note();
        end.wait();
      } catch (...) {
      }
    }
    std::byte* results() const { return host.data() + aligned(sent); }
  };

  one& own() { return slots_[slot_]; }
  std::byte* put(std::int64_t offset, std::byte const* values, std::size_t count) {
    if (count != 0) std::memcpy(own().host.data() + offset, values, count);
    return own().device.data() + offset;
  }

  one slots_[most_under_way];
  int slot_ = 0;
};

}  // namespace tx::exec
