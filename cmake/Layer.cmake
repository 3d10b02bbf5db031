# slackline_layer(NAME SOURCES ... [DEPENDS layer...] [LINK library...])
#
# One static library per layer, with an include root of its own: build/layers/NAME holds a symlink to
# this layer's headers alone, so a header of a layer that is not named in DEPENDS is simply not found.
# base and model are always visible; DEPENDS is private, hence not transitive.
set(SLACKLINE_PUBLIC_LAYERS base model core)

function(slackline_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  set(root ${CMAKE_BINARY_DIR}/layers/${name})
  if(name IN_LIST SLACKLINE_PUBLIC_LAYERS)
    file(MAKE_DIRECTORY ${root}/slackline)
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include/slackline/${name} ${root}/slackline/${name} SYMBOLIC)
  else()
    file(MAKE_DIRECTORY ${root})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${name} ${root}/${name} SYMBOLIC)
  endif()

  add_library(slackline_${name} STATIC ${ARG_SOURCES})
  add_library(slackline::${name} ALIAS slackline_${name})
  target_include_directories(slackline_${name} PUBLIC ${root})
  target_link_libraries(slackline_${name} PRIVATE slackline_options ${ARG_LINK})
  foreach(layer base model)
    if(NOT name STREQUAL layer AND NOT (name STREQUAL base AND layer STREQUAL model))
      target_link_libraries(slackline_${name} PUBLIC slackline::${layer})
    endif()
  endforeach()
  foreach(layer ${ARG_DEPENDS})
    if(NOT TARGET slackline_${layer})
      message(FATAL_ERROR "layer ${name} depends on ${layer}, which is unknown or stands above it")
    endif()
    target_link_libraries(slackline_${name} PRIVATE slackline::${layer})
  endforeach()
endfunction()
