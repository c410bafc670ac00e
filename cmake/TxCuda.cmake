# Sources that nvcc compiles. Sets tx_nvcc, which is empty where there is none, and tx_nvcc_flags.
#   tx_add_device_program(NAME SOURCE [DEFINITIONS definition...] [LIBRARIES library...])  a program for the devices of TX_CUDA_ARCHITECTURES
set(TX_CUDA_ARCHITECTURES "80;90" CACHE STRING "NVIDIA's devices that programs are compiled for, by their compute capability")

# Without a device nvcc of a wheel (tools/setup.sh check), else the one that is installed, with its libraries.
set(wheels)
if(NOT TX_CUDA)
  file(GLOB wheels ${PROJECT_SOURCE_DIR}/build/nvcc/lib/python*/site-packages/nvidia/cu13/bin)
endif()
find_program(tx_nvcc nvcc HINTS ${wheels} PATHS /usr/local/cuda/bin NO_CACHE)
if(NOT tx_nvcc)
  set(tx_nvcc "")
  return()
endif()
file(REAL_PATH ${tx_nvcc} tx_cuda_toolkit)
cmake_path(GET tx_cuda_toolkit PARENT_PATH tx_cuda_toolkit)
cmake_path(GET tx_cuda_toolkit PARENT_PATH tx_cuda_toolkit)

# Products and sums are rounded apart, as on the host: a result that is computed again is the same.
set(host_flags -ffp-contract=off,-fconstexpr-ops-limit=4000000000,-fconstexpr-loop-limit=100000000,-fconstexpr-depth=4096,-ftemplate-depth=2048)
set(tx_nvcc_flags -std=c++20 --expt-relaxed-constexpr --fmad=false -lineinfo -Xcompiler ${host_flags}
    -Xcudafe --max_cost_constexpr_call=2000000000,--max_depth_constexpr_call=4096
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_BINARY_DIR}/generated)

function(tx_add_device_program NAME SOURCE)
  cmake_parse_arguments(PARSE_ARGV 2 for "" "" "DEFINITIONS;LIBRARIES")
  list(TRANSFORM for_DEFINITIONS PREPEND -D)
  set(devices)
  foreach(architecture IN LISTS TX_CUDA_ARCHITECTURES)
    list(APPEND devices -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.o)
  add_custom_command(OUTPUT ${object} COMMAND ${tx_nvcc} -O3 ${tx_nvcc_flags} ${devices} ${for_DEFINITIONS} -MD -MF ${object}.d -c ${SOURCE} -o ${object}
    DEPENDS ${SOURCE} DEPFILE ${object}.d COMMENT "Compiling ${NAME} for a device" VERBATIM)
  add_executable(${NAME} EXCLUDE_FROM_ALL ${object})
  set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE CXX)
  foreach(library IN LISTS for_LIBRARIES ITEMS cudart)
    find_library(found_${library} ${library} HINTS ${tx_cuda_toolkit}/lib64 ${tx_cuda_toolkit}/lib PATHS /usr/local/cuda/lib64 NO_CACHE REQUIRED)
    target_link_libraries(${NAME} PRIVATE ${found_${library}})
  endforeach()
  target_link_libraries(${NAME} PRIVATE Threads::Threads)
endfunction()
