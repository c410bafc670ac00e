# How sources are compiled for AMD's devices. Sets tx_hipcc, which is empty where there is none or it lacks its runtime, tx_amdhip64, tx_hip_headers and
# tx_hip_flags.
set(TX_HIP_ARCHITECTURES "gfx90a" CACHE STRING "AMD's devices that programs are compiled for")

function(tx_find_hip)
  unset(tx_found_hipcc)
  unset(tx_found_hip)
  unset(tx_found_hip_headers)
  find_program(tx_found_hipcc hipcc PATHS /opt/rocm/bin NO_CACHE)
  if(tx_found_hipcc)
    file(REAL_PATH ${tx_found_hipcc} rocm)
    cmake_path(GET rocm PARENT_PATH rocm)
    cmake_path(GET rocm PARENT_PATH rocm)
    find_library(tx_found_hip amdhip64 HINTS ${rocm}/lib PATHS /opt/rocm/lib NO_CACHE)
    find_path(tx_found_hip_headers hip/hip_runtime_api.h HINTS ${rocm}/include PATHS /opt/rocm/include NO_CACHE)
  endif()
  if(NOT tx_found_hip OR NOT tx_found_hip_headers)
    set(tx_found_hipcc "")
    set(tx_found_hip "")
    set(tx_found_hip_headers "")
  endif()
  set(tx_hipcc "${tx_found_hipcc}" CACHE INTERNAL "")  # for the functions, wherever they are called
  set(tx_amdhip64 "${tx_found_hip}" CACHE INTERNAL "")
  set(tx_hip_headers "${tx_found_hip_headers}" CACHE INTERNAL "")
endfunction()
tx_find_hip()

# Products and sums are rounded apart, as on the host: a result that is computed again is the same.
set(tx_hip_flags -x hip -std=c++20 -ffp-contract=off -fconstexpr-steps=2000000000 -fconstexpr-depth=4096 -fbracket-depth=4096 -ftemplate-depth=2048 CACHE INTERNAL "")
