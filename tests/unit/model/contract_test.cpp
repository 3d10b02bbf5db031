// The table of keys, and what is written elsewhere by it: docs/KEYS.md, deploy/policy, and every
// key that a page, a manifest or a policy names.
#include "slackline/model/contract.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/read_text.h"
#include "support/source_path.h"

namespace slackline {
namespace {

using contract::Key;
using contract::kKeys;
using contract::Writer;
using ::testing::ElementsAre;

std::string short_name(const Key& key) {
  return std::string(key.name.substr(contract::kPrefix.size()));
}

std::string writer_of(const Key& key) {
  switch (key.writer) {
    case Writer::kPeople:
      return "people";
    case Writer::kWebhook:
      return "webhook";
    case Writer::kPlanner:
      break;
  }
  return "planner";
}

std::string keys_page() {
  std::string page =
      "# Keys\n\n"
      "Every label and annotation that begins with `slackline.dev/`, by name. This page is the "
      "table of "
      "[contract.h](../include/slackline/model/contract.h);\n"
      "a test compares the two, and writes the page with `SLACKLINE_RECORD=1`. "
      "[OPERATIONS](OPERATIONS.md#what-people-write) has examples.\n\n"
      "*Tasks* are Pods, Pod templates and Jobs. What the webhook and the planner write, nobody "
      "else may "
      "write there ([ReservedKey](reasons/ReservedKey.md)).\n"
      "A mistake in a key marked *refused* refuses the object; a mistake in another one is told "
      "([Unreadable](reasons/Unreadable.md)).\n\n"
      "| key | who writes it | on | a mistake is | since | meaning |\n|---|---|---|---|---|---|\n";
  for (const Key& key : kKeys) {
    const bool label = key.kind == contract::KeyKind::kLabel;
    const bool people = key.writer == Writer::kPeople;
    const char* mistake = key.mistake == contract::Mistake::kRefused ? "refused" : "told";
    page += "| `" + short_name(key) + "`" + (label ? " (label)" : "") + " | " + writer_of(key) +
            " | " + std::string(key.on) + " | " + (people ? mistake : "") + " | " +
            std::string(key.since) + " | " + std::string(key.meaning) + " |\n";
  }
  return page;
}

TEST(Contract, TheKeysAreSortedAndThereOnce) {
  std::string_view before;
  for (const Key& key : kKeys) {
    EXPECT_TRUE(key.name.starts_with(contract::kPrefix)) << key.name;
    EXPECT_LT(before, key.name);
    before = key.name;
  }
}

TEST(Contract, ThePageOfKeysIsTheTable) {
  const std::filesystem::path path = test::source_path("docs/KEYS.md");
  if (std::getenv("SLACKLINE_RECORD") != nullptr)
    std::ofstream(path, std::ios::binary) << keys_page();
  EXPECT_EQ(test::read_text(path), keys_page());
}

// The lists of CEL strings in the policies, in order.
std::vector<std::set<std::string>> guarded_lists() {
  const std::string text = test::read_text(test::source_path("deploy/policy/reserved-keys.yaml"));
  const std::regex list(R"([?:] \[('slackline\.dev/[^\]]*)\])");
  const std::regex name(R"('([^']+)')");
  std::vector<std::set<std::string>> lists;
  for (std::sregex_iterator at(text.begin(), text.end(), list), end; at != end; ++at) {
    const std::string names = (*at)[1];
    std::set<std::string>& keys = lists.emplace_back();
    for (std::sregex_iterator one(names.begin(), names.end(), name); one != end; ++one)
      keys.insert((*one)[1]);
  }
  return lists;
}

// In managed namespaces the webhook writes its keys under the name of the person who asks.
TEST(Contract, ThePoliciesGuardTheReservedKeys) {
  std::set<std::string> of_the_planner;
  std::set<std::string> all;
  for (const Key& key : kKeys) {
    if (!contract::reserved(key)) continue;
    all.emplace(key.name);
    if (key.writer == Writer::kPlanner) of_the_planner.emplace(key.name);
  }
  EXPECT_THAT(guarded_lists(), ElementsAre(of_the_planner, all, of_the_planner, all));
}

bool is_text(const std::filesystem::path& file) {
  const std::string suffix = file.extension().string();
  return suffix == ".md" || suffix == ".yaml" || suffix == ".sh";
}

TEST(Contract, EveryKeyThatIsNamedAnywhereIsInTheTable) {
  const std::regex named(R"((?:^|[^\w.])slackline\.dev/([a-z][a-z-]*[a-z])(?![\w/]))");
  std::size_t found = 0;
  for (const char* folder : {"docs", "deploy", "manifests"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(test::source_path(folder))) {
      if (!entry.is_regular_file() || !is_text(entry.path())) continue;
      const std::string text = test::read_text(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at, ++found)
        EXPECT_NE(contract::find_key("slackline.dev/" + (*at)[1].str()), nullptr)
            << entry.path() << ": " << (*at)[0];
    }
  }
  EXPECT_GT(found, 100U);
}

}  // namespace
}  // namespace slackline
