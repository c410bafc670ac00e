// A batch in parts: the program runs for each of them, then the update for all.
#pragma once

#include <tx/run/parameter_memory.hpp>
#include <tx/run/run.hpp>
#include <tx/run/staging.hpp>

#include <array>

namespace tx::exec {

template <class Step>
concept in_parts = requires { typename Step::update_source; } && (Step::parts > 1);

// The programs of a step as they are planned for a backend.
template <class Step, class Backend>
using program_on = typename Step::template program<Backend::target>;
template <class Step, class Backend>
using update_program_on = typename Step::template update_program<Backend::target>;

// Bytes of the arena that all programs of a step use, one after the other; behind them lie the sums of gradients over parts.
template <class Step, class Backend>
constexpr std::int64_t shared_arena_bytes() {
  std::int64_t bytes = program_on<Step, Backend>::memory.arena;
  if constexpr (in_parts<Step>)
    if (update_program_on<Step, Backend>::memory.arena > bytes) bytes = update_program_on<Step, Backend>::memory.arena;
  return aligned(bytes);
}
template <class Step>
constexpr std::int64_t sums_bytes() {
  if constexpr (in_parts<Step>) return aligned(layout<typename Step::model>::trained * size_of(layout<typename Step::model>::type));
  else return 0;
}
template <class Step, class Backend>
constexpr std::int64_t arena_bytes() {
  return shared_arena_bytes<Step, Backend>() + sums_bytes<Step>();
}

// How a step runs; most are one program.
template <class Step, class Backend>
class step_runner {
  using program = program_on<Step, Backend>;

 public:
  template <class Frame>
  void run(Frame& f, staging<Step, Backend>&) {
    runner<program, Backend>::run(f);
  }
  std::byte const* result(int k, staging<Step, Backend>& host, std::byte const* arena) { return host.result(k, arena + program::results[k].offset); }
};

template <in_parts Step, class Backend>
class step_runner<Step, Backend> {
  using program = program_on<Step, Backend>;
  using arguments = typename Step::arguments;
  static_assert(Step::sums_block < max_blocks,
                "tx::accumulate: the optimizer has so many states that no block is left for the sums of gradients. FIX: leave out accumulate<N>, or an optimizer with fewer states");
  using update_program = update_program_on<Step, Backend>;
  static constexpr int results = program::results.size();  // of each part; behind them those of the update
  static constexpr int updates = update_program::results.size();
  static_assert([] {
    for (result_ref const& r : program::results)
      if (r.info.count() != 1 || (r.info.type != dtype::f32 && r.info.type != dtype::f64)) return false;
    return true;
  }(), "tx::accumulate: a step hands back means over the parts of a batch, so its results must be f32 or f64 scalars");

 public:
  template <class Frame>
  void run(Frame& f, staging<Step, Backend>& host) {
    std::byte* const sums = f.base[base_block + Step::sums_block] = f.base[base_arena] + shared_arena_bytes<Step, Backend>();
    if (!cleared_) clear_bytes<Backend>(sums, sums_bytes<Step>());
    cleared_ = false;  // until the update has: an exception may end the run between two parts
    auto const whole_batch = f;
    std::array<double, results> totals{};
    for (int part = 0; part < Step::parts; ++part) {
      [&]<int... K>(std::integer_sequence<int, K...>) {
        ((f.base[base_input + K] = whole_batch.base[base_input + K] + part * (std::tuple_element_t<static_cast<std::size_t>(K), arguments>::info.bytes() / Step::parts)),
         ...);
      }(std::make_integer_sequence<int, static_cast<int>(std::tuple_size_v<arguments>)>{});
      f.shard = whole_batch.shard + part;
      runner<program, Backend>::run(f);
      for (int k = 0; k < results; ++k) totals[static_cast<std::size_t>(k)] += number(k, host.result(k, f.base[base_arena] + program::results[k].offset));
    }
    f.shard = whole_batch.shard;
    runner<update_program, Backend>::run(f);
    cleared_ = true;
    for (int k = 0; k < results; ++k) set(k, totals[static_cast<std::size_t>(k)] / Step::parts);
    for (int k = 0; k < updates; ++k) fetch(means_[static_cast<std::size_t>(results + k)], f.base[base_arena] + update_program::results[k].offset, update_program::results[k].info);
  }
  std::byte const* result(int k, staging<Step, Backend>&, std::byte const*) const { return means_[static_cast<std::size_t>(k)].data(); }

 private:
  static double number(int k, std::byte const* p) {
    if (program::results[k].info.type == dtype::f64) return *reinterpret_cast<double const*>(p);
    return static_cast<double>(*reinterpret_cast<float const*>(p));
  }
  void set(int k, double value) {
    auto* const p = means_[static_cast<std::size_t>(k)].data();
    auto const narrow = static_cast<float>(value);
    if (program::results[k].info.type == dtype::f64) __builtin_memcpy(p, &value, sizeof value);
    else __builtin_memcpy(p, &narrow, sizeof narrow);
  }

  struct alignas(8) place {
    std::array<std::byte, 8> bytes{};
    std::byte* data() { return bytes.data(); }
    std::byte const* data() const { return bytes.data(); }
  };
  static void fetch(place& to, std::byte* from, value_info const& scalar) {
    if constexpr (remote<Backend>) Backend::download(to.data(), from, scalar.bytes());
    else __builtin_memcpy(to.data(), from, static_cast<std::size_t>(scalar.bytes()));
  }

  bool cleared_ = false;  // are the sums zero?
  std::array<place, results + updates> means_{};
};

}  // namespace tx::exec
