# The version stands in project() and in include/hakmem.h; they must agree.
# SPDX-License-Identifier: MIT
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/hakmem.h)
file(STRINGS include/hakmem.h header_version REGEX "^#define HAK_VERSION +\"")
if(NOT header_version MATCHES "\"${PROJECT_VERSION}\"")
  message(FATAL_ERROR
    "include/hakmem.h says ${header_version}, CMakeLists.txt says ${PROJECT_VERSION}.")
endif()
