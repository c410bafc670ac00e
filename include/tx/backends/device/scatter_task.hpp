// The gradient of a look-up: a block has a few rows of the table and looks through all places for theirs, as repeated_ids_task has left them; a thread adds up columns of what those name.
// So rows are added in the order of the places, and each result is written once.
#pragma once

#include <tx/backends/device/divider.hpp>
#include <tx/backends/device/registers.hpp>
#include <tx/backends/device/repeated_ids_task.hpp>
#include <tx/backends/device/vocabulary.hpp>

namespace tx::backends::device {

template <dtype D>
struct scatter_task {
  static constexpr int threads = most_threads, most_rows_of_block = 64;
  static constexpr std::int64_t shared_bytes = threads * 4 + threads / warp * 4;  // codes of as many places as there are threads, and which of them are the block's

  struct arguments {
    std::byte* to = nullptr;              // [rows, cols]
    std::byte const* gradient = nullptr;  // [count / bag, cols]
    std::byte const* sums = nullptr;      // [count, cols]
    std::byte const* codes = nullptr;     // [count]
    std::int64_t count = 0, rows = 0, cols = 0, rows_of_block = 1;
    divider bag{};
  };

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    for (std::int64_t first = std::int64_t{b.block()} * a.rows_of_block; first < a.rows; first += std::int64_t{b.blocks()} * a.rows_of_block) {
      std::int64_t const last = first + a.rows_of_block < a.rows ? first + a.rows_of_block : a.rows;
      clear(b, a, first, last);
      for (std::int64_t i = 0; i < a.count; i += threads) add_some(b, a, first, last, i);
    }
  }

 private:
  using element = element_t<D>;

  // Each thread clears and adds the same columns.
  template <class Block>
  static TX_DEVICE void clear(Block& b, arguments const& a, std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r)
      for (std::int64_t c = b.thread(); c < a.cols; c += threads) reinterpret_cast<element*>(a.to)[r * a.cols + c] = element(0);
  }

  template <class Block>
  static TX_DEVICE void add_some(Block& b, arguments const& a, std::int64_t first, std::int64_t last, std::int64_t from) {
    auto* const codes = reinterpret_cast<std::uint32_t*>(b.shared());
    auto* const found = reinterpret_cast<std::uint32_t*>(b.shared() + threads * 4);  // of each warp, a bit for each lane
    std::int64_t const at = from + b.thread();
    std::uint32_t const code = at < a.count ? reinterpret_cast<std::uint32_t const*>(a.codes)[at] : place_code::nothing;
    bool const mine = place_code::row(code) >= first && place_code::row(code) < last;
    codes[b.thread()] = code;
    std::uint32_t const of_warp = b.ballot(mine);
    if (b.thread() % warp == 0) found[b.thread() / warp] = of_warp;
    b.sync();
    for (int w = 0; w < threads / warp; ++w) {
      for (std::uint32_t bits = found[w]; bits != 0; bits &= bits - 1) {
        int const place = w * warp + first_lane(bits);
        element* const to = reinterpret_cast<element*>(a.to) + place_code::row(codes[place]) * a.cols;
        element const* const more = place_code::summed(codes[place]) ? reinterpret_cast<element const*>(a.sums) + (from + place) * a.cols
                                                                     : reinterpret_cast<element const*>(a.gradient) + std::int64_t{a.bag.quotient(static_cast<std::uint32_t>(from + place))} * a.cols;
        for (std::int64_t c = b.thread(); c < a.cols; c += threads) to[c] += more[c];
      }
    }
    b.sync();
  }
};

}  // namespace tx::backends::device
