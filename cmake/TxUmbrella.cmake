# Writes <tx/all.hpp> into DIR: every header of the folders whose contents users name. Nobody edits a list.
function(tx_write_umbrella DIR)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../include)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${root} ${root}/tx/ops/*.hpp ${root}/tx/nn/*.hpp ${root}/tx/train/*.hpp)
  list(SORT headers)
  list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>")
  list(JOIN headers "\n" text)
  file(CONFIGURE OUTPUT ${DIR}/tx/all.hpp @ONLY CONTENT "// Written by the build.\n#pragma once\n\n${text}\n")
endfunction()
