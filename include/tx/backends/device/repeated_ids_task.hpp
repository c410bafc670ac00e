// What makes the gradient of a look-up even work: of ids that are often the same, as a padding's or a table's of two rows, rows are added up within stretches of places first, so that
// scatter_task finds few rows of each. Always in the same order: a stretch is so many places, whatever the device.
//
//   ids of a stretch   7 3 7 7 9   ->   7 summed, 3, -, -, 9      sums of the stretch: gradient rows 0 + 2 + 3, at place 0
#pragma once

#include <tx/backends/device/divider.hpp>
#include <tx/backends/device/registers.hpp>
#include <tx/backends/device/vocabulary.hpp>

namespace tx::backends::device {

// What a place is to scatter_task: a row of the table, whose gradient lies there or was summed up for this stretch, or nothing.
struct place_code {
  static constexpr std::uint32_t nothing = 0xffffffffu;
  static constexpr std::int64_t most_rows = 0x7fffffff;
  static TX_DEVICE std::uint32_t of(std::int64_t row, bool summed) { return static_cast<std::uint32_t>(row) << 1 | (summed ? 1u : 0u); }
  static TX_DEVICE std::int64_t row(std::uint32_t code) { return static_cast<std::int64_t>(code >> 1); }
  static TX_DEVICE bool summed(std::uint32_t code) { return (code & 1u) != 0; }
};

template <dtype D, dtype Id>
struct repeated_ids_task {
  static constexpr int threads = most_threads, places = 128, warps = threads / warp, columns_of_lane = 4;
  static constexpr std::int64_t shared_bytes = 2 * places * 4 + places / warp * 4;  // rows, the next place with each, and bits of those that begin some

  struct arguments {
    std::byte* sums = nullptr;            // [count, cols], of places that begin some
    std::byte* codes = nullptr;           // [count]
    std::byte const* gradient = nullptr;  // [count / bag, cols]
    std::byte const* ids = nullptr;       // [count]
    std::int64_t count = 0, cols = 0;
    divider bag{};
  };

  // A block for each stretch.
  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    std::int64_t const first = std::int64_t{b.block()} * places;
    auto* const row = reinterpret_cast<std::int32_t*>(b.shared());
    auto* const next = row + places;
    auto* const begins = reinterpret_cast<std::uint32_t*>(next + places);  // a bit for each place
    int const own = b.thread();
    bool const here = own < places && first + own < a.count;
    std::int64_t const id = here ? static_cast<std::int64_t>(reinterpret_cast<element_t<Id> const*>(a.ids)[first + own]) : -1;
    bool const named = id >= 0 && id < place_code::most_rows;
    if (own < places) row[own] = named ? static_cast<std::int32_t>(id) : -1;
    b.sync();
    bool leads = named;
    if (own < places) {
      for (int p = 0; p < own; ++p) leads = leads && row[p] != row[own];
      int p = own + 1;
      while (p < places && row[p] != row[own]) ++p;
      next[own] = p;
      if (here) reinterpret_cast<std::uint32_t*>(a.codes)[first + own] = leads ? place_code::of(row[own], p < places) : place_code::nothing;
    }
    std::uint32_t const of_warp = b.ballot(leads && next[own] < places);
    if (own < places && own % warp == 0) begins[own / warp] = of_warp;
    b.sync();
    // A warp has one place's sums of so many columns at a time.
    int turn = 0;
    for (int w = 0; w < places / warp; ++w)
      for (std::uint32_t bits = begins[w]; bits != 0; bits &= bits - 1) {
        int const lane = first_lane(bits);
        for (std::int64_t c = 0; c < a.cols; c += warp * columns_of_lane)
          if (turn++ % warps == own / warp) sum_columns(a, next, first, w * warp + lane, c + own % warp);
      }
  }

 private:
  using element = element_t<D>;

  static TX_DEVICE void sum_columns(arguments const& a, std::int32_t const* next, std::int64_t first, int place, std::int64_t column) {
    constexpr int together = 4;  // places whose rows are asked for before the first of them is waited for
    element sums[columns_of_lane]{};
    for (int p = place; p < places;) {
      element more[together][columns_of_lane];
      int from[together];
      TX_UNROLL
      for (int n = 0; n < together; ++n) {
        from[n] = p;
        if (p < places) p = next[p];
      }
      TX_UNROLL
      for (int n = 0; n < together; ++n) {
        element const* const row = reinterpret_cast<element const*>(a.gradient) + std::int64_t{a.bag.quotient(static_cast<std::uint32_t>(first + from[n]))} * a.cols;
        TX_UNROLL
        for (int k = 0; k < columns_of_lane; ++k) more[n][k] = from[n] < places && column + k * warp < a.cols ? row[column + k * warp] : element(0);
      }
      TX_UNROLL
      for (int n = 0; n < together; ++n)
        for (int k = 0; k < columns_of_lane; ++k)
          if (from[n] < places) sums[k] += more[n][k];
    }
    element* const to = reinterpret_cast<element*>(a.sums) + (first + place) * a.cols;
    TX_UNROLL
    for (int k = 0; k < columns_of_lane; ++k)
      if (column + k * warp < a.cols) to[column + k * warp] = sums[k];
  }
};

}  // namespace tx::backends::device
