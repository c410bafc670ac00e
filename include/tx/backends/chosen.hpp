// The backend that a source is compiled for, where tx_add_program(... BACKENDS cpu cuda hip) compiles it once for each: tx::chosen_backend. Functions are named
// with the backend's name, so that a program may hold all of them: TX_ON_CHOSEN(make_net) is make_net_on_cpu, make_net_on_cuda or make_net_on_hip.
#pragma once

#if defined(TX_FOR_CUDA) && defined(TX_WITHOUT_CUBLAS)
#include <tx/backends/cuda.hpp>
#define TX_ON_CHOSEN(name) name##_on_cuda
namespace tx {
using chosen_backend = cuda;
}
#elif defined(TX_FOR_CUDA)
#include <tx/backends/cuda_blas.hpp>
#define TX_ON_CHOSEN(name) name##_on_cuda
namespace tx {
using chosen_backend = cuda_blas;
}
#elif defined(TX_FOR_HIP)
#include <tx/backends/hip.hpp>
#define TX_ON_CHOSEN(name) name##_on_hip
namespace tx {
using chosen_backend = hip;
}
#else
#include <tx/backends/cpu.hpp>
#define TX_ON_CHOSEN(name) name##_on_cpu
namespace tx {
using chosen_backend = cpu;
}
#endif
