// The backend of the compiler's make.
#pragma once

#if defined(__HIPCC__)
#include <tx/backends/hip.hpp>
using its_backend = tx::hip;
#else
#include <tx/backends/cuda.hpp>
using its_backend = tx::cuda;
#endif
