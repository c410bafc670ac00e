// The error that cudaGetLastError tells.
#pragma once

#include <cuda_runtime_api.h>

namespace ptx {

inline thread_local cudaError_t last_error = cudaSuccess;

inline cudaError_t tell(cudaError_t e) {
  if (e != cudaSuccess) last_error = e;
  return e;
}

}  // namespace ptx
