# What `cmake --install` puts where.
# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)

install(TARGETS hakmem_shared EXPORT hakmem
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS hakmem_static EXPORT hakmem
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "hakmem*.h")

# find_package(hakmem) gives hakmem::shared and hakmem::static.
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/hakmem")
install(EXPORT hakmem NAMESPACE hakmem:: FILE hakmemTargets.cmake DESTINATION "${package_folder}")
configure_package_config_file(
  cmake/hakmemConfig.cmake.in "${PROJECT_BINARY_DIR}/hakmemConfig.cmake"
  INSTALL_DESTINATION "${package_folder}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/hakmemConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/hakmemConfig.cmake"
  "${PROJECT_BINARY_DIR}/hakmemConfigVersion.cmake" DESTINATION "${package_folder}")

# pkg-config hakmem.  The prefix is found from where the file lies, so the tree can be moved.
set(pkgconfig_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
string(REGEX REPLACE "[^/]+" ".." pc_up "${pkgconfig_folder}")
configure_file(cmake/hakmem.pc.in "${PROJECT_BINARY_DIR}/hakmem.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/hakmem.pc" DESTINATION "${pkgconfig_folder}")

if(EXISTS "${PROJECT_SOURCE_DIR}/docs/man/hakmem.1")
  install(FILES docs/man/hakmem.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
