# tx_add_program(NAME SOURCE... [BACKENDS cpu cuda hip] [HEADERS header...])
#
# Adds the static library NAME: compiled steps and functions behind a plain interface. Its sources instantiate the executors;
# the header that applications include names no template of tx. So only these sources see tx and its flags, and to edit an
# application compiles no model again. See docs/using.md and examples/07_own_project.
#   BACKENDS  the sources are compiled once for each of them, on tx::chosen_backend of tx/backends/chosen.hpp; cpu unless said. Who links NAME sees
#             TX_WITH_CUDA or TX_WITH_HIP where devices are among them. Definitions and include folders of NAME are those of the device's objects too; other
#             options, and what it links, are the CPU's alone.
#   HEADERS   those of NAME that have rules of ops of its own: kernels for devices are made of them
function(tx_add_program NAME)
  cmake_parse_arguments(PARSE_ARGV 1 for "" "" "BACKENDS;HEADERS")
  if(for_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "tx_add_program(${NAME}): there is nothing behind ${for_KEYWORDS_MISSING_VALUES}. FIX: BACKENDS cpu cuda, HEADERS ops.hpp, or leave it out")
  endif()
  foreach(word IN LISTS for_UNPARSED_ARGUMENTS for_BACKENDS)
    if(word MATCHES "^[A-Z_]+$")
      message(FATAL_ERROR "tx_add_program(${NAME}): ${word} is no source and no known word. FIX: sources, then perhaps BACKENDS cpu cuda hip and HEADERS header...")
    endif()
  endforeach()
  if(NOT for_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tx_add_program(${NAME}): there are no sources. FIX: name the .cpp that instantiates the executor")
  endif()
  if(NOT for_BACKENDS)
    set(for_BACKENDS cpu)
  endif()
  set(sources)
  set(libraries)
  set(definitions)
  foreach(backend IN LISTS for_BACKENDS)
    if(backend STREQUAL cpu)
      list(APPEND sources ${for_UNPARSED_ARGUMENTS})
      continue()
    endif()
    foreach(source IN LISTS for_UNPARSED_ARGUMENTS)
      tx_device_objects(objects ${source} ${backend} TARGET ${NAME} HEADERS ${for_HEADERS})
      list(APPEND sources ${objects})
      list(APPEND libraries ${objects_libraries})
    endforeach()
    string(TOUPPER TX_WITH_${backend} with)
    list(APPEND definitions ${with}=1)
  endforeach()
  add_library(${NAME} STATIC ${sources})
  set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE CXX)
  target_compile_features(${NAME} PUBLIC cxx_std_20)
  target_compile_definitions(${NAME} INTERFACE ${definitions})
  target_include_directories(${NAME} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  # Within tx's own tree also its warnings.
  target_link_libraries(${NAME} PRIVATE $<TARGET_NAME_IF_EXISTS:tx::program> tx::tx ${libraries})
endfunction()
