# Sources that hipcc compiles, for AMD's devices. Sets tx_hipcc, which is empty where there is none.
#   tx_add_hip_program(NAME SOURCE [DEFINITIONS definition...])  a program for the devices of TX_HIP_ARCHITECTURES
set(TX_HIP_ARCHITECTURES "gfx90a" CACHE STRING "AMD's devices that programs are compiled for")

find_program(tx_hipcc hipcc PATHS /opt/rocm/bin NO_CACHE)
if(NOT tx_hipcc)
  set(tx_hipcc "")
  return()
endif()

# Products and sums are rounded apart, as on the host: a result that is computed again is the same.
set(tx_hip_flags -x hip -std=c++20 -ffp-contract=off -fconstexpr-steps=2000000000 -fconstexpr-depth=4096 -fbracket-depth=4096 -ftemplate-depth=2048
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_BINARY_DIR}/generated)

function(tx_add_hip_program NAME SOURCE)
  cmake_parse_arguments(PARSE_ARGV 2 for "" "" "DEFINITIONS")
  list(TRANSFORM for_DEFINITIONS PREPEND -D)
  set(devices ${TX_HIP_ARCHITECTURES})
  list(TRANSFORM devices PREPEND --offload-arch=)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.o)
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${NAME})
  add_custom_command(OUTPUT ${object} COMMAND ${tx_hipcc} -O2 ${tx_hip_flags} ${devices} ${for_DEFINITIONS} -MD -MF ${object}.d -c ${SOURCE} -o ${object}
    DEPENDS ${SOURCE} DEPFILE ${object}.d COMMENT "Compiling ${NAME} for ${TX_HIP_ARCHITECTURES}" VERBATIM)
  add_custom_command(OUTPUT ${program} COMMAND ${tx_hipcc} ${devices} ${object} -pthread -o ${program} DEPENDS ${object} COMMENT "Linking ${NAME}" VERBATIM)
  add_custom_target(${NAME} DEPENDS ${program})
endfunction()
