# slackline_embed(target symbol file...)
#
# Compiles text files into a target as `extern const std::vector<std::pair<std::string_view, std::string_view>> symbol`
# (file name without folder, content) of namespace slackline. Files are read at configure time and watched.
function(slackline_embed target symbol)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded_${symbol}.cpp)
  set(text "// Made by cmake/Embed.cmake.\n#include <string_view>\n#include <utility>\n#include <vector>\n")
  string(APPEND text "namespace slackline {\n"
    "extern const std::vector<std::pair<std::string_view, std::string_view>> ${symbol};\n"
    "const std::vector<std::pair<std::string_view, std::string_view>> ${symbol} = {\n")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME)
    file(READ ${file} content)
    string(APPEND text "{\"${name}\", R\"embed(${content})embed\"},\n")
  endforeach()
  string(APPEND text "};\n}  // namespace slackline\n")
  file(CONFIGURE OUTPUT ${out} CONTENT "${text}" @ONLY)
  target_sources(${target} PRIVATE ${out})
endfunction()
