// NVIDIA's GPUs as a device of the kernels.
#pragma once

#include <tx/backends/cuda/driver.hpp>
#include <tx/backends/device/on_stream.hpp>

namespace tx::backends::cuda {

using gpu = device::on_stream<driver>;

}  // namespace tx::backends::cuda
