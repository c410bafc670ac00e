# tx_add_program(NAME SOURCE...)
#
# Adds the static library NAME: compiled steps and functions behind a plain interface. Its sources instantiate the executors;
# the header that applications include names no template of tx. So only these sources see tx and its flags, and to edit an
# application compiles no model again. See docs/using.md and examples/07_own_project.
function(tx_add_program NAME)
  if(NOT ARGN)
    message(FATAL_ERROR "tx_add_program(${NAME}): there are no sources. FIX: name the .cpp that instantiates the executor")
  endif()
  add_library(${NAME} STATIC ${ARGN})
  target_compile_features(${NAME} PUBLIC cxx_std_20)
  target_include_directories(${NAME} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  # Within tx's own tree also its warnings.
  target_link_libraries(${NAME} PRIVATE $<TARGET_NAME_IF_EXISTS:tx::program> tx::tx)
endfunction()
