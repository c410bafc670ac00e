// The backend that a source is compiled for, where tx_add_program(... BACKENDS cpu cuda hip) compiles it once for each: tx::chosen_backend. Functions are named
// with the backend's name, so that a program may hold all of them: TX_ON_CHOSEN(make_net) is make_net_on_cpu, make_net_on_cuda or make_net_on_hip.
#pragma once

#if defined(TX_FOR_CUDA)
#if defined(TX_WITHOUT_CUBLAS)
#include <tx/backends/cuda.hpp>
#else
#include <tx/backends/cuda_blas.hpp>
#endif
#define TX_ON_CHOSEN(name) name##_on_cuda
#elif defined(TX_FOR_HIP)
#include <tx/backends/hip.hpp>
#define TX_ON_CHOSEN(name) name##_on_hip
#else
#include <tx/backends/cpu.hpp>
#define TX_ON_CHOSEN(name) name##_on_cpu
#endif

namespace tx {

#if defined(TX_FOR_CUDA) && defined(TX_WITHOUT_CUBLAS)
using chosen_backend = cuda;
#elif defined(TX_FOR_CUDA)
using chosen_backend = cuda_blas;
#elif defined(TX_FOR_HIP)
using chosen_backend = hip;
#else
using chosen_backend = cpu;
#endif

}  // namespace tx
