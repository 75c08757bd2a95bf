# SPDX-License-Identifier: Apache-2.0
# Options, warnings and the helpers that each folder's CMakeLists.txt uses.
#
#   dbk_add_library(NAME SOURCES... [LIBS ...])   static library daybreak_NAME
#   dbk_add_c_library(NAME SOURCES... [LIBS ...]) the same for freestanding C11
#   dbk_add_test(NAME SOURCES... LIBS ... [LABELS ...])  a Catch2 program, run by ctest
#   dbk_add_fuzzer(NAME SOURCE LIBS ...)          a fuzz target, see tests/support/fuzz_main.cpp

set(DAYBREAK_SANITIZE OFF CACHE STRING "Build with sanitizers: ON or messages (address and undefined behaviour), or thread")
option(DAYBREAK_STATIC "Link the programs statically, for use inside an initramfs" ON)
option(DAYBREAK_TESTS "Build the tests" ON)
option(DAYBREAK_PRECOMPILED "Parse the headers that nearly every file includes once" ON)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105329: std::string's operator+ "overlaps" with itself at -O2 and above; of precompiled headers it says
  # the like of each memcpy() in them.
  set(untrue -Wno-restrict)
  if(DAYBREAK_PRECOMPILED)
    list(APPEND untrue -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
  endif()
  add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:${untrue}>")
endif()
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
option(DAYBREAK_UNITY "Compile eight files of a target as one" ON)
if(DAYBREAK_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # By inlining, a unit of more than 10000 instructions may grow by two fifths and no more. That is for one file: without, a
  # compilation of D took up to 9 percent more instructions. Precompiled headers have it too, or it is not heeded.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=large-unit-insns=80000>)
endif()
if(DAYBREAK_SANITIZE)
  if(DAYBREAK_SANITIZE STREQUAL "thread")
    set(sanitizers thread)
  else()
    set(sanitizers address,undefined)
    if(NOT DAYBREAK_SANITIZE STREQUAL "messages" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Undefined behaviour is an illegal instruction, of which the address sanitizer prints the stack (base/sanitizers.cpp).
      # To say as well what it was takes a fifth more time to compile, and twice the time of a program that does nothing.
      add_compile_options(-fsanitize-undefined-trap-on-error)
      # Of the library, only what something refers to is linked.
      add_link_options(-Wl,--undefined=__asan_default_options)
    endif()
  endif()
  # -Og -g1: with the sanitizers' checks inside, -O1 takes twice as long to compile, -O2 minutes for
  # some files, and neither finds more.
  # -UNDEBUG: CMake's own build types define it, and dbk_probe_assert() would be looked at nowhere.
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer
                      $<$<COMPILE_LANGUAGE:C>:-UNDEBUG> $<$<COMPILE_LANGUAGE:C>:-O1> $<$<COMPILE_LANGUAGE:CXX>:-Og> -g1)
  # Programs at fixed addresses have nothing to relocate, which took a third of the shortest runs.
  add_link_options(-fsanitize=${sanitizers} $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  # It takes 0.4 s for the largest of a hundred programs, GNU ld 2.4 s.
  find_program(DAYBREAK_LLD ld.lld)
  if(DAYBREAK_LLD)
    add_link_options(-fuse-ld=lld -Wl,--build-id=sha1)
  endif()
  set(DAYBREAK_STATIC OFF)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

find_package(PkgConfig REQUIRED)
enable_testing()

# Catch2 3 has its header elsewhere, and its main() in a library.
if(DAYBREAK_TESTS)
  find_path(DAYBREAK_CATCH2_2 catch2/catch.hpp)
  if(NOT DAYBREAK_CATCH2_2)
    find_package(Catch2 3 REQUIRED)
    include_directories(${CMAKE_SOURCE_DIR}/tests/support/catch2_3)
  endif()
endif()

# A test's own code is mostly the framework's macros. Nothing is gained by optimizing those, and checks of each pointer and
# reference in them take a third of the time to compile; a null pointer ends the test without.
set(of_tests -O0)
if(DAYBREAK_SANITIZE)
  list(APPEND of_tests -fno-sanitize=null,alignment,object-size,vptr)
endif()

# Headers that nearly every file includes, parsed once: half of the time that a file takes. The nightly build without finds what
# a file uses and does not include.
if(DAYBREAK_PRECOMPILED)
  set(headers <algorithm> <array> <charconv> <cinttypes> <cstring> <filesystem> <fstream> <functional> <map> <memory>
              <optional> <random> <set> <span> <sstream> <string> <string_view> <unordered_map> <variant> <vector>)
  add_library(daybreak_headers OBJECT ${CMAKE_SOURCE_DIR}/cmake/headers.cpp)
  target_precompile_headers(daybreak_headers PRIVATE ${headers})
  if(DAYBREAK_TESTS)
    add_library(daybreak_headers_of_tests OBJECT ${CMAKE_SOURCE_DIR}/cmake/headers.cpp)
    target_compile_options(daybreak_headers_of_tests PRIVATE ${of_tests})
    target_precompile_headers(daybreak_headers_of_tests PRIVATE ${headers} <catch2/catch.hpp>)
  endif()
endif()

# Gives a target's C++ files the precompiled headers of that name: each has the options of those that take it.
function(dbk_precompile target headers)
  if(DAYBREAK_PRECOMPILED)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.[cS]$")
    set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# A target's C++ files are compiled eight at a time: what they include and instantiate, once for all of them.  So what
# two files of a target would name alike is shared, or has two names.  OFF is faster after a change of one file.
function(dbk_compile_together target)
  if(DAYBREAK_UNITY)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources EXCLUDE REGEX "\\.cpp$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

function(dbk_add_library name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_library(daybreak_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(daybreak_${name} PUBLIC ${ARG_LIBS})
  dbk_precompile(daybreak_${name} daybreak_headers)
  dbk_compile_together(daybreak_${name})
endfunction()

function(dbk_add_c_library name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_library(daybreak_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(daybreak_${name} PRIVATE -ffreestanding -fno-strict-aliasing
    $<$<COMPILE_LANGUAGE:C>:-Wdeclaration-after-statement -Wstrict-prototypes>)
  target_link_libraries(daybreak_${name} PUBLIC ${ARG_LIBS})
endfunction()

function(dbk_add_test name)
  cmake_parse_arguments(ARG "" "" "LIBS;LABELS" ${ARGN})
  add_executable(test_${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(test_${name} PRIVATE ${ARG_LIBS} daybreak_test_main)
  target_compile_options(test_${name} PRIVATE ${of_tests})
  dbk_precompile(test_${name} daybreak_headers_of_tests)
  dbk_compile_together(test_${name})
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "unit;${ARG_LABELS}" TIMEOUT 3600)
endfunction()

function(dbk_add_fuzzer name source)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_executable(fuzz_${name} ${source})
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_LIBS} daybreak_fuzz_main)
  dbk_precompile(fuzz_${name} daybreak_headers)
endfunction()
