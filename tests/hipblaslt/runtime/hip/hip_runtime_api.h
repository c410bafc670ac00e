// What tests on the host need of HIP's runtime where backends/hip/blas.hpp asks for it: a stream's type, and the types of matrices' elements as of ROCm 6
// (https://rocm.docs.amd.com/projects/HIP, hip/library_types.h).
#pragma once

#define TX_STANDS_FOR_HIP 1

using hipStream_t = struct ihipStream_t*;

enum hipDataType { HIP_R_32F = 0, HIP_R_64F = 1, HIP_R_16F = 2, HIP_R_16BF = 14 };
