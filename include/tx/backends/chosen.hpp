// The backend that a source is compiled for, where tx_add_program(... BACKENDS cpu cuda hip) compiles it once for each: tx::chosen_backend. Functions are named
// with the backend's name, so that a program may hold all of them: TX_ON_CHOSEN(make_net) is make_net_on_cpu, make_net_on_cuda or make_net_on_hip. So are classes
// that are made of the backend without being templates of it, or the namespace they are in: else linkers take one for the other. The name alone, "cpu", "cuda" or
// "hip", is tx::chosen_name.
#pragma once

#if defined(TX_FOR_CUDA) && defined(TX_WITHOUT_CUBLAS)
#include <tx/backends/cuda.hpp>
#define TX_ON_CHOSEN(name) name##_on_cuda
namespace tx {
using chosen_backend = cuda;
inline constexpr char const* chosen_name = "cuda";
}
#elif defined(TX_FOR_CUDA)
#include <tx/backends/cuda_blas.hpp>
#define TX_ON_CHOSEN(name) name##_on_cuda
namespace tx {
using chosen_backend = cuda_blas;
inline constexpr char const* chosen_name = "cuda";
}
#elif defined(TX_FOR_HIP)
#include <tx/backends/hip.hpp>
#define TX_ON_CHOSEN(name) name##_on_hip
namespace tx {
#if defined(TX_WITH_MFMA)  // all of the processors that it is compiled for have matrix cores
using chosen_backend = hip_mfma;
#else
using chosen_backend = hip;
#endif
inline constexpr char const* chosen_name = "hip";
}
#else
#include <tx/backends/cpu.hpp>
#define TX_ON_CHOSEN(name) name##_on_cpu
namespace tx {
using chosen_backend = cpu;
inline constexpr char const* chosen_name = "cpu";
}
#endif
