# Runs PORT_FILE with vcpkg's functions replaced by what they do for it (vcpkg's maintainer functions reference).
set(PORT tx)

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${given_SOURCE_PATH} -B ${BUILD} -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}
    ${ARGUMENTS} ${given_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_install)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "CONFIG_PATH" "")
  file(RENAME ${CURRENT_PACKAGES_DIR}/${given_CONFIG_PATH} ${CURRENT_PACKAGES_DIR}/share/${PORT})
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "" "FILE_LIST")
  file(INSTALL ${given_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT} RENAME copyright)
endfunction()

include(${PORT_FILE})
