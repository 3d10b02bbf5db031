# Compiler options, in one INTERFACE target so that they never reach third-party code.
option(SLACKLINE_TESTS "Build the tests" ON)
option(SLACKLINE_BENCH "Build the benchmarks" OFF)
option(SLACKLINE_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(SLACKLINE_WERROR "Treat warnings as errors" ON)
set(SLACKLINE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

add_library(slackline_options INTERFACE)
target_link_libraries(slackline_options INTERFACE Threads::Threads)
target_compile_options(slackline_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  # Scores must be equal on every machine: no fused multiply-add.
  -ffp-contract=off
  $<$<BOOL:${SLACKLINE_WERROR}>:-Werror>
  # g++ 12 reports false positives for these in inlined libstdc++ code.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  # Several sources of a layer in one translation unit, as the sanitizer and release presets build:
  # their unnamed namespaces are one, which is what this warns of.
  $<$<AND:$<OR:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CONFIG:Release>>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>
  # libstdc++ 12 calls what it deprecates itself, inside std::stable_sort.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)

# __FILE__, which GoogleTest writes everywhere, begins at the source folder: see the keys of ccache below.
add_compile_options(-fno-omit-frame-pointer -fstack-protector-strong -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT SLACKLINE_SANITIZE)
  add_compile_definitions(_FORTIFY_SOURCE=2)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
if(SLACKLINE_SANITIZE)
  add_compile_options(-fsanitize=${SLACKLINE_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SLACKLINE_SANITIZE})
  if(SLACKLINE_SANITIZE MATCHES "undefined")
    # A quarter of the build for what AddressSanitizer stops at anyway (a null pointer, an object that is too small), and
    # for what does no harm on x86 and arm64 (alignment) or is not done here (a cast to a derived class).
    add_compile_options(-fno-sanitize=alignment,null,object-size,vptr)
  endif()
endif()

# Keys without the folder's name (CCACHE_BASEDIR, CCACHE_NOHASHDIR): a second clone finds what the first one compiled.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

# Sources a unit where CMAKE_UNITY_BUILD is on. Two names that clash there get names that say which is which.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)

# In a release build every layer whose cost is its headers is built in units, too, but smaller ones, so
# that two cores end together. `core` is not: who changes the policies measures them at once.
function(slackline_release_units target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
  endif()
endfunction()
