// A tile of a product of halves on units for matrices that a wavefront of 64 lanes shares, as those of AMD's are: sums in f32, 64 x 64 of them, 32 x 32 a wavefront. Slices
// of both sides come to shared memory by way of registers, one ahead of the arithmetic; there each line lies along the depth, whichever way it does in memory.
// What a lane holds: AMD, "AMD matrix cores", https://gpuopen.com/learn/amd-lab-notes/amd-lab-notes-matrix-cores-readme
#pragma once

#include <tx/backends/device/product_side.hpp>
#include <tx/backends/device/registers.hpp>

namespace tx::backends::device {

template <dtype D>
class wavefront_core {
 public:
  static constexpr int tile = 64, stride = tile + 4;  // rows and columns of results; elements from one of their rows to the next
  static constexpr int threads = 256;
  static constexpr int slice = 64;  // of the depth
  static constexpr int row_bytes = 2 * slice + 8, side_bytes = tile * row_bytes, stage_bytes = 2 * side_bytes;  // rows that neighbouring lanes read lie in different banks
  static constexpr std::int64_t shared_bytes = 2 * stage_bytes;

  static constexpr int groups = 4;
  float sums[groups][4] = {};

  template <class Block>
  TX_DEVICE void multiply(Block& b, product_side const& left, product_side const& right, std::int64_t first, std::int64_t end) {
    pieces of_left, of_right;
    of_left.read(b, left, first, end);
    of_right.read(b, right, first, end);
    int stage = 0;
    for (std::int64_t k = first; k < end; k += slice) {
      std::byte* const room = b.shared() + stage;
      of_left.write(b, left.along(), room);
      of_right.write(b, right.along(), room + side_bytes);
      b.sync();  // and whoever is still at the slice before has the other room
      of_left.read(b, left, k + slice, end);
      of_right.read(b, right, k + slice, end);
      add(b, room);
      stage = stage_bytes - stage;
    }
    b.sync();
  }

  // The tile, rows `stride` elements apart.
  template <class Block>
  TX_DEVICE void store_sums(Block& b, float* to) const {
    int const w = b.thread() / wavefront, lane = b.thread() % wavefront;
    float* const first = to + (w / 2 * 32 + lane / 16 * 4) * stride + w % 2 * 32 + lane % 16;
    TX_UNROLL
    for (int i = 0; i < 2; ++i) {
      TX_UNROLL
      for (int j = 0; j < 2; ++j)
        for (int e = 0; e < 4; ++e) first[(16 * i + e) * stride + 16 * j] = sums[2 * i + j][e];
    }
  }

 private:
  static constexpr int halves = 8;  // of a piece, 16 bytes

  // What a thread brings of a slice of a side, zero beyond the edges.
  class pieces {
   public:
    template <class Block>
    TX_DEVICE void read(Block& b, product_side const& s, std::int64_t k, std::int64_t end) {
      bool const along = s.along();
      TX_UNROLL
      for (int n = 0; n < count; ++n) {
        int const number = b.thread() + n * threads, outer = number / in_row, inner = number % in_row * halves;  // a row is a line, or what lines have of one depth
        std::int64_t const row_end = along ? s.lines : end - k, inner_end = along ? end - k : s.lines;
        std::int64_t const at = s.start + (along ? outer * s.line + (k + inner) : (k + outer) * s.depth + inner * s.line), apart = along ? 1 : s.line;
        if (outer < row_end && inner + halves <= inner_end && s.wide) {
          words_[n] = load_own<std::uint32_t, 4>(s.at + 2 * at);
          continue;
        }
        std::uint16_t each[halves];
        TX_UNROLL
        for (int e = 0; e < halves; ++e) each[e] = outer < row_end && inner + e < inner_end ? reinterpret_cast<std::uint16_t const*>(s.at)[at + e * apart] : std::uint16_t{0};
        __builtin_memcpy(words_[n].x, each, sizeof each);
      }
    }
    template <class Block>
    TX_DEVICE void write(Block& b, bool along, std::byte* to) const {
      TX_UNROLL
      for (int n = 0; n < count; ++n) {
        int const number = b.thread() + n * threads, outer = number / in_row, inner = number % in_row * halves;
        if (along) {
          TX_UNROLL
          for (int two = 0; two < 2; ++two)
            store_own(to + outer * row_bytes + 2 * inner + 8 * two, columns<std::uint32_t, 2>{{words_[n].x[2 * two], words_[n].x[2 * two + 1]}});
        } else {
          TX_UNROLL
          for (int e = 0; e < halves; ++e) {
            auto const one = static_cast<std::uint16_t>(words_[n].x[e / 2] >> (e % 2 * 16));
            __builtin_memcpy(to + (inner + e) * row_bytes + 2 * outer, &one, 2);
          }
        }
      }
    }

   private:
    static constexpr int in_row = slice / halves, count = tile * slice / halves / threads;
    static_assert(tile == slice);  // so that rows are as long either way
    columns<std::uint32_t, 4> words_[count];
  };

  template <class Block>
  TX_DEVICE void add(Block& b, std::byte const* room) {
    int const w = b.thread() / wavefront, lane = b.thread() % wavefront;
    std::byte const* const of_left = room + (w / 2 * 32 + lane % 16) * row_bytes + lane / 16 * 8;
    std::byte const* const of_right = room + side_bytes + (w % 2 * 32 + lane % 16) * row_bytes + lane / 16 * 8;
    TX_UNROLL
    for (int k = 0; k < slice / 16; ++k) {
      columns<std::uint32_t, 2> left[2], right[2];
      TX_UNROLL
      for (int i = 0; i < 2; ++i) {
        left[i] = load_own<std::uint32_t, 2>(of_left + i * 16 * row_bytes + k * 32);
        right[i] = load_own<std::uint32_t, 2>(of_right + i * 16 * row_bytes + k * 32);
      }
      TX_UNROLL
      for (int i = 0; i < 2; ++i) {
        TX_UNROLL
        for (int j = 0; j < 2; ++j) b.template add_wavefront_product<D>(sums[2 * i + j], left[i].x, right[j].x);
      }
    }
  }
};

}  // namespace tx::backends::device
