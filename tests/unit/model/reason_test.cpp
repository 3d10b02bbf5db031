// Every code has a page with its meaning, how to see it and what to do, and every page a code.
#include "slackline/model/reason.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/source_path.h"

namespace slackline {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::filesystem::path kPages = test::source_path("docs/reasons");

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Reasons, EveryCodeHasItsPage) {
  const std::string index = read(kPages / "README.md");
  for (const ReasonFact& fact : kReasons) {
    const std::string code(fact.code);
    const std::string page = read(kPages / (code + ".md"));
    EXPECT_THAT(page, StartsWith("# " + code + "\n")) << code;
    // The first letter of the clause is a capital there.
    EXPECT_THAT(page, HasSubstr(std::string(fact.meaning.substr(1)) + ".\n")) << code;
    for (const char* part : {"\n## What it means\n", "\n## See it\n\n```sh\n", "\n## What to do\n"})
      EXPECT_THAT(page, HasSubstr(part)) << code;
    EXPECT_THAT(
        index, HasSubstr("| [" + code + "](" + code + ".md) | " + std::string(fact.meaning) + " |"))
        << code;
  }
}

TEST(Reasons, EveryPageHasItsCode) {
  std::set<std::string> pages;
  for (const auto& entry : std::filesystem::directory_iterator(kPages))
    pages.insert(entry.path().stem().string());
  EXPECT_EQ(pages.size(), kReasons.size() + 1);
  for (const std::string& page : pages)
    EXPECT_TRUE(page == "README" || find_reason(page) != nullptr) << page;
}

TEST(Reasons, CodesAreUniqueAndFitForLabels) {
  std::set<std::string_view> seen;
  for (const ReasonFact& fact : kReasons) {
    EXPECT_TRUE(seen.insert(fact.code).second) << fact.code;
    EXPECT_EQ(fact.code.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
              std::string_view::npos)
        << fact.code;
    EXPECT_LE(fact.code.size(), 128U);  // the API server's limit for the reason of an Event
  }
}

}  // namespace
}  // namespace slackline
