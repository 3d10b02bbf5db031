# slackline_test(NAME SOURCES ... LAYERS layer... [LINK library...] [LABELS ...] [TIMEOUT s])
#
# One GoogleTest binary per layer and level; ctest runs it as a whole.
# Tests labelled "threaded" own threads: the target threaded_tests builds just these, for ThreadSanitizer.
include(CTest)
add_custom_target(threaded_tests)

function(slackline_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LAYERS;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  list(TRANSFORM ARG_LAYERS PREPEND slackline::)
  target_link_libraries(${name} PRIVATE slackline_test_options ${ARG_LAYERS} ${ARG_LINK} GTest::gtest_main)
  slackline_precompile(${name} tests)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if("threaded" IN_LIST ARG_LABELS)
    add_dependencies(threaded_tests ${name})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
