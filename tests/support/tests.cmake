# What the test folders share: include() it first.
# SPDX-License-Identifier: MIT

enable_testing()

# A sanitizer brings its own malloc, so nothing is preloaded in such a build: the tests that link
# hak_core remain.
if(DEFINED HAK_PRELOAD)
  set(HAK_TESTS_PRELOAD ${HAK_PRELOAD})
else()
  set(HAK_TESTS_PRELOAD ON)
endif()

# A symbol that shows that the preload is in effect; the test programs insist on it.
if(NOT DEFINED HAK_TESTS_SYMBOL)
  set(HAK_TESTS_SYMBOL hak_version)
endif()

# No builtins: the compiler must not fold a malloc and its free away.
set(HAK_TESTS_FLAGS -O1 -fno-builtin -D_GNU_SOURCE)

if(NOT TARGET test_support)
  add_library(test_support OBJECT
    ${CMAKE_CURRENT_LIST_DIR}/test_check.c
    ${CMAKE_CURRENT_LIST_DIR}/preload_check.c ${CMAKE_CURRENT_LIST_DIR}/process_memory.c ${CMAKE_CURRENT_LIST_DIR}/run_self.c
    ${CMAKE_CURRENT_LIST_DIR}/seccomp_deny.c ${CMAKE_CURRENT_LIST_DIR}/shadow_model.c)
  target_include_directories(test_support PUBLIC ${CMAKE_CURRENT_LIST_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(test_support PRIVATE -O2 -D_GNU_SOURCE)
  target_link_libraries(test_support PUBLIC ${CMAKE_DL_LIBS} PRIVATE hak_options)
endif()

find_package(Threads REQUIRED)

# In a cross build the programs run under an emulator, which is slow: what watches over them waits longer.
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(HAK_TESTS_PATIENCE 8)
  target_compile_definitions(test_support PRIVATE HAK_TESTS_PATIENCE=${HAK_TESTS_PATIENCE})
  target_sources(test_support PRIVATE ${CMAKE_CURRENT_LIST_DIR}/patient_alarm.c)
  target_link_options(test_support INTERFACE "LINKER:--wrap=alarm")
else()
  set(HAK_TESTS_PATIENCE 1)
endif()

# hak_test_program(NAME SOURCE...): a program for a test, with the shared helpers.
function(hak_test_program name)
  add_executable(${name} ${ARGN})
  target_compile_options(${name} PRIVATE ${HAK_TESTS_FLAGS})
  target_link_libraries(${name} PRIVATE test_support Threads::Threads)
  get_target_property(sources ${name} SOURCES)
  if(NOT sources MATCHES "\\.cc")
    target_link_libraries(${name} PRIVATE hak_options)
  endif()
endfunction()

# hak_add_test(NAME name LABELS l... COMMAND c... [PRELOAD] [SERIAL] [WILL_FAIL] [TIMEOUT s]
#              [ENVIRONMENT v=w...]): a CTest test; PRELOAD runs it on the library.
function(hak_add_test)
  cmake_parse_arguments(test "PRELOAD;SERIAL;WILL_FAIL" "NAME;TIMEOUT" "LABELS;COMMAND;ENVIRONMENT"
    ${ARGN})
  if(test_PRELOAD AND NOT HAK_TESTS_PRELOAD)
    return()
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  math(EXPR test_TIMEOUT "${test_TIMEOUT} * ${HAK_TESTS_PATIENCE}")
  # Scripts start the programs through it.
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    list(APPEND test_ENVIRONMENT "HAK_TEST_EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}")
  endif()
  if(test_PRELOAD)
    list(APPEND test_ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:hakmem_shared>"
      "HAK_TEST_PRELOAD=${HAK_TESTS_SYMBOL}")
  endif()
  add_test(NAME ${test_NAME} COMMAND ${test_COMMAND})
  set_tests_properties(${test_NAME} PROPERTIES LABELS "${test_LABELS}" TIMEOUT ${test_TIMEOUT}
    SKIP_RETURN_CODE 77 ENVIRONMENT "${test_ENVIRONMENT}")
  if(test_SERIAL)
    set_tests_properties(${test_NAME} PROPERTIES RUN_SERIAL ON)
  endif()
  if(test_WILL_FAIL)
    set_tests_properties(${test_NAME} PROPERTIES WILL_FAIL ON)
  endif()
endfunction()

# hak_add_backend_tests(NAME name [EXCEPT backend] ...): the test once for each backend other than the
# default.
include(${CMAKE_CURRENT_LIST_DIR}/backends.cmake)
function(hak_add_backend_tests)
  cmake_parse_arguments(test "" "NAME;EXCEPT" "ENVIRONMENT" ${ARGN})
  foreach(variant IN LISTS HAK_BACKEND_VARIANTS)
    string(REPLACE " " ";" settings "${variant}")
    list(POP_FRONT settings backend)
    if(NOT backend STREQUAL "${test_EXCEPT}")
      hak_add_test(NAME ${test_NAME}.${backend} ${test_UNPARSED_ARGUMENTS}
        ENVIRONMENT ${settings} ${test_ENVIRONMENT})
    endif()
  endforeach()
endfunction()
