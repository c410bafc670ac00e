// The backend that the program is compiled for.
#pragma once

#if defined(TX_FOR_HIP)
#include <tx/backends/hip.hpp>
#if defined(TX_WITH_MFMA)
using its_backend = tx::hip_mfma;
#else
using its_backend = tx::hip;
#endif
#else
#include <tx/backends/cuda.hpp>
using its_backend = tx::cuda;
#endif
