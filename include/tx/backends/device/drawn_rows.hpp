// The rows that random numbers are counted in, as core/random_rows.hpp has them, for kernels, which do not divide. Of rows below 2^31, as kernels count them.
#pragma once

#include <tx/backends/device/divider.hpp>
#include <tx/core/random_rows.hpp>

namespace tx::backends::device {

struct drawn_rows {
  std::uint64_t first = 0;
  std::uint32_t all = 0;  // 0: rows follow each other
  divider own{};

  drawn_rows() = default;
  drawn_rows(random_rows const& r) : first(r.first), all(r.own == 0 ? 0 : r.all), own(r.own) {}

  TX_DEVICE std::uint64_t operator()(std::int64_t row) const {
    if (all == 0) return first + static_cast<std::uint64_t>(row);
    auto const r = static_cast<std::uint32_t>(row);
    std::uint32_t const part = own.quotient(r);
    return first + static_cast<std::uint64_t>(part) * all + (r - part * own.by);
  }
};

}  // namespace tx::backends::device
