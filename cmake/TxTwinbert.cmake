# tx_add_twinbert(NAME HEADER)
#
# Adds the program NAME: examples/twinbert's sources, compiled for the model that HEADER describes. HEADER is looked up
# beside the calling CMakeLists.txt first, then in examples/twinbert.
set(TX_TWINBERT_DIR ${CMAKE_CURRENT_LIST_DIR}/../examples/twinbert CACHE INTERNAL "")

function(tx_add_twinbert NAME HEADER)
  file(GLOB sources CONFIGURE_DEPENDS ${TX_TWINBERT_DIR}/*.cpp)
  if(NOT sources)
    message(STATUS "${NAME}: no sources in examples/twinbert")
    return()
  endif()
  add_executable(${NAME} ${sources})
  # Only engine.cpp holds kernels; the rest parses options and files.
  set(others ${sources})
  list(FILTER others EXCLUDE REGEX "/engine.cpp$")
  set_source_files_properties(${others} TARGET_DIRECTORY ${NAME} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>")
  target_compile_definitions(${NAME} PRIVATE TWINBERT_MODEL_HEADER="${HEADER}")
  target_include_directories(${NAME} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${TX_TWINBERT_DIR})
  target_link_libraries(${NAME} PRIVATE $<TARGET_NAME_IF_EXISTS:tx::program> tx::tx)
endfunction()
