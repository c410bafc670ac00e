// The backend that a source is compiled for, where tx_add_program(... BACKENDS cpu cuda hip) compiles it once for each: tx::chosen_backend. Functions are named
// with the backend's name, so that a program may hold all of them: TX_ON_CHOSEN(make_net) is make_net_on_cpu, make_net_on_cuda or make_net_on_hip. So are classes
// that are made of the backend without being templates of it, or the namespace they are in: else linkers take one for the other. The device's name alone, "cpu", "cuda" or
// "hip", is tx::chosen_device. With TX_OF_RANKS a source is compiled once more, for processes that have a device each: make_net_on_cuda_ranks.
#pragma once

#if defined(TX_FOR_CUDA) && defined(TX_WITHOUT_CUBLAS)
#include <tx/backends/cuda.hpp>
namespace tx {
using chosen_backend = cuda;
}
#elif defined(TX_FOR_CUDA)
#include <tx/backends/cuda_blas.hpp>
namespace tx {
using chosen_backend = cuda_blas;
}
#elif defined(TX_FOR_HIP) && defined(TX_WITHOUT_HIPBLASLT)
#include <tx/backends/hip.hpp>
namespace tx {
#if defined(TX_WITH_MFMA)  // all of the processors that it is compiled for have matrix cores
using chosen_backend = hip_mfma;
#else
using chosen_backend = hip;
#endif
}
#elif defined(TX_FOR_HIP)
#include <tx/backends/hip_blas.hpp>
namespace tx {
#if defined(TX_WITH_MFMA)
using chosen_backend = hip_blas_mfma;
#else
using chosen_backend = hip_blas;
#endif
}
#else
#include <tx/backends/cpu.hpp>
namespace tx {
using chosen_backend = cpu;
}
#endif

#if defined(TX_FOR_CUDA)
#define TX_CHOSEN_DEVICE cuda
#elif defined(TX_FOR_HIP)
#define TX_CHOSEN_DEVICE hip
#else
#define TX_CHOSEN_DEVICE cpu
#endif
#if defined(TX_OF_RANKS)
#define TX_CHOSEN_END _ranks
#else
#define TX_CHOSEN_END
#endif
#define TX_JOINED(name, device, end) name##_on_##device##end
#define TX_JOIN(name, device, end) TX_JOINED(name, device, end)
#define TX_ON_CHOSEN(name) TX_JOIN(name, TX_CHOSEN_DEVICE, TX_CHOSEN_END)
#define TX_QUOTED(name) #name
#define TX_QUOTE(name) TX_QUOTED(name)

namespace tx {
constexpr char const* chosen_device = TX_QUOTE(TX_CHOSEN_DEVICE);  // each source's own
}
