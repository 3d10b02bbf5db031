// Files of the reference material beside the repository (SLACKLINE_SHARED, else ../shared), which
// not every checkout has. Tests that read them skip loudly without it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace slackline::test {

inline std::filesystem::path shared_path(const std::string& name) {
  const char* shared = std::getenv("SLACKLINE_SHARED");
  return std::filesystem::path(shared != nullptr ? shared : SLACKLINE_SOURCE_DIR "/../shared") /
         name;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace slackline::test

#define SLACKLINE_SKIP_WITHOUT_SHARED(name)                           \
  if (!std::filesystem::exists(::slackline::test::shared_path(name))) \
  GTEST_SKIP() << "SKIPPED: no " << ::slackline::test::shared_path(name) << "; set SLACKLINE_SHARED"
