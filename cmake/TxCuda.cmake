# How sources are compiled for NVIDIA's devices. Sets tx_nvcc, which is empty where there is none, tx_nvcc_flags and tx_cuda_toolkit.
#   tx_add_device_program(NAME SOURCE [DEFINITIONS definition...] [LIBRARIES library...])  a program for the devices of TX_CUDA_ARCHITECTURES
set(TX_CUDA_ARCHITECTURES "80;90" CACHE STRING "NVIDIA's devices that programs are compiled for, by their compute capability")

# For a device the nvcc that is installed, with its libraries; else that of a wheel (tools/setup.sh check), which is of one version everywhere.
file(GLOB wheels ${CMAKE_CURRENT_LIST_DIR}/../build/nvcc/lib/python*/site-packages/nvidia/cu13/bin)
if(TX_CUDA)
  find_program(found nvcc PATHS /usr/local/cuda/bin ${wheels} NO_CACHE)
else()
  find_program(found nvcc HINTS ${wheels} PATHS /usr/local/cuda/bin NO_CACHE)
endif()
set(toolkit "")
if(found)
  file(REAL_PATH ${found} toolkit)
  cmake_path(GET toolkit PARENT_PATH toolkit)
  cmake_path(GET toolkit PARENT_PATH toolkit)
else()
  set(found "")
endif()
set(tx_nvcc "${found}" CACHE INTERNAL "")  # for the functions, wherever they are called
set(tx_cuda_toolkit "${toolkit}" CACHE INTERNAL "")
unset(found)

# Products and sums are rounded apart, as on the host: a result that is computed again is the same.
set(host_flags -ffp-contract=off,-fconstexpr-ops-limit=4000000000,-fconstexpr-loop-limit=100000000,-fconstexpr-depth=4096,-ftemplate-depth=2048)
set(tx_nvcc_flags -std=c++20 --expt-relaxed-constexpr --fmad=false -lineinfo -Xcompiler ${host_flags}
    -Xcudafe --max_cost_constexpr_call=2000000000,--max_depth_constexpr_call=4096 CACHE INTERNAL "")

function(tx_add_device_program NAME SOURCE)
  cmake_parse_arguments(PARSE_ARGV 2 for "" "" "DEFINITIONS;LIBRARIES")
  tx_device_object(object ${SOURCE} cuda DEFINITIONS ${for_DEFINITIONS})
  add_executable(${NAME} EXCLUDE_FROM_ALL ${object})
  set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${NAME} PRIVATE ${object_libraries} Threads::Threads)
endfunction()
