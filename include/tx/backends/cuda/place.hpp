// Operands as kernels are given them: everything that the frame decides is resolved on the host.
#pragma once

#include <tx/backends/cuda/registers.hpp>
#include <tx/run/frame.hpp>

namespace tx::backends::cuda {

struct place {
  std::byte* at = nullptr;        // the first row; null where nothing is read
  philox_stream stream{};         // access::random
  std::uint64_t random_row = 0;   // access::random: the number of row 0
  exec::operand_ref ref{};

  static place of(exec::frame const& f, exec::operand_ref const& r) {
    place p{};
    p.ref = r;
    if (r.base >= 0) {
      p.at = f.at<std::byte>(r);
    } else {
      p.stream = f.stream(r);
      p.random_row = f.random_row(r, 0);
    }
    return p;
  }
};

}  // namespace tx::backends::cuda
