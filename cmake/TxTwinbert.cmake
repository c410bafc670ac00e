# tx_add_twinbert(NAME HEADER [RANKS])
#
# Adds the program NAME: examples/twinbert, compiled for the model that HEADER describes. HEADER is looked up beside the
# calling CMakeLists.txt first, then in examples/twinbert. With RANKS several processes may train one model (mpirun -n 2 NAME train ...).
set(TX_TWINBERT_DIR ${CMAKE_CURRENT_LIST_DIR}/../examples/twinbert CACHE INTERNAL "")

function(tx_add_twinbert NAME HEADER)
  cmake_parse_arguments(PARSE_ARGV 2 arg "RANKS" "" "")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tx_add_twinbert(${NAME}): ${arg_UNPARSED_ARGUMENTS} is not known; known is RANKS")
  endif()
  tx_trainer_objects(twinbert_program ${TX_TWINBERT_DIR} ENGINES engine engine_of_ranks description)
  add_executable(${NAME} ${TX_TWINBERT_DIR}/description.cpp ${TX_TWINBERT_DIR}/engine.cpp)
  set(ranks)
  if(arg_RANKS)
    set(ranks ${TX_TWINBERT_DIR}/engine_of_ranks.cpp)
    target_sources(${NAME} PRIVATE ${ranks})
  endif()
  tx_device_engines(${NAME} ALONE ${TX_TWINBERT_DIR}/engine.cpp RANKS ${ranks})  # --device cuda, --device hip
  # An edit of the model is tried a little sooner than with -O3, and GCC takes less than 1.5 GB.
  target_compile_options(${NAME} PRIVATE $<$<CONFIG:Release>:-O2>)
  set_target_properties(${NAME} PROPERTIES TX_GCC_KILOBYTES 1230000)
  target_compile_definitions(${NAME} PRIVATE TWINBERT_MODEL_HEADER="${HEADER}")
  target_include_directories(${NAME} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${TX_TWINBERT_DIR})
  target_link_libraries(${NAME} PRIVATE twinbert_program)
endfunction()
