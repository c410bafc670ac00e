// The backend that the program is compiled for.
#pragma once

#if defined(TX_FOR_HIP)
#include <tx/backends/hip.hpp>
using its_backend = tx::hip;
#else
#include <tx/backends/cuda.hpp>
using its_backend = tx::cuda;
#endif
