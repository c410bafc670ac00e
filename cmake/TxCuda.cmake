# How sources are compiled for NVIDIA's devices. Sets tx_nvcc, which is empty where there is none, tx_nvcc_flags, tx_cuda_toolkit and tx_cublaslt.
set(TX_CUDA_ARCHITECTURES "80;90" CACHE STRING "NVIDIA's devices that programs are compiled for, by their compute capability")

# For a device the nvcc that is installed, with its libraries; else that of a wheel (tools/setup.sh check), which is of one version everywhere.
function(tx_find_cuda)  # a search leaves a variable that is set alone: the caller's are none of ours
  file(GLOB wheels ${CMAKE_CURRENT_LIST_DIR}/../build/nvcc/lib/python*/site-packages/nvidia/cu13/bin)
  unset(tx_found_nvcc)
  if(TX_CUDA)
    find_program(tx_found_nvcc nvcc PATHS /usr/local/cuda/bin ${wheels} NO_CACHE)
  else()
    find_program(tx_found_nvcc nvcc HINTS ${wheels} PATHS /usr/local/cuda/bin NO_CACHE)
  endif()
  set(toolkit "")
  unset(tx_found_blas)
  if(tx_found_nvcc)
    file(REAL_PATH ${tx_found_nvcc} toolkit)
    cmake_path(GET toolkit PARENT_PATH toolkit)
    cmake_path(GET toolkit PARENT_PATH toolkit)
    find_library(tx_found_blas cublasLt HINTS ${toolkit}/lib64 ${toolkit}/lib NO_DEFAULT_PATH NO_CACHE)
  else()
    set(tx_found_nvcc "")
  endif()
  if(NOT tx_found_blas)
    set(tx_found_blas "")
    if(TX_CUDA)
      message(STATUS "tx: no cublasLt beside nvcc; products are tx's own, which take longer")
    endif()
  endif()
  set(tx_nvcc "${tx_found_nvcc}" CACHE INTERNAL "")  # for the functions, wherever they are called
  set(tx_cuda_toolkit "${toolkit}" CACHE INTERNAL "")
  set(tx_cublaslt "${tx_found_blas}" CACHE INTERNAL "")
endfunction()
tx_find_cuda()

# Products and sums are rounded apart, as on the host: a result that is computed again is the same.
set(tx_nvcc_flags -std=c++20 --expt-relaxed-constexpr --fmad=false -lineinfo
    -Xcompiler -ffp-contract=off,-fconstexpr-ops-limit=4000000000,-fconstexpr-loop-limit=100000000,-fconstexpr-depth=4096,-ftemplate-depth=2048
    -Xcudafe --max_cost_constexpr_call=2000000000,--max_depth_constexpr_call=4096 CACHE INTERNAL "")
