// What people are told of the queue's future, and what is kept from those who may not see it.
#include "control/answers/answer_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/answers/what_if_question.h"
#include "control/query/written_book.h"
#include "control/state/planner_view.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/learn.h"
#include "slackline/model/reason.h"
#include "support/answer_world.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"
#include "support/portrait_runs.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using test::add_running;
using ::testing::HasSubstr;

class AnswerQueryTest : public test::PlanningFixture {
 protected:
  AnswerQueryTest() {
    planner_.set({.active = true, .leads = true, .leader = "me", .backoffs = {}});
  }

  test::JobBuilder stated(const std::string& name, double minutes) {
    auto job = a_job(name).created(clock_.wall_s() - 60);
    job.intent().expected_duration_s = 60 * minutes;
    return job;
  }

  // Two nodes that others use, and a task of team-a that waits.
  ClusterSnapshot full() {
    auto cluster = a_cluster();
    cluster.with(a_node("n1")).with(a_node("n2"));
    add_running(cluster, stated("team-b/secret", 60), "team-b/secret", 4, "n1", "",
                clock_.wall_s() - 900);
    add_running(cluster, stated("team-a/mine", 120), "team-a/mine", 4, "n2", "",
                clock_.wall_s() - 900);
    auto waits = stated("team-a/waits", 60).gpus(4).waiting();
    waits.intent().deadline_s = clock_.wall_s() + 3600;
    cluster.with(waits);
    cluster.with(stated("team-b/hidden", 10).gpus(4).waiting());
    return cluster.build();
  }

  AnswerQuery query(const test::FakeSource& source) {
    return AnswerQuery(options_, known_, source, planner_, books_, clock_);
  }

  static Viewer team_a() {
    return Viewer([](const std::string& ns) { return ns == "team-a"; }, {});
  }

  test::FakeClock clock_;
  Published<PlannerView> planner_;
  Published<WrittenBook> books_;
};

std::string all_names(const ExplainView& view) {
  std::string names;
  for (const BlockerView& blocker : view.blockers) {
    names += join(blocker.on, " ") + " " + blocker.detail;
    for (const ReliefView& relief : blocker.relief)
      names += " " + relief.task;
  }
  for (const NodeGroupView& group : view.nodes)
    names += " " + join(group.tasks, " ");
  for (const ChangeView& change : view.changes)
    names += " " + change.task + " " + change.what;
  return names;
}

TEST_F(AnswerQueryTest, OthersAppearAsCountsAndTimesOnly) {
  const test::FakeSource source(full());
  AnswerQuery answers = query(source);
  const auto seen = answers.explain({"team-a", "waits"}, "", Viewer());
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_THAT(all_names(*seen), HasSubstr("team-b/secret"));
  const auto hidden = answers.explain({"team-a", "waits"}, "", team_a());
  ASSERT_TRUE(hidden);
  EXPECT_THAT(all_names(*hidden), Not(HasSubstr("team-b")));
  ASSERT_EQ(hidden->blockers.size(), 1U);
  const BlockerView& gpus = hidden->blockers.front();
  EXPECT_EQ(gpus.reason, reason::kWaitsItsTurn);
  ASSERT_FALSE(gpus.relief.empty());
  EXPECT_EQ(gpus.relief.front().task, "");
  EXPECT_EQ(gpus.relief.front().gpus, 4);
  EXPECT_TRUE(gpus.relief.front().ends.p50_s);

  const auto quote = answers.quote(
      {.job = std::make_shared<const Job>(stated("team-a/new", 60).gpus(4).build())}, team_a());
  ASSERT_TRUE(quote) << quote.error().message;
  for (const QuoteRowView& row : quote->rows)
    for (const DelayView& delay : row.delays)
      EXPECT_THAT(delay.task, Not(HasSubstr("team-b")));

  const auto what_if = answers.what_if({.add = "2xA100x4"}, team_a());
  ASSERT_TRUE(what_if) << what_if.error().message;
  EXPECT_EQ(what_if->gains, 2);
  EXPECT_EQ(what_if->hidden, 1);
  ASSERT_EQ(what_if->rows.size(), 1U);
  EXPECT_EQ(what_if->rows.front().task, "team-a/waits");
  EXPECT_EQ(what_if->rows.front().state, "waiting");
  EXPECT_EQ(answers.what_if({.add = "2xA100x4"}, Viewer())->rows.size(), 2U);
  const auto drained = answers.what_if({.drain = "n2"}, team_a());
  ASSERT_TRUE(drained) << drained.error().message;
  const auto mine = std::find_if(drained->rows.begin(), drained->rows.end(),
                                 [](const WhatIfRow& row) { return row.task == "team-a/mine"; });
  ASSERT_NE(mine, drained->rows.end());
  EXPECT_EQ(mine->state, "running");
}

TEST_F(AnswerQueryTest, ADrainNamesTheRunsThatEndWithIt) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_node("n2")).with(a_job("team-b/theirs").of(2).gpus(1));
  for (const char* pod : {"team-b/theirs-0", "team-b/theirs-1"})
    cluster.with(a_pod(pod).of_job("theirs").gpus(1).on("n1"));
  cluster.with(a_pod("team-a/notebook").gpus(1).on("n1"))
      .with(a_pod("team-a/far").gpus(1).on("n2"));
  const test::FakeSource source(cluster.build());
  AnswerQuery answers = query(source);
  const auto drained = answers.what_if({.drain = "n1"}, team_a());
  ASSERT_TRUE(drained) << drained.error().message;
  EXPECT_EQ(drained->ends, 2) << "a Job once, and the pod";
  EXPECT_EQ(drained->hidden, 1);
  ASSERT_EQ(drained->rows.size(), 1U);
  EXPECT_EQ(drained->rows.front().task, "team-a/notebook");
  EXPECT_EQ(drained->rows.front().verdict, "ends");
}

TEST_F(AnswerQueryTest, NewNodesHelpThoseWhomNoPresentOneCouldRun) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 4)).with(stated("team-a/large", 60).gpus(8).waiting());
  const test::FakeSource source(cluster.build());
  AnswerQuery answers = query(source);
  const auto what_if = answers.what_if({.add = "1xA100x8"}, Viewer());
  ASSERT_TRUE(what_if) << what_if.error().message;
  EXPECT_EQ(what_if->gains, 1);
  ASSERT_EQ(what_if->rows.size(), 1U);
  EXPECT_EQ(what_if->rows.front().task, "team-a/large");
  EXPECT_FALSE(what_if->rows.front().start_before.p50_s);
  EXPECT_TRUE(what_if->rows.front().start_after.p50_s);
}

TEST_F(AnswerQueryTest, AWhatIfInventsNoEndAndNoChanceOfWhatNobodyKnows) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  add_running(cluster, stated("runs", 60), "runs", 4, "n1", "", clock_.wall_s() - 900);
  auto unsaid = a_job("team-a/unsaid").created(clock_.wall_s() - 60).gpus(4).waiting();
  unsaid.intent().deadline_s = clock_.wall_s() + 6 * 3600;
  cluster.with(unsaid);
  const test::FakeSource source(cluster.build());
  AnswerQuery answers = query(source);
  const auto eta = answers.eta({"team-a", "unsaid"});
  ASSERT_TRUE(eta);
  EXPECT_EQ(eta->forecast, reason::kLengthUnknown);
  const auto what_if = answers.what_if({.add = "1xA100x4"}, team_a());
  ASSERT_TRUE(what_if) << what_if.error().message;
  EXPECT_EQ(what_if->with_deadline, 0) << "nobody knows whether it is met";
  ASSERT_EQ(what_if->rows.size(), 1U);
  const WhatIfRow& row = what_if->rows.front();
  EXPECT_EQ(row.verdict, "gains") << "its start is known";
  EXPECT_FALSE(row.finish_before.p50_s || row.finish_after.p50_s);
  EXPECT_FALSE(row.chance_before || row.chance_after);
}

TEST_F(AnswerQueryTest, EtaTellsTimesChanceAndHowFarEarlierOnesHeld) {
  WrittenBook written;
  written.coverage = {{100, 81}, {50, 40}};
  books_.set(written);
  const test::FakeSource source(full());
  AnswerQuery answers = query(source);
  const auto eta = answers.eta({"team-a", "waits"});
  ASSERT_TRUE(eta) << eta.error().message;
  EXPECT_EQ(eta->standing, "misses") << "its hour is over before it could end";
  EXPECT_EQ(eta->reason, reason::kWaitsItsTurn);
  ASSERT_TRUE(eta->start.p50_s && eta->finish.p90_s && eta->chance);
  EXPECT_LT(*eta->start.p50_s, *eta->finish.p50_s);
  EXPECT_LE(*eta->finish.p50_s, *eta->finish.p90_s);
  EXPECT_LT(*eta->chance, 0.2);
  EXPECT_EQ(eta->start_held.share(), 0.81);
  EXPECT_EQ(eta->finish_held.held, 40);
  EXPECT_EQ(answers.eta({"team-a", "mine"})->standing, "starts") << "it runs";
  EXPECT_EQ(answers.eta({"team-b", "hidden"})->standing, "waits");
  const auto nobody = answers.eta({"team-a", "nobody"});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::kNotFound);
}

TEST_F(AnswerQueryTest, OneNodeIsExplainedAndAnUnknownOneRefused) {
  const test::FakeSource source(full());
  AnswerQuery answers = query(source);
  const auto view = answers.explain({"team-a", "waits"}, "n1", Viewer());
  ASSERT_TRUE(view);
  ASSERT_TRUE(view->node_group);
  EXPECT_EQ(view->node_group->what, "too full");
  EXPECT_EQ(view->nodes_total, 2);
  const auto unknown = answers.explain({"team-a", "waits"}, "n9", Viewer());
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("no node n9"));
}

TEST_F(AnswerQueryTest, WhatKubeSchedulerRefusedIsToldWithItsWords) {
  PlannerView view = *planner_.get();
  for (const char* task : {"job:team-a/ready", "job:team-a/begins"})
    view.refused[Uid(task)][NodeName("n1")] = {clock_.steady_s() + 90, "0/2 nodes are available"};
  planner_.set(view);
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_node("n2"));
  cluster.with(stated("team-a/ready", 60).of(2).gang().gpus(4).waiting());
  auto begins = stated("team-a/begins", 60).gpus(2).managed().planned({"n2"});
  cluster.with(begins.resumed());
  cluster.with(test::a_pod("team-a/begins-0").of_job("team-a/begins").gpus(2).managed());
  const test::FakeSource source(cluster.build());
  AnswerQuery answers = query(source);
  const auto waits = answers.explain({"team-a", "ready"}, "n1", team_a());
  ASSERT_TRUE(waits) << waits.error().message;
  EXPECT_EQ(waits->eta.standing, "waits");
  ASSERT_EQ(waits->blockers.size(), 1U);
  EXPECT_EQ(waits->blockers.front().reason, reason::kNotBound);
  EXPECT_EQ(waits->blockers.front().need, 2);
  EXPECT_EQ(waits->blockers.front().have, 1);
  EXPECT_THAT(waits->blockers.front().detail, HasSubstr("0/2 nodes are available"));
  ASSERT_TRUE(waits->node_group);
  EXPECT_EQ(waits->node_group->what, "refused by kube-scheduler");
  EXPECT_EQ(waits->node_group->until_s, clock_.wall_s() + 90);
  EXPECT_EQ(waits->node_group->detail, "0/2 nodes are available");

  const auto starts = answers.explain({"team-a", "begins"}, "n1", team_a());
  ASSERT_TRUE(starts) << starts.error().message;
  EXPECT_EQ(starts->eta.state, "starting");
  ASSERT_EQ(starts->blockers.size(), 1U);
  EXPECT_EQ(starts->blockers.front().reason, reason::kNotBound);
  EXPECT_FALSE(starts->blockers.front().need) << "it has its place";
}

TEST_F(AnswerQueryTest, NothingIsProposedToATaskThatStartsNow) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(stated("team-a/ready", 60).gpus(4).waiting());
  const test::FakeSource source(cluster.build());
  planner_.set({.active = false, .leads = true, .leader = "me", .backoffs = {}});
  AnswerQuery answers = query(source);
  const auto view = answers.explain({"team-a", "ready"}, "", Viewer());
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->eta.reason, reason::kStartsNow);
  EXPECT_EQ(view->eta.standing, "starts");
  EXPECT_THAT(view->changes, testing::IsEmpty());
  EXPECT_EQ(view->changes_tried, 0);
}

TEST_F(AnswerQueryTest, AQuoteHasTheDeadlineOfAClassThatOnlyHistoryResolves) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8));
  const Job job = a_job("lab/train").gpus(4).build();
  Portrait portrait;
  portrait.identity = core::identity_of(job);
  for (int run = 0; run < 3; ++run)
    core::add_run(portrait, test::a_run(run));
  core::PortraitBook book;
  book.portraits[core::portrait_key(portrait.identity)] =
      std::make_shared<const Portrait>(portrait);
  const Published<core::PortraitBook> portraits(book);
  options_.portraits = &portraits;
  const test::FakeSource source(cluster.build());
  AnswerQuery answers = query(source);
  auto normal = a_job("lab/train").gpus(4);
  normal.intent().qos_class = QosClass::kNormal;
  const auto quote = answers.quote({.job = std::make_shared<const Job>(normal.build())}, Viewer());
  ASSERT_TRUE(quote) << quote.error().message;
  ASSERT_TRUE(quote->deadline_s) << "the webhook would write it";
  EXPECT_EQ(*quote->deadline_s, clock_.wall_s() + 2 * test::kRun_s);
  const auto none = answers.quote({.job = std::make_shared<const Job>(job)}, Viewer());
  EXPECT_FALSE(none->deadline_s) << "it names no class";
}

TEST_F(AnswerQueryTest, AQuoteCountsThoseThatStartBefore) {
  const auto before = [&](const ClusterSnapshot& snapshot, double due_in_s) {
    const test::FakeSource source(snapshot);
    QueueReader reader(options_, known_, source, planner_, clock_);
    books_.set({reader.book_for(reader.read(), {}), snapshot.version});
    const auto job = std::make_shared<const Job>(stated("team-a/new", 60).gpus(4).build());
    return query(source)
        .quote({.job = job, .deadline_s = clock_.wall_s() + due_in_s}, Viewer())
        ->before;
  };
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  add_running(cluster, stated("team-a/runs", 60), "team-a/runs", 4, "n1", "", clock_.wall_s());
  for (const char* name : {"team-a/first", "team-b/second"}) {
    auto waits = stated(name, 60).gpus(4).waiting();
    waits.intent().deadline_s = clock_.wall_s() + 4 * 3600;
    cluster.with(waits);
  }
  const ClusterSnapshot snapshot = cluster.build();
  EXPECT_EQ(before(snapshot, 86400), 2);
  EXPECT_EQ(before(snapshot, 7300), 0) << "it is more urgent";
  EXPECT_EQ(before(a_cluster().with(a_node("n1")).build(), 86400), 0);
}

TEST_F(AnswerQueryTest, AQuoteLeavesTheQueueAsItIs) {
  const test::FakeSource source(full());
  AnswerQuery answers = query(source);
  const double before_s = *answers.eta({"team-a", "waits"})->start.p50_s;
  PostedTask task{.job = std::make_shared<const Job>(stated("team-a/new", 60).gpus(4).build())};
  task.deadline_s = clock_.wall_s() + 7200;
  const auto quote = answers.quote(task, Viewer());
  ASSERT_TRUE(quote) << quote.error().message;
  EXPECT_EQ(quote->deadline_s, task.deadline_s);
  EXPECT_EQ(quote->task, "team-a/new");
  EXPECT_EQ(quote->length_source, "expected-duration");
  ASSERT_FALSE(quote->rows.empty());
  EXPECT_TRUE(quote->rows.front().written);
  EXPECT_TRUE(quote->rows.front().chance);
  EXPECT_TRUE(quote->rows.front().delayed);
  EXPECT_EQ(*answers.eta({"team-a", "waits"})->start.p50_s, before_s);
  EXPECT_FALSE(answers.eta({"team-a", "new"}));
}

TEST_F(AnswerQueryTest, PodsThatStartOneByOneAreQuotedOneByOne) {
  const test::FakeSource source(full());
  AnswerQuery answers = query(source);
  const auto quote = answers.quote(
      {.job = std::make_shared<const Job>(stated("team-a/many", 60).of(8).gpus(1).build())},
      Viewer());
  ASSERT_TRUE(quote) << quote.error().message;
  EXPECT_THAT(quote->note, HasSubstr("8 pods start one by one"));
  EXPECT_TRUE(quote->rows.front().start.p50_s);
  Job waves = stated("team-a/waves", 60).of(2).gpus(1).build();
  waves.completions = 7;
  const auto of_waves = answers.quote({.job = std::make_shared<const Job>(waves)}, Viewer());
  ASSERT_TRUE(of_waves) << of_waves.error().message;
  EXPECT_THAT(of_waves->note, HasSubstr("7 pods start one by one, 2 at a time"));
  EXPECT_THAT(of_waves->note, HasSubstr("at least 4 times as long"));
  Job folds = stated("team-a/folds", 60).of(1).gpus(1).build();
  folds.completions = 7;
  const auto of_folds = answers.quote({.job = std::make_shared<const Job>(folds)}, Viewer());
  ASSERT_TRUE(of_folds) << of_folds.error().message;
  EXPECT_THAT(of_folds->note, HasSubstr("7 pods start one by one, 1 at a time"));
}

TEST_F(AnswerQueryTest, PodsThatOthersComeAfterAreQuotedWithAnEarlierDeadline) {
  const test::FakeSource source(a_cluster().with(a_node("n1")).build());
  AnswerQuery answers = query(source);
  auto job = stated("team-a/waves", 10).of(4).gpus(1);
  job.intent().deadline_after_s = 3600;
  const auto quote_of = [&](std::int64_t completions) {
    Job waves = job.build();
    waves.completions = completions;
    return *answers.quote({.job = std::make_shared<const Job>(waves)}, Viewer());
  };
  const QuoteView late = quote_of(40);
  EXPECT_NEAR(*late.deadline_s, clock_.wall_s() + 3600 - 9 * 600, 1);
  EXPECT_EQ(late.rows.front().chance, 0) << "10 times ten minutes within an hour";
  EXPECT_THAT(late.note, HasSubstr("its deadline is 1h30m earlier, for those after it"));
  const QuoteView in_time = quote_of(16);
  EXPECT_NEAR(*in_time.deadline_s, clock_.wall_s() + 3600 - 3 * 600, 1);
  EXPECT_GT(in_time.rows.front().chance, 0.5);
}

TEST_F(AnswerQueryTest, OfWhatIsCutShortAQuoteTellsTheStartAndNoFinish) {
  const test::FakeSource source(a_cluster().with(a_node("n1")).build());
  AnswerQuery answers = query(source);
  const auto quote = answers.quote(
      {.job = std::make_shared<const Job>(stated("team-a/cut", 180).gpus(1).limited(3600).build())},
      Viewer());
  ASSERT_TRUE(quote) << quote.error().message;
  const QuoteRowView& row = quote->rows.front();
  EXPECT_TRUE(row.cut_short);
  EXPECT_TRUE(row.start.p50_s);
  EXPECT_FALSE(row.finish.p50_s || row.chance || row.best);
  EXPECT_EQ(row.why_not, "its time limit ends it after 1h00m");
}

TEST_F(AnswerQueryTest, OfWhatSlacklineLeavesToOthersAQuoteKnowsNoStart) {
  const test::FakeSource source(a_cluster().with(a_node("n1")).build());
  AnswerQuery answers = query(source);
  Job kueue = stated("team-a/theirs", 60).gpus(4).build();
  kueue.kueue = true;
  const auto quote = answers.quote({.job = std::make_shared<const Job>(kueue)}, Viewer());
  ASSERT_TRUE(quote) << quote.error().message;
  EXPECT_EQ(quote->reason, reason::kNotManaged);
  EXPECT_THAT(quote->problems, testing::ElementsAre(HasSubstr("is queued by Kueue")));
  for (const QuoteRowView& row : quote->rows)
    EXPECT_FALSE(row.start.p50_s || row.best);
  Job pinned = stated("team-a/pinned", 60).gpus(4).build();
  pinned.holds_pods = pinned.names_node = true;
  const auto of_pinned = answers.quote({.job = std::make_shared<const Job>(pinned)}, Viewer());
  ASSERT_TRUE(of_pinned) << of_pinned.error().message;
  EXPECT_EQ(of_pinned->reason, reason::kNotManaged);
  EXPECT_THAT(of_pinned->problems, testing::ElementsAre(HasSubstr("names its node itself")));
}

TEST_F(AnswerQueryTest, InANamespaceWithoutTheLabelAQuoteKnowsNoStart) {
  ClusterSnapshot cluster = a_cluster().with(a_node("n1")).build();
  const auto ns = std::make_shared<const Namespace>(Namespace{.uid = {}, .key = {"", "others"}});
  cluster.namespaces = std::make_shared<const NamespaceList::element_type>(1, ns);
  const test::FakeSource source(cluster);
  const auto quote_of = [&](const Job& job) {
    return *query(source).quote({.job = std::make_shared<const Job>(job)}, Viewer());
  };
  const Job job = stated("others/new", 60).gpus(4).build();
  const QuoteView quote = quote_of(job);
  EXPECT_EQ(quote.reason, reason::kNotManaged);
  EXPECT_FALSE(quote.is_reviewed);
  EXPECT_THAT(quote.problems, testing::ElementsAre(HasSubstr(
                                  "it is in a namespace that Slackline does not manage: kubectl "
                                  "label namespace others slackline.dev/managed=true")));
  EXPECT_FALSE(quote.rows.front().start.p50_s || quote.rows.front().best);
  EXPECT_THAT(quote_of(stated("nosuch/new", 60).gpus(4).build()).problems,
              testing::ElementsAre(HasSubstr("there is no namespace nosuch")));
  Job labelled = job;
  labelled.managed = true;
  EXPECT_EQ(quote_of(labelled).reason, reason::kNotManaged) << "no webhook is asked there";
  options_.stock_waits = core::StockScope::kAll;
  EXPECT_TRUE(quote_of(job).rows.front().start.p50_s) << "who only looks sees all namespaces";
}

// Its Job is gone, and the history has it.
TEST_F(AnswerQueryTest, WhatHasEndedIsLookedForInTheHistory) {
  options_.has_ended = [](const ObjectKey& key) { return key.name == "over"; };
  const test::FakeSource source(full());
  AnswerQuery answers = query(source);
  EXPECT_THAT(answers.explain({"team-a", "over"}, "", Viewer()).error().message,
              HasSubstr("it has ended: see slackline history team-a/over"));
  EXPECT_THAT(answers.eta({"team-a", "nobody"}).error().message,
              HasSubstr("there is no Job or pod of that name"));
}

TEST_F(AnswerQueryTest, WhatAsksForNoGpusGetsNoQuote) {
  const test::FakeSource source(full());
  AnswerQuery answers = query(source);
  const auto quote = answers.quote(
      {.job = std::make_shared<const Job>(stated("team-a/none", 60).build())}, Viewer());
  ASSERT_FALSE(quote);
  EXPECT_THAT(quote.error().message, HasSubstr("asks for no GPUs"));
}

TEST_F(AnswerQueryTest, AWhatIfQuestionThatIsWrongSaysHow) {
  const test::FakeSource source(full());
  AnswerQuery answers = query(source);
  const auto asked = [&](const WhatIfQuestion& question) {
    const auto view = answers.what_if(question, Viewer());
    return view ? std::string("answered") : view.error().message;
  };
  EXPECT_THAT(asked({}), HasSubstr("say one of drain=NODE"));
  EXPECT_THAT(asked({.drain = "n1", .add = "1xA100x4"}), HasSubstr("say one of"));
  EXPECT_THAT(asked({.drain = "n1,n9"}), HasSubstr("no node n9"));
  EXPECT_THAT(asked({.policy = "nonsense"}), HasSubstr("nonsense"));
  EXPECT_THAT(asked({.policy = "savable,shrink=on"}), HasSubstr("only `slackline simulate` takes"));
  for (const char* text : {"4", "4xA100", "0xA100x8", "4xA100x0", "xx", "1xx1", "9999xA100x8",
                           "1xA100x8,1xH100x4", "1xmy typex8"})
    EXPECT_THAT(asked({.add = text}), HasSubstr("expected NODESxTYPExGPUS")) << text;
  EXPECT_EQ(asked({.drain = "n1"}), "answered");
  EXPECT_EQ(asked({.policy = "fifo"}), "answered");
  EXPECT_EQ(parse_added("3xTesla-x2x8")->gpu_type.str(), "Tesla-x2");
}

TEST_F(AnswerQueryTest, WhatWaitsForKueueIsSaidToWaitForIt) {
  Job kueues = a_job("team-a/theirs").gpus(4).suspended().build();
  kueues.kueue = true;
  auto cluster = a_cluster().with(a_node("n1"));
  const test::FakeSource source(cluster.add(kueues).build());
  AnswerQuery answers = query(source);
  const auto why = answers.explain({"team-a", "theirs"}, "", Viewer());
  ASSERT_TRUE(why) << why.error().message;
  EXPECT_EQ(why->eta.standing, "waits");
  EXPECT_EQ(why->eta.reason, reason::kNotManaged);
  ASSERT_EQ(why->blockers.size(), 1U);
  EXPECT_THAT(why->blockers.front().detail, HasSubstr("is queued by Kueue"));
  EXPECT_EQ(answers.eta({"team-a", "theirs"})->standing, "waits");
  EXPECT_FALSE(answers.explain({"team-a", "nobody"}, "", Viewer()));
}

TEST_F(AnswerQueryTest, AGangSaysWhichOfItsPodsComeLater) {
  OwnerGang gang{"JobSet", "llm", Uid("llm-uid"), "0"};
  gang.role = "driver";
  auto gated = a_pod("team-a/llm-driver").gpus(4).managed().gated().created(clock_.wall_s() - 60);
  Pod driver = gated.build();
  driver.owner_gang = std::make_shared<const OwnerGang>(gang);
  const auto worker = std::make_shared<const Pod>(a_pod("team-a/member").gpus(4).build());
  auto cluster = a_cluster().with(a_node("n1")).with(a_node("n2")).with(a_node("n3"));
  ClusterSnapshot now = cluster.add(driver).build();
  now.gang_specs = std::make_shared<const GangSpecs>(
      GangSpecs{{gang.uid, {.later = {{"worker", {"driver"}, 2, worker, 1}}}}});
  const test::FakeSource source(now);
  AnswerQuery answers = query(source);
  const auto view = answers.explain({"team-a", "llm"}, "", Viewer());
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_THAT(view->hints, testing::Contains(HasSubstr("makes 2 of its 3 pods once the others")));
}

TEST_F(AnswerQueryTest, AddedNodesHaveTheTaintsOfThoseThatAreThere) {
  Node node = test::a_node("n1").of("A100", 4).build();
  node.taints = {{"gpu-only", "", TaintEffect::kNoSchedule},
                 {"node.kubernetes.io/unschedulable", "", TaintEffect::kNoSchedule}};
  auto cluster = test::a_cluster().with(test::a_node("n2").of("H100", 4));
  const test::FakeSource source(cluster.add(node).build());
  AnswerQuery answers = query(source);
  const auto asked = [&](const char* added) {
    const auto view = answers.what_if({.add = added}, Viewer());
    return view ? view->question : view.error().message;
  };
  EXPECT_EQ(asked("2xA100x4"), "add 2 nodes with 4 A100 GPUs each; with the taint of n1: gpu-only");
  EXPECT_EQ(asked("1xH100x4"), "add 1 node with 4 H100 GPUs");
}

TEST_F(AnswerQueryTest, ACalendarTellsSlicesFromWholeGpus) {
  const char* const slices = "nvidia.com/mig-1g.5gb";
  const auto cluster = test::a_cluster()
                           .with(test::a_node("n1").of("A100", 8))
                           .with(test::a_node("n2").of("A100", 0).resource(slices, 7));
  const test::FakeSource source(cluster.build());
  AnswerQuery answers = query(source);
  const auto rows = answers.calendar({.gpu_type = "A100"});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->front().gpu_type, "A100");
  EXPECT_EQ(rows->front().gpus, 8);
  EXPECT_EQ(rows->back().gpu_type, "A100 (nvidia.com/mig-1g.5gb)");
  EXPECT_EQ(rows->back().gpus, 7);
}

TEST_F(AnswerQueryTest, ACalendarOfATypeThatIsNotThereIsRefused) {
  const test::FakeSource source(full());
  AnswerQuery answers = query(source);
  const auto all = answers.calendar({});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_FALSE(all->empty());
  EXPECT_EQ(all->front().gpu_type, "unknown");
  EXPECT_EQ(all->front().gpus, 8);
  EXPECT_EQ(all->front().free_p50, 0);
  EXPECT_TRUE(answers.calendar({.gpu_type = "Unknown"}));
  const auto none = answers.calendar({.gpu_type = "H100"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST_F(AnswerQueryTest, AdviceHasEvidenceAndEffectForEveryTypeThatTheFamilyRanOn) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1").of("A100", 8)).with(a_node("n2").of("K80", 8));
  cluster.with(a_job("lab/train").gpus(4).waiting());
  const ClusterSnapshot snapshot = cluster.build();
  Portrait portrait;
  portrait.identity = core::identity_of(*snapshot.find_job("lab", "train"));
  for (int run = 0; run < 3; ++run)
    core::add_run(portrait, test::a_run(run, {.gpu = 0.2, .gpu_memory = 0.1}));
  core::PortraitBook book;
  book.portraits[core::portrait_key(portrait.identity)] =
      std::make_shared<const Portrait>(portrait);
  const Published<core::PortraitBook> portraits(book);
  options_.portraits = &portraits;
  const test::FakeSource source(snapshot);
  AnswerQuery answers = query(source);
  const auto advice = answers.advice({"lab", "train"});
  ASSERT_TRUE(advice) << advice.error().message;
  const AdviceView& gpus = advice->front();
  EXPECT_EQ(gpus.gpu_type.str(), "A100");
  EXPECT_EQ(gpus.resource, "gpus");
  EXPECT_EQ(gpus.asked, 4);
  EXPECT_EQ(gpus.advised, 1);
  EXPECT_EQ(gpus.runs, 3);
  EXPECT_EQ(gpus.confidence, "high");
  EXPECT_EQ(gpus.run_s, test::kRun_s);
  EXPECT_EQ(gpus.basis, "past");
  EXPECT_DOUBLE_EQ(gpus.gpu_hours_returned.value_or(0), 3);
  for (const AdviceView& row : *advice)
    EXPECT_EQ(row.gpu_type.str(), "A100") << "it never ran on a K80";
  EXPECT_EQ(answers.advice({"lab", "none"}).error().code, ErrorCode::kNotFound);
}

TEST_F(AnswerQueryTest, AClusterThatIsNotReadYetIsToldApart) {
  ClusterSnapshot unread = full();
  unread.synced = false;
  const test::FakeSource source(unread);
  AnswerQuery answers = query(source);
  EXPECT_EQ(answers.eta({"team-a", "waits"}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answers.advice({"team-a", "waits"}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answers.calendar({}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answers.what_if({.policy = "fifo"}, Viewer()).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace slackline::control
