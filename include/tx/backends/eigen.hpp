// The CPU backend with Eigen's products in place of tx's own tiles: portable to what Eigen has vectors for, and a second opinion in tests.
//
//   tx::executor<step, tx::eigen> run{tx::seed(0)};
//
// Everything but products of f32 and f64 is the CPU backend's. A row's result may differ in its last bits with the rows it is computed
// with, as Eigen chooses its blocks by size, and Eigen allocates its packed blocks in each product. Eigen's own threads are switched
// off in programs that include this header before others of Eigen's: the threads are tx's.
#pragma once

#include <tx/backends/eigen/kernels.hpp>

namespace tx {

struct eigen : cpu {
  template <class Signature>
  using kernel = backends::eigen::kernel<Signature>;
};

}  // namespace tx
