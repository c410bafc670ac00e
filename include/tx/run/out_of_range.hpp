// Are the elements of an argument what an op was promised they are (ops/in_range.hpp)? Asked before a run, so that nothing is written when they are not.
#pragma once

#include <tx/config.hpp>
#include <tx/core/error.hpp>
#include <tx/ops/in_range.hpp>
#include <tx/plan/plan.hpp>

#include <span>
#include <string>
#include <type_traits>

namespace tx::exec {

// rule: "at least 0", of the element at this place.
[[noreturn]] TX_COLD inline void out_of_range(range_check const& c, std::int64_t value, std::int64_t place, std::string const& rule) {
  std::string const holds = "executor: argument " + std::to_string(c.input) + " holds " + std::to_string(value) + " at element " + std::to_string(place);
  if (c.most_rise == range_promise::start)
    throw value_error(holds + ", where a slice or what is written begins; it must be " + rule +
                      " for all of it to lie in its axis. FIX: a start with room behind it; a cache that is full takes no more");
  if (c.most_rise != 0) throw value_error(holds + "; an offset must be " + rule + ". FIX: offsets rise from 0, each where a part ends");
  throw value_error(holds + "; an id or label must be " + rule + ". FIX: ids of the vocabulary and labels of the classes that the model was made for");
}

// Throws value_error for the first element that is not; goes through them axis by axis. extents: those of the run.
template <class T, std::size_t N, class Extents>
void refuse_out_of_range(std::span<T, N> values, range_check const& c, Extents const& extents) {
  if constexpr (std::is_integral_v<T>) {
    std::int64_t const end = c.of_end ? extents.in_run(c.end - c.beyond, c.of_end) + c.beyond : c.end;
    std::int64_t extent[range_check::max_axes], stride[range_check::max_axes];
    for (int k = 0; k < range_check::max_axes; ++k) extent[k] = extents.in_run(c.extent[k]), stride[k] = extents.in_run(c.stride[k]);
    auto const all = static_cast<std::int64_t>(values.size());
    auto const at = [&](std::int64_t i) { return static_cast<std::int64_t>(values[static_cast<std::size_t>(i)]); };
    auto const along = [&](auto const& self, int axis, std::int64_t from) -> void {
      for (std::int64_t k = 0, i = from; k < extent[axis] && i < all; ++k, i += stride[axis]) {
        if (axis + 1 < range_check::max_axes && c.stride[axis + 1] != quantity{}) {
          self(self, axis + 1, i);
          continue;
        }
        std::int64_t const value = at(i);
        if (value != c.also && value < c.first) out_of_range(c, value, i, "at least " + std::to_string(c.first));
        if (value != c.also && value >= end) out_of_range(c, value, i, "below " + std::to_string(end));
        if (c.most_rise <= 0 || k == 0) continue;
        std::int64_t const before = at(i - stride[axis]);
        if (value < before) out_of_range(c, value, i, "at least the one before it, " + std::to_string(before));
        if (value > before + c.most_rise) out_of_range(c, value, i, "at most " + std::to_string(c.most_rise) + " above the one before it, " + std::to_string(before));
      }
    };
    along(along, 0, extents.in_run(c.offset));
  }
}

}  // namespace tx::exec
