# bench_random_mixed_hakmem is copied to the root by `make`: there, too, it must find libhakmem.so in
# the build folder, so that what is measured is the library that is shipped.
# SPDX-License-Identifier: MIT
if(TARGET bench_random_mixed_hakmem)
  cmake_path(RELATIVE_PATH PROJECT_BINARY_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE build_folder)
  set_target_properties(bench_random_mixed_hakmem PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
    BUILD_RPATH "$ORIGIN;$ORIGIN/${build_folder}")
endif()
