# How everything is compiled.  `hak_options` carries the warnings; core/CMakeLists.txt adds what only
# the allocator needs.
# SPDX-License-Identifier: MIT

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # -std=gnu11: builtins and attributes of gcc and clang
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON) # a build folder can be moved

add_library(hak_options INTERFACE)
target_compile_options(hak_options INTERFACE
  -Wall -Wextra -Wshadow -Wundef -Wvla -Wconversion -Wno-sign-conversion
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes;-Wstrict-prototypes>
  -fvisibility=hidden
  $<$<BOOL:${HAK_WERROR}>:-Werror>)

# HAK_CFLAGS comes after the build type's flags, so that -O3 wins; -flto must reach the linker too.
separate_arguments(hak_cflags UNIX_COMMAND "${HAK_CFLAGS}")
if(HAK_CFLAGS MATCHES "-flto" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND hak_cflags -ffat-lto-objects) # libhakmem.a stays usable without -flto
endif()
add_compile_options(${hak_cflags})
add_link_options(${hak_cflags})
