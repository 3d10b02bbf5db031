// Search, filter and order of lists, as the page asks for them.
#include "control/query/arrange.h"

#include <gmock/gmock.h>

#include "slackline/model/task.h"
#include "support/object_builders.h"

namespace slackline::control {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

QueueRow a_row(const std::string& name, std::optional<double> slack_s, TaskState state) {
  QueueRow row;
  row.key = {"team", name};
  row.slack_s = slack_s;
  row.state = state;
  TaskIntent intent;
  intent.model = "resnet50";
  row.intent = std::make_shared<const TaskIntent>(intent);
  return row;
}

std::vector<QueueRow> rows() {
  std::vector<QueueRow> all = {
      a_row("c", 30, TaskState::kRunning), a_row("a", std::nullopt, TaskState::kWaiting),
      a_row("b", -5, TaskState::kWaiting), a_row("d", 30, TaskState::kWaiting)};
  all[2].deadline_s = 100;
  all[2].finish_s = 200;
  all[3].reason = "NoNodeFits";
  return all;
}

std::vector<std::string> names(const Arrangement& asked) {
  std::vector<QueueRow> all = rows();
  const Status arranged = arrange(all, asked);
  EXPECT_TRUE(arranged) << arranged.error().message;
  std::vector<std::string> names;
  for (const QueueRow& row : all)
    names.push_back(row.key.name);
  return names;
}

TEST(Arrange, WithoutAWishTheListStaysAsItIs) {
  EXPECT_THAT(names({}), ElementsAre("c", "a", "b", "d"));
}

TEST(Arrange, WhatHasNoValueComesLastInBothDirectionsAndEqualsKeepTheirOrder) {
  EXPECT_THAT(names({.sort = "slack"}), ElementsAre("b", "c", "d", "a"));
  EXPECT_THAT(names({.sort = "-slack"}), ElementsAre("c", "d", "b", "a"));
}

TEST(Arrange, EveryWordOfASearchMustBeThereInAnyCase) {
  EXPECT_THAT(names({.search = "RESNET nonodefits"}), ElementsAre("d"));
  EXPECT_THAT(names({.search = " team/b "}), ElementsAre("b"));
  EXPECT_THAT(names({.search = "resnet nobody"}), ElementsAre());
}

TEST(Arrange, StatesAreThoseOfTheRowAndWhatIsForetoldOfIt) {
  EXPECT_THAT(names({.state = "waiting"}), ElementsAre("a", "b", "d"));
  EXPECT_THAT(names({.state = "late"}), ElementsAre("b"));
}

TEST(Arrange, QueueAndTasksNameStatesAlike) {
  for (const auto& [state, name, meaning] : kTaskStates) {
    EXPECT_THAT(states_of<QueueRow>(), Contains(name));
    EXPECT_THAT(states_of<ListedTask>(), Contains(name));
    std::vector<ListedTask> tasks;
    for (const TaskStateFact& fact : kTaskStates) {
      tasks.emplace_back();
      tasks.back().task.state = fact.state;
    }
    EXPECT_TRUE(arrange(tasks, {.state = std::string(name)}));
    ASSERT_EQ(tasks.size(), 1U) << name;
    EXPECT_EQ(tasks.front().task.state, state);
  }
}

TEST(Arrange, AWishThatCannotBeMetNamesThoseThatCan) {
  std::vector<QueueRow> all = rows();
  const Status sorted = arrange(all, {.sort = "colour"});
  ASSERT_FALSE(sorted);
  EXPECT_EQ(sorted.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(sorted.error().message, HasSubstr("expected one of name, class"));
  EXPECT_THAT(arrange(all, {.state = "x"}).error().message, HasSubstr("waiting, starting"));
}

TEST(Arrange, NodesAreFreeOnlyWhereTheyCanBeUsed) {
  const auto row_of = [](const Node& node) {
    return ListedNode{std::make_shared<const NodeState>(
                          NodeState{std::make_shared<const Node>(node), {}, Resources()}),
                      {{"nvidia.com/gpu", "whole", 4, 1, 0, 3}}};
  };
  const ListedNode free = row_of(test::a_node("free").build());
  const ListedNode cordoned = row_of(test::a_node("cordoned").cordoned().build());
  const auto left = [&](const Arrangement& asked) {
    std::vector<ListedNode> nodes = {free, cordoned};
    EXPECT_TRUE(arrange(nodes, asked));
    return nodes.size() == 1 ? nodes[0].node().name.str() : std::to_string(nodes.size());
  };
  EXPECT_EQ(left({.state = "free"}), "free");
  EXPECT_EQ(left({.state = "unusable"}), "cordoned");
  EXPECT_EQ(left({.state = "full"}), "0");
}

}  // namespace
}  // namespace slackline::control
