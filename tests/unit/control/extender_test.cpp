#include "control/serve/extender.h"

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/journal/decision_log.h"
#include "control/state/planner_view.h"
#include "obs/log.h"
#include "obs/metrics.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_node;
using test::a_pod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

NodesRequest asking(const test::PodBuilder& pod, std::vector<std::string_view> names) {
  NodesRequest request;
  request.pod = pod.build();
  request.node_names = std::move(names);
  return request;
}

class ExtenderTest : public ::testing::Test {
 protected:
  ExtenderTest() { options.catalog = default_gpu_catalog(); }

  Extender extender() { return {options, known, source, &writer, log, clock}; }

  DecisionOptions options;
  Published<Known> known{make_known({})};
  test::FakeClock clock;
  test::FakeSource source{a_cluster()
                              .with(a_node("gpu-1").of("K80", 4))
                              .with(a_node("gpu-2").of("K80", 4))
                              .with(a_pod("promised").gpus(4).priority(5).nominated("gpu-1"))
                              .with(a_pod("p").gpus(4))
                              .build()};
  test::FakeWriter writer;
  obs::MetricsRegistry metrics;
  DecisionLog log{nullptr, metrics};
};

TEST_F(ExtenderTest, ANominationKeepsItsNodeFromPodsOfEqualRank) {
  const FilterReply reply =
      extender().filter(asking(a_pod("late").gpus(4).priority(5).managed(), {"gpu-1", "gpu-2"}));
  EXPECT_THAT(reply.verdicts, ElementsAre(Verdict::kHeldForOthers, Verdict::kPass));
}

TEST_F(ExtenderTest, ShadowModeDecidesButPassesEverything) {
  options.mode = Mode::kShadow;
  const auto request = asking(a_pod("late").gpus(4).priority(5).managed(), {"gpu-1", "gpu-2"});
  EXPECT_THAT(extender().filter(request).verdicts, ElementsAre(Verdict::kPass, Verdict::kPass));
  EXPECT_THAT(extender().prioritize(request).scores, IsEmpty());
  // The verdict that would have been is counted all the same.
  EXPECT_THAT(metrics.expose(),
              HasSubstr("slackline_filter_nodes_total{reason=\"HeldForOthers\"} 1"));
}

TEST_F(ExtenderTest, SlowNodesOfThePlannerScoreBelowOthers) {
  Published<PlannerView> planner;
  options.planner = &planner;
  const auto request = asking(a_pod("late").gpus(1), {"gpu-1", "gpu-2"});
  const auto first = [&] { return extender().prioritize(request).scores.front().node; };
  const std::uint32_t before = first();
  PlannerView view;
  view.slow_nodes = std::make_shared<const std::unordered_set<NodeName>>(
      std::unordered_set{NodeName(std::string(request.node_names[before]))});
  planner.set(view);
  EXPECT_NE(first(), before);
}

TEST_F(ExtenderTest, ShadowModeEchoesVictims) {
  options.mode = Mode::kShadow;
  PreemptRequest request;
  request.pod = a_pod("p").gpus(4).priority(10).build();
  request.candidates = {{"gpu-9", {Uid("somebody")}, 2}};
  const PreemptReply reply = extender().preempt(request);
  ASSERT_EQ(reply.nodes.size(), 1U);
  EXPECT_EQ(reply.nodes[0].node, "gpu-9");
  EXPECT_EQ(reply.nodes[0].pdb_violations, 2);
}

// Every look at it takes a while, so that a verb of many nodes runs out of time.
class SlowClock final : public Clock {
 public:
  explicit SlowClock(double look_s) : look_s_(look_s) {}
  double wall_s() const override { return 1.8e9; }
  double steady_s() const override { return now_s_ += look_s_; }

 private:
  double look_s_;
  mutable double now_s_ = 1000;
};

// F14
class LateExtenderTest : public ExtenderTest {
 protected:
  LateExtenderTest() {
    for (int i = 0; i < 3000; ++i)
      names_.push_back("n" + std::to_string(i));
    names_.emplace_back("gpu-1");
  }
  Extender extender(const Clock& watch) { return {options, known, source, &writer, log, watch}; }
  NodesRequest request() const {
    return asking(a_pod("late").gpus(4).priority(5).managed(), {names_.begin(), names_.end()});
  }

  std::vector<std::string> names_;
  const SlowClock in_time_{0.05};
  const SlowClock slow_{0.2};  // 1.6 s are over after eight looks, 2,048 nodes
};

TEST_F(LateExtenderTest, FilterPassesEveryNodeAndIsCounted) {
  EXPECT_EQ(extender(in_time_).filter(request()).verdicts.back(), Verdict::kHeldForOthers);
  const FilterReply reply = extender(slow_).filter(request());
  EXPECT_TRUE(reply.gave_up);
  EXPECT_EQ(reply.verdicts, std::vector<Verdict>(names_.size(), Verdict::kPass));
  EXPECT_THAT(reply.error, IsEmpty());
  EXPECT_THAT(metrics.expose(),
              HasSubstr("slackline_extender_deadline_exceeded_total{verb=\"filter\"} 1"));
}

TEST_F(LateExtenderTest, FilterAnswersAnErrorForWhatWeAloneAccount) {
  options.catalog.resources.front().self_accounted = true;
  EXPECT_THAT(extender(slow_).filter(request()).error, HasSubstr("no time to judge"));
}

TEST_F(LateExtenderTest, TimeThatDecodingTookCountsToo) {
  test::FakeClock stopped;
  const double now_s = stopped.steady_s();
  EXPECT_FALSE(extender(stopped).filter(request(), now_s - 1.5).gave_up);
  EXPECT_TRUE(extender(stopped).filter(request(), now_s - 1.7).gave_up);
}

TEST_F(LateExtenderTest, PrioritizeScoresNothing) {
  EXPECT_THAT(extender(in_time_).prioritize(request()).scores, testing::SizeIs(1));
  EXPECT_THAT(extender(slow_).prioritize(request()).scores, IsEmpty());
  EXPECT_THAT(metrics.expose(),
              HasSubstr("slackline_extender_deadline_exceeded_total{verb=\"prioritize\"} 1"));
}

TEST_F(LateExtenderTest, PreemptEchoesItsInput) {
  PreemptRequest request;
  request.pod = a_pod("p").gpus(4).priority(10).build();
  for (int i = 0; i < 20; ++i)
    request.candidates.push_back({"unknown-" + std::to_string(i), {Uid("somebody")}, 2});
  EXPECT_THAT(extender(in_time_).preempt(request).nodes, IsEmpty());
  const PreemptReply reply = extender(slow_).preempt(request);
  ASSERT_EQ(reply.nodes.size(), 20U);
  EXPECT_EQ(reply.nodes[19].node, "unknown-19");
  EXPECT_THAT(reply.nodes[19].victims, ElementsAre(Uid("somebody")));
  EXPECT_EQ(reply.nodes[19].pdb_violations, 2);
}

TEST_F(ExtenderTest, AnUntrustedCachePassesEveryNode) {
  source.be({.synced = false, .age_s = 0, .stale = false, .detail = "not listed yet"});
  const FilterReply reply =
      extender().filter(asking(a_pod("late").gpus(4).priority(5).managed(), {"gpu-1", "gpu-2"}));
  EXPECT_THAT(reply.verdicts, ElementsAre(Verdict::kPass, Verdict::kPass));
  EXPECT_THAT(reply.error, IsEmpty());
}

const BindRequest kBind{{"default", "p"}, test::pod_uid("p"), NodeName("gpu-2")};

TEST_F(ExtenderTest, BindCarriesTheUidAndTellsTheGpuType) {
  options.mode = Mode::kActive;
  const BindReply reply = extender().bind(kBind);
  EXPECT_THAT(reply.error, IsEmpty());
  ASSERT_EQ(writer.orders.size(), 1U);
  EXPECT_EQ(writer.orders[0].uid, kBind.uid);
  EXPECT_THAT(writer.orders[0].annotations,
              ElementsAre(std::pair<std::string, std::string>("slackline.dev/gpu-type", "K80")));
}

TEST_F(ExtenderTest, OutsideOfActiveModeABindingIsBare) {
  for (const Mode mode : {Mode::kShadow, Mode::kAdvise}) {
    options.mode = mode;
    EXPECT_THAT(extender().bind(kBind).error, IsEmpty());
    EXPECT_THAT(writer.orders.back().annotations, IsEmpty());
  }
}

struct BindCase {
  const char* what;
  ErrorCode error;
  Result<PodBinding> truth;
  const char* expected;  // part of the answer's error; "" = success
};

class BindTruthTest : public ExtenderTest, public ::testing::WithParamInterface<BindCase> {};

// F39: whatever the write said, the pod's node decides.
TEST_P(BindTruthTest, TheApiServersPodDecides) {
  const BindCase& c = GetParam();
  writer.on_bind = [&](const auto&) { return Status(fail(c.error, "the write failed")); };
  writer.on_read = [&] { return c.truth; };
  const BindReply reply = extender().bind(kBind);
  EXPECT_THAT(reply.error, Not(HasSubstr("uid:"))) << "no answer tells a uid";
  if (std::string_view(c.expected).empty()) {
    EXPECT_THAT(reply.error, IsEmpty()) << c.what;
  } else {
    EXPECT_THAT(reply.error, HasSubstr(c.expected)) << c.what;
  }
}

PodBinding truth(const char* name, const char* node) {
  return {test::pod_uid(name), NodeName(node), false};
}

INSTANTIATE_TEST_SUITE_P(
    F39, BindTruthTest,
    ::testing::Values(
        BindCase{"replayed", ErrorCode::kConflict, truth("p", "gpu-2"), ""},
        BindCase{"timeout after commit", ErrorCode::kTimeout, truth("p", "gpu-2"), ""},
        BindCase{"timeout before commit", ErrorCode::kTimeout, truth("p", ""), "the write failed"},
        BindCase{"bound elsewhere", ErrorCode::kConflict, truth("p", "gpu-1"),
                 "already bound to gpu-1"},
        BindCase{"recreated", ErrorCode::kConflict, truth("other", "gpu-2"),
                 "another pod of that name"},
        BindCase{"pod gone", ErrorCode::kNotFound,
                 Result<PodBinding>(fail(ErrorCode::kNotFound, "gone")), "the write failed"},
        BindCase{"nothing answers", ErrorCode::kUnavailable,
                 Result<PodBinding>(fail(ErrorCode::kUnavailable, "down")), "the write failed"}));

TEST_F(ExtenderTest, ABindThatIsLateIsAnErrorAndCounted) {
  constexpr const char* kLate = "slackline_extender_deadline_exceeded_total{verb=\"bind\"}";
  const double now_s = clock.steady_s();
  EXPECT_THAT(extender().bind(kBind, now_s - 1.5).error, IsEmpty());
  EXPECT_THAT(metrics.expose(), HasSubstr(std::string(kLate) + " 0"));
  EXPECT_THAT(extender().bind(kBind, now_s - 1.7).error, HasSubstr("no time was left"));
  EXPECT_EQ(writer.orders.size(), 1U);
  EXPECT_THAT(metrics.expose(), HasSubstr(std::string(kLate) + " 1"));
}

TEST_F(ExtenderTest, TheLogTellsEveryBindingAndCutsWhatIsAskedAgainAndAgain) {
  const auto lines = [&](const std::function<void(Extender&)>& call) {
    Extender asked = extender();
    obs::configure_log(obs::LogLevel::kInfo, false);
    testing::internal::CaptureStderr();
    for (int i = 0; i < 100; ++i)
      call(asked);
    const std::string text = testing::internal::GetCapturedStderr();
    return std::count(text.begin(), text.end(), '\n');
  };
  PreemptRequest preempt;
  preempt.pod = a_pod("p").gpus(4).priority(10).build();
  EXPECT_EQ(lines([](Extender& asked) { asked.bind(kBind); }), 100);
  EXPECT_EQ(lines([&](Extender& asked) { asked.preempt(preempt); }), 10);
  writer.on_bind = [](const auto&) { return Status(fail(ErrorCode::kForbidden, "no")); };
  EXPECT_EQ(lines([](Extender& asked) { asked.bind(kBind); }), 10);
}

TEST_F(ExtenderTest, AReadOnlySourceRefusesToBind) {
  Extender read_only(options, known, source, nullptr, log, clock);
  EXPECT_THAT(read_only.bind(kBind).error, HasSubstr("cannot bind"));
}

}  // namespace
}  // namespace slackline::control
