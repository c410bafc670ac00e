# What `cmake --install` copies: headers with the written one, and a package for find_package(tx). Nothing in it depends on the
# machine, the compiler or the place.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package ${CMAKE_INSTALL_DATADIR}/cmake/tx)

install(DIRECTORY include/tx ${generated}/tx DESTINATION include FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/tx)

install(TARGETS tx EXPORT tx)
install(EXPORT tx NAMESPACE tx:: FILE txTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/txConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/txConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break what an earlier one promised.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/txConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/txConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/txConfigVersion.cmake
  cmake/TxFlags.cmake cmake/TxDeviceSource.cmake cmake/DeviceTasks.cmake cmake/TxCuda.cmake cmake/TxHip.cmake cmake/TxAddProgram.cmake DESTINATION ${package})
