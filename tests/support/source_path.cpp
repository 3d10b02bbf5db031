#include "support/source_path.h"

#include <cstdlib>

namespace slackline::test {

// The one file that is compiled with the folder's name, so that the compiler cache finds all others
// in any clone.
std::filesystem::path source_path(std::string_view below) {
  return std::filesystem::path(SLACKLINE_SOURCE_DIR) / below;
}

std::filesystem::path shared_path(std::string_view below) {
  const char* shared = std::getenv("SLACKLINE_SHARED");
  return (shared != nullptr ? std::filesystem::path(shared) : source_path("../shared")) / below;
}

}  // namespace slackline::test
