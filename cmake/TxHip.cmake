# How sources are compiled for AMD's devices. Sets tx_hipcc, which is empty where there is none, and tx_hip_flags.
#   tx_add_hip_program(NAME SOURCE [DEFINITIONS definition...])  a program for the devices of TX_HIP_ARCHITECTURES
set(TX_HIP_ARCHITECTURES "gfx90a" CACHE STRING "AMD's devices that programs are compiled for")

find_program(found hipcc PATHS /opt/rocm/bin NO_CACHE)
if(NOT found)
  set(found "")
endif()
set(tx_hipcc "${found}" CACHE INTERNAL "")  # for the functions, wherever they are called
unset(found)

# Products and sums are rounded apart, as on the host: a result that is computed again is the same.
set(tx_hip_flags -x hip -std=c++20 -ffp-contract=off -fconstexpr-steps=2000000000 -fconstexpr-depth=4096 -fbracket-depth=4096 -ftemplate-depth=2048 CACHE INTERNAL "")

function(tx_add_hip_program NAME SOURCE)
  cmake_parse_arguments(PARSE_ARGV 2 for "" "" "DEFINITIONS")
  tx_device_object(object ${SOURCE} hip DEFINITIONS ${for_DEFINITIONS})
  add_executable(${NAME} EXCLUDE_FROM_ALL ${object})
  set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${NAME} PRIVATE ${object_libraries} Threads::Threads)
endfunction()
