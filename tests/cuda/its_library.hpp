// The backend that the program is compiled for, with its library of products.
#pragma once

#if defined(TX_FOR_HIP)
#include <tx/backends/hip_blas.hpp>
#if defined(TX_WITH_MFMA)
using its_library = tx::hip_blas_mfma;
#else
using its_library = tx::hip_blas;
#endif
#else
#include <tx/backends/cuda_blas.hpp>
using its_library = tx::cuda_blas;
#endif
