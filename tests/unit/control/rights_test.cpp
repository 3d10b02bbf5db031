// The rights of REST's callers, and how long they are cached.
#include "control/trust/rights.h"

#include <gtest/gtest.h>

#include "cluster/api/reviewer.h"
#include "support/fake_clock.h"

namespace slackline::control {
namespace {

// Knows the token "jane's", who may read tasks of team-a.
class FakeReviewer final : public cluster::Reviewer {
 public:
  Result<std::optional<Requester>> who_is(const std::string& token) override {
    ++asked;
    if (down) return fail(ErrorCode::kUnavailable, "connection refused");
    if (token != "jane's") return std::optional<Requester>();
    return std::optional(Requester{.name = name, .uid = {}, .groups = {}, .extra = {}});
  }
  Result<bool> may(const Requester& user, const ApiDemand& demand) override {
    ++asked;
    return granted && user.name == "jane" && demand.ns == "team-a" && demand.verb == "get";
  }

  bool down = false;
  bool granted = true;
  int asked = 0;
  std::string name = "jane";
};

class RightsTest : public testing::Test {
 protected:
  Rights::Verdict ask(const std::string& token, const std::string& ns) {
    return rights.ask("10.0.0.1", token, {"get", "tasks", ns}).verdict;
  }

  FakeReviewer reviewer;
  test::FakeClock clock;
  Rights rights{&reviewer, clock};
};

TEST_F(RightsTest, OneNamespaceIsNotAnotherNorAll) {
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kAllowed);
  EXPECT_EQ(ask("jane's", "team-b"), Rights::Verdict::kForbidden);
  EXPECT_EQ(ask("jane's", ""), Rights::Verdict::kForbidden);
  EXPECT_EQ(ask("stolen", "team-a"), Rights::Verdict::kUnknownCaller);
  EXPECT_EQ(rights.ask("10.0.0.1", "jane's", {"create", "tasks", "team-a"}).verdict,
            Rights::Verdict::kForbidden);
}

TEST_F(RightsTest, TheApiServerIsAskedOnceInAWhile) {
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kAllowed);
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kAllowed);
  EXPECT_EQ(reviewer.asked, 2) << "who she is, and whether she may";
  reviewer.granted = false;
  clock.advance(9);
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kAllowed);
  clock.advance(2);
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kForbidden);
  reviewer.granted = true;
  clock.advance(3);
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kAllowed) << "a refusal is forgotten sooner";
}

TEST_F(RightsTest, WhoWasKnownIsNotShutOutByUnknownTokensOfTheSameAddress) {
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kAllowed);
  clock.advance(600);
  for (std::size_t i = 0; i < RefusedTokens::kMostOfOnePeer; ++i)
    EXPECT_EQ(ask("made-up-" + std::to_string(i), "team-a"), Rights::Verdict::kUnknownCaller);
  EXPECT_EQ(ask("one more", "team-a"), Rights::Verdict::kTooManyUnknown);
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kAllowed);
}

TEST_F(RightsTest, WorkloadsAreKnownByTheirNamespaceAlone) {
  const auto ask_as = [&](const std::string& name, const std::string& ns) {
    reviewer.name = name;
    clock.advance(60);
    const ApiDemand demand{.verb = "create", .resource = "tasks", .ns = ns, .of_namespace = true};
    return rights.ask("10.0.0.1", "jane's", demand).verdict;
  };
  EXPECT_EQ(ask_as("system:serviceaccount:team-a:default", "team-a"), Rights::Verdict::kAllowed);
  EXPECT_EQ(reviewer.asked, 1) << "no right is asked for";
  EXPECT_EQ(ask_as("system:serviceaccount:team-a:default", "team-b"), Rights::Verdict::kForbidden);
  EXPECT_EQ(ask_as("system:serviceaccount:team-a:default", "team"), Rights::Verdict::kForbidden);
  EXPECT_EQ(ask_as("system:serviceaccount:team-a:", "team-a"), Rights::Verdict::kForbidden);
  EXPECT_EQ(ask_as("jane", "team-a"), Rights::Verdict::kForbidden);
  EXPECT_EQ(ask_as("system:serviceaccount::x", ""), Rights::Verdict::kForbidden);
}

TEST_F(RightsTest, WhoCannotBeAskedGrantsNothingAndIsAskedAgain) {
  reviewer.down = true;
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kCannotTell);
  reviewer.down = false;
  EXPECT_EQ(ask("jane's", "team-a"), Rights::Verdict::kAllowed);
}

}  // namespace
}  // namespace slackline::control
