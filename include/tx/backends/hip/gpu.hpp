// AMD's GPUs as a device of the kernels.
#pragma once

#include <tx/backends/hip/driver.hpp>  // first: it brings HIP's names
#include <tx/backends/device/on_stream.hpp>

namespace tx::backends::hip {

using gpu = device::on_stream<driver>;
using mfma_gpu = device::on_stream<mfma_driver>;

}  // namespace tx::backends::hip
