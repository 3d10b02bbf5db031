#include "slackline/model/verdict.h"

#include <cctype>
#include <set>

#include <gtest/gtest.h>

#include "slackline/model/extender_messages.h"

namespace slackline {
namespace {

TEST(Verdict, SpeaksAFixedVocabularyWithoutNumbers) {
  std::set<std::string_view> codes;
  for (std::size_t i = 0; i < kVerdictCount; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    EXPECT_TRUE(codes.insert(code(verdict)).second) << code(verdict);
    EXPECT_EQ(message(verdict).empty(), passes(verdict));
    for (const char c : message(verdict))
      EXPECT_FALSE(std::isdigit(static_cast<unsigned char>(c)));
  }
}

TEST(Verdict, ToldUnresolvableOnlyWhereNothingOnTheNodeHelps) {
  EXPECT_FALSE(unresolvable(Verdict::kPass));
  EXPECT_FALSE(unresolvable(Verdict::kHeldForOthers));
  EXPECT_FALSE(unresolvable(Verdict::kNotYetObserved));
  EXPECT_TRUE(unresolvable(Verdict::kGpuTypeNotAccepted));
  EXPECT_TRUE(unresolvable(Verdict::kNodeUnreadable));
}

TEST(Verb, HasTheNameOfItsPath) {
  EXPECT_EQ(to_string(Verb::kFilter), "filter");
  EXPECT_EQ(to_string(Verb::kPrioritize), "prioritize");
  EXPECT_EQ(to_string(Verb::kPreempt), "preempt");
  EXPECT_EQ(to_string(Verb::kBind), "bind");
  EXPECT_EQ(verb_names(), "filter, prioritize, preempt, bind, plan, move, suspend");
  EXPECT_EQ(parse_verb("move"), Verb::kMove);
  EXPECT_EQ(parse_verb("dance"), std::nullopt);
}

}  // namespace
}  // namespace slackline
