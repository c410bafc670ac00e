# cmake -DOBJECT=... -DNM=... -DDEVICE=cuda|hip -DHEADERS="..." -DOUT=... -P DeviceTasks.cmake
#
# Writes a source for the device's compiler: all tasks that OBJECT starts and has no code of, instantiated. An object asks for them as symbols of
# tx::backends::DEVICE::started<Task>, whose demangled name is the type. OUT is left as it is where it would be the same, so an edit that changes no kernel
# compiles none.
foreach(unlimited IN ITEMS --no-recurse-limit "")  # of GNU's nm, which otherwise leaves long names as they are
  execute_process(COMMAND ${NM} -u -C ${unlimited} ${OBJECT} OUTPUT_VARIABLE symbols ERROR_VARIABLE error RESULT_VARIABLE status)
  if(status EQUAL 0)
    break()
  endif()
endforeach()
if(NOT status EQUAL 0)
  message(FATAL_ERROR "tx: ${NM} ${OBJECT}: ${error}")
endif()
if(symbols MATCHES "8backends[0-9]+${DEVICE}7startedI")
  message(FATAL_ERROR "tx: ${NM} does not tell the names of all kernels of ${OBJECT}. FIX: -DCMAKE_NM=... of binutils 2.32 or newer, or llvm-nm")
endif()
string(REPLACE "[" "<:" symbols "${symbols}")  # as brackets and semicolons mean something in lists; C++ reads these two alike
string(REPLACE "]" ":>" symbols "${symbols}")
string(REGEX MATCHALL "tx::backends::${DEVICE}::started<[^\n]*>::(start|allow)\\(" tasks "${symbols}")
list(TRANSFORM tasks REPLACE "::(start|allow)\\($" "")
list(REMOVE_DUPLICATES tasks)
list(SORT tasks)
set(text "// Written by tx's DeviceTasks.cmake.\n#include <tx/backends/${DEVICE}/device_code.hpp>\n#include <tx/backends/device/adaptive_sum_task.hpp>\n#include <tx/backends/device/tree_sum_task.hpp>\n#include <tx/backends/device/whole_kernels.hpp>\n#include <tx/tx.hpp>\n")
foreach(header IN LISTS HEADERS)
  string(APPEND text "#include \"${header}\"\n")
endforeach()
foreach(task IN LISTS tasks)
  if(task MATCHES "anonymous namespace|'lambda|{lambda")
    message(FATAL_ERROR "tx: a task of ${OBJECT} is made of a type that no other source can name: ${task}. FIX: the rule of an op for devices stands in a header, in a namespace with a name")
  endif()
  string(APPEND text "template struct ${task};\n")
endforeach()
file(CONFIGURE OUTPUT ${OUT} CONTENT "${text}" @ONLY)
