// Where tests find what they read: the repository's files, and the measurements of others beside
// it.
#pragma once

#include <filesystem>
#include <string_view>

namespace slackline::test {

// A file or folder of the repository, named from its root.
std::filesystem::path source_path(std::string_view below);

// One of $SLACKLINE_SHARED (default: ../shared beside the repository). It may be absent: skip,
// loudly.
std::filesystem::path shared_path(std::string_view below);

}  // namespace slackline::test
