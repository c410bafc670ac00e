// What crosses between the host and a backend's memory in a run: arguments and scalars in, results out.
#pragma once

#include <tx/plan/plan.hpp>
#include <tx/run/frame.hpp>
#include <tx/run/parameter_memory.hpp>
#include <tx/run/staged.hpp>

#include <vector>

namespace tx::exec {

// Memory that the host reaches: everything is used where it lies.
template <class Step, class Backend>
class staging {
 public:
  std::byte* argument(int, std::byte const* values, std::size_t) { return const_cast<std::byte*>(values); }
  std::byte* scalars(std::byte* values, std::size_t) { return values; }
  std::uint32_t step(std::int64_t steps) { return static_cast<std::uint32_t>(steps); }
  std::byte const* result(int, std::byte const* value) { return value; }
};

// A place beside the arena for every argument, one for the scalars, and a copy of the results on the host.
template <class Step, remote Backend>
class staging<Step, Backend> {
  using program = typename Step::template program<Backend::target>;
  using places = staged<typename Step::arguments>;
  static constexpr auto result_offsets = [] {
    auto const& results = program::results;
    fixed<std::int64_t, results.size() + 1> at{};
    for (int k = 0; k < results.size(); ++k) at[k + 1] = at[k] + aligned(results[k].info.bytes());
    return at;
  }();

 public:
  staging() : device_(places::bytes_on(Backend::target)), results_(static_cast<std::size_t>(result_offsets[program::results.size()])) {
    if constexpr (Backend::target.counter_words > 0) Backend::clear(device_.data() + places::scalars + scalars_and_step, Backend::target.counter_bytes());
  }

  std::byte* argument(int k, std::byte const* values, std::size_t bytes) { return sent(places::offsets[k], values, bytes); }
  std::byte* scalars(std::byte const* values, std::size_t bytes) { return sent(places::scalars, values, bytes); }
  // What the frame has of it.
  std::uint32_t step(std::int64_t steps) {
    auto const now = static_cast<std::uint32_t>(steps);
    sent(places::scalars + scalar_bytes, reinterpret_cast<std::byte const*>(&now), sizeof now);
    return 0;
  }
  std::byte const* result(int k, std::byte const* value) {
    std::byte* const to = results_.data() + result_offsets[k];
    Backend::download(to, value, program::results[k].info.bytes());
    return to;
  }

 private:
  std::byte* sent(std::int64_t offset, std::byte const* values, std::size_t bytes) {
    if (bytes != 0) Backend::upload(device_.data() + offset, values, static_cast<std::int64_t>(bytes));
    return device_.data() + offset;
  }

  bytes<Backend> device_;
  std::vector<std::byte> results_;
};

}  // namespace tx::exec
