// A task's state has one name, and the glossary explains it.
#include "slackline/model/task.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/source_path.h"

namespace slackline {
namespace {

using ::testing::HasSubstr;

TEST(TaskStates, StandInTheGlossaryAndNoOthersDo) {
  std::ifstream file(test::source_path("docs/GLOSSARY.md"), std::ios::binary);
  const std::string glossary{std::istreambuf_iterator<char>(file), {}};
  std::string rows;
  for (const TaskStateFact& fact : kTaskStates)
    rows += format("| {} | | `TaskState` | of a task: {} |\n", fact.name, fact.meaning);
  EXPECT_THAT(glossary, HasSubstr(rows));
  std::size_t named = 0;
  for (const std::string_view line : split(glossary, '\n'))
    named += line.find("| `TaskState` |") != std::string_view::npos ? 1 : 0;
  EXPECT_EQ(named, kTaskStates.size());
}

TEST(TaskStates, StandInTheOrderOfTheirValues) {
  for (const TaskStateFact& fact : kTaskStates)
    EXPECT_EQ(to_string(fact.state), fact.name);
}

}  // namespace
}  // namespace slackline
