# Headers that nearly every file includes, parsed once per kind of target: parsing them was a third of a cold build.
#
#   slackline_precompile(TARGET std)     a layer
#   slackline_precompile(TARGET tests)   a test binary: GoogleTest too
#   slackline_precompile(TARGET own HEADERS <...>)   compiled with options of its own; what only it includes too
#
# Every file still includes what it uses: clang builds without this, for clang-tidy and the fuzz targets, and sees to it.
set(SLACKLINE_STD_HEADERS <algorithm> <functional> <map> <memory> <optional> <set> <string> <string_view>
  <unordered_map> <unordered_set> <utility> <vector> <fmt/format.h> <tl/expected.hpp>)
file(WRITE ${CMAKE_BINARY_DIR}/precompiled/empty.cpp "")

function(slackline_precompile target kind)
  cmake_parse_arguments(ARG "" "" "HEADERS" ${ARGN})
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  target_compile_options(${target} PRIVATE -fpch-preprocess)  # by which ccache sees what is in it
  if(kind STREQUAL "own")
    target_precompile_headers(${target} PRIVATE ${SLACKLINE_STD_HEADERS} ${ARG_HEADERS})
  else()
    target_precompile_headers(${target} REUSE_FROM slackline_precompiled_${kind})
  endif()
endfunction()

# The one whose headers all targets of a kind use; their options must be the same.
function(slackline_precompiled kind)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  set(owner slackline_precompiled_${kind})
  add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled/empty.cpp)
  target_link_libraries(${owner} PRIVATE slackline_options ${ARG_LINK})
  slackline_precompile(${owner} own HEADERS ${ARG_HEADERS})
endfunction()
