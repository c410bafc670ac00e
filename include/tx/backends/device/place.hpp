// Operands as kernels are given them: everything that the frame decides is resolved on the host.
#pragma once

#include <tx/backends/device/divider.hpp>
#include <tx/backends/device/drawn_rows.hpp>
#include <tx/backends/device/registers.hpp>
#include <tx/run/frame.hpp>

#include <limits>

namespace tx::backends::device {

inline constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max() - (1 << 20), most_columns = most_rows;  // that kernels count: some steps behind the last one, too

struct place {
  std::byte* at = nullptr;        // the first row; null where nothing is read
  philox_stream stream{};         // access::random
  drawn_rows rows{};              // access::random
  double value = 0;               // access::constant
  float single = 0;               // the same, as most kernels need it: to round takes a device dozens of cycles
  std::uint32_t row_bytes = 0;    // from one row to the next, where they lie at one distance (rows_are_even)
  std::int64_t row = 0, col = 0;  // elements between rows of a product's matrix, and between columns
  int rank = 0;                   // of the row index, outermost axis first
  divider extent[max_rank]{};
  std::int64_t stride[max_rank] = {};  // elements
  divider apart{};                     // access::position: rows between one position and the next
  bool wide = false;                   // products: several columns can be read and written at once

  static place of(exec::frame const& f, exec::operand_ref const& r) {
    place p{};
    p.value = r.value;
    p.single = static_cast<float>(r.value);
    if (r.rank == 1) p.row_bytes = static_cast<std::uint32_t>(r.stride[0] * size_of(r.type));
    p.row = r.row;
    p.col = r.col;
    p.rank = r.rank;
    for (int k = 0; k < r.rank; ++k) {
      p.extent[k] = divider(static_cast<std::uint32_t>(r.extent[k]));
      p.stride[k] = r.stride[k];
    }
    if (r.base >= 0) {
      p.at = f.at<std::byte>(r);
    } else {
      p.stream = f.stream(r);
      p.rows = f.rows_drawn(r);
      if (r.rank > 0) p.apart = divider(static_cast<std::uint32_t>(r.stride[0]));
    }
    return p;
  }

  // May columns be written `count` elements of so many bytes at a time?
  void find_wide(int count, int element) {
    wide = reinterpret_cast<std::uintptr_t>(at) % static_cast<std::uintptr_t>(count * element) == 0;
    for (int k = 0; k < rank; ++k) wide = wide && stride[k] % count == 0;
  }

  // The same of a product's side, of 16 bytes, along the axis on which its elements are neighbours in memory: a view that skips elements along both has none.
  void find_wide_side(int element) {
    int const most = 16 / element;
    find_wide(most, element);
    wide = wide && ((row == 1 && col % most == 0) || (col == 1 && row % most == 0));
  }

  // Elements between the start and row number `n`, as exec::row_offset has it.
  TX_DEVICE std::int64_t row_offset(std::int64_t n) const {
    if (rank <= 1) return n * stride[0];  // a rank of 0 has a stride of 0
    auto left = static_cast<std::uint32_t>(n);
    std::int64_t offset = 0;
    TX_ROLLED
    for (int k = rank - 1; k > 0; --k) {
      std::uint32_t const outer = extent[k].quotient(left);
      offset += static_cast<std::int64_t>(left - outer * extent[k].by) * stride[k];
      left = outer;
    }
    return offset + static_cast<std::int64_t>(left) * stride[0];
  }
  // access::position along an axis of the rows.
  TX_DEVICE std::uint32_t position(std::int64_t n) const {
    std::uint32_t const counted = apart.quotient(static_cast<std::uint32_t>(n));
    return counted - extent[0].quotient(counted) * extent[0].by;
  }
};

}  // namespace tx::backends::device
