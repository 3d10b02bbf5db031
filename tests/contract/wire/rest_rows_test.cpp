// What REST shows of every kind of row, to the byte: JSON, table, wide table and CSV of one row
// with everything and one with nothing. SLACKLINE_RECORD=1 in the environment writes the golden
// file again.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "support/object_builders.h"
#include "support/read_text.h"
#include "support/source_path.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

const std::filesystem::path kGolden = test::source_path("tests/contract/golden/rest/rows.txt");

ClusterView a_cluster() {
  ClusterView view;
  view.mode = "active";
  view.version = "1.2.3";
  view.snapshot_version = 77;
  view.cache = {true, true, 12.5, "the stream of pods is silent"};
  view.nodes = 4;
  view.pods_bound = 10;
  view.pods_unbound = 3;
  view.jobs = 5;
  view.models = 2;
  view.tasks = {{"waiting", 3}, {"running", 4}};
  GpuPoolView pool;
  pool.gpu_type = GpuType("A100");
  pool.nodes = 4;
  pool.nodes_usable = 3;
  pool.cost = 2.933;
  pool.gpus = {{"nvidia.com/gpu", "whole", 32, 20, 4, 8}, {"nvidia.com/mig-1g", "mig", 7, 1, 0, 6}};
  view.pools = {pool, GpuPoolView()};
  return view;
}

ListedNode row_of(const Node& node) {
  return {std::make_shared<const NodeState>(
      NodeState{std::make_shared<const Node>(node), {}, Resources()})};
}

ListedNode a_node() {
  NodeState state;
  state.node = std::make_shared<const Node>(
      test::a_node("gpu-1").of("A100", 8).memory(1 << 30).cordoned().taint("gpu", "yes").build());
  state.used = Resources{1500, 1 << 20, 7, {}};
  for (int i = 0; i < 7; ++i)
    state.pods.push_back(std::make_shared<const Pod>(
        test::a_pod(format("team/a-{}", i)).gpus(i < 2 ? 1 : 0).build()));
  return {std::make_shared<const NodeState>(state),
          {{"nvidia.com/gpu", "whole", 8, 5, 1, 2}, {"nvidia.com/mig-1g", "mig", 7, 1, 0, 6}},
          {{"team/a", "team/a-0", "nvidia.com/gpu", 1, "plan", "Protected"},
           {"team/a", "team/a-1", "nvidia.com/gpu", 1, "plan"}}};
}

ListedNode an_unreadable_node() {
  Node node;
  node.ready = false;
  node.problems = {"capacity \"x\"", "more"};
  return row_of(node);
}

ListedTask a_task() {
  ListedTask row;
  Job job;
  job.plan = test::a_plan("p-9", {2, 4}, {"gpu-1", "gpu-2"});
  row.task = {.kind = TaskKind::kJob,
              .controller = "",
              .key = {"team", "train"},
              .uid = Uid("u-1"),
              .job = std::make_shared<const Job>(job),
              .member = nullptr,
              .state = TaskState::kRunning,
              .pods_wanted = 2,
              .pods_bound = 1,
              .pods_unbound = 1,
              .gpus_per_pod = 4,
              .gpu_resource = "nvidia.com/gpu",
              .created_s = 1.8e9,
              .priority = -5,
              .gang = true,
              .nodes = {NodeName("gpu-1"), NodeName("gpu-2")},
              .intent = {}};
  TaskIntent& intent = row.task.intent;
  intent.model = "resnet50";
  intent.qos_class = QosClass::kPrior;
  intent.queue = "team-a";
  intent.gang = "g1";
  intent.placements = {{2, 4}, {1, 8}};
  intent.gpu_types = {GpuType("A100"), GpuType("V100")};
  intent.batch_size = 256;
  intent.iterations = 10000;
  intent.expected_duration_s = 1800.5;
  intent.problems = {"deadline: \"soon\" is not a time"};
  row.deadline_s = 1.8e9 + 3600;
  return row;
}

ScoreView a_score() {
  ScoreView view;
  view.node = NodeName("gpu-1");
  view.gpu_type = GpuType("A100");
  view.passes = true;
  view.verdict = "Pass";
  view.score = 9;
  view.rank = 1;
  view.source = "fitted";
  view.extrapolated = true;
  view.feasible = false;
  view.features = {{"cer", 12.345}, {"throughput_samples_per_s", 5120.5}, {"free_gpus_after", 3}};
  return view;
}

ScoreView a_refusal() {
  ScoreView view;
  view.node = NodeName("gpu-2");
  view.verdict = "InsufficientGpu";
  view.message = "1 of 4 GPUs is free";
  return view;
}

PlacementRow a_placement() {
  PlacementRow row;
  row.gpu_type = GpuType("A100");
  row.shape = {2, 4};
  row.throughput_samples_per_s = 5120.5;
  row.throughput_low = 45.67;
  row.throughput_high = 0.0123;
  row.source = "measured";
  row.extrapolated = true;
  row.latency_s = 5400;
  row.cost = 23.5;
  row.cer = 0.456;
  row.feasible = true;
  row.allowed = true;
  row.fits_now = true;
  row.written = true;
  row.reason = "unused";
  return row;
}

PlacementRow a_forbidden_placement() {
  PlacementRow row;
  row.written = true;
  row.reason = "not asked for";
  return row;
}

DecisionRow a_decision() {
  DecisionRow row;
  row.id = 42;
  row.schema_version = 1;
  row.time_s = 1.8e9;
  row.verb = Verb::kPrioritize;
  row.pod_uid = Uid("u-1");
  row.pod = {"team", "train-0"};
  row.plan_id = "p-9";
  row.policy = "cer";
  row.options_hash = "abcd";
  row.snapshot_version = 77;
  row.nodes_asked = 6;
  row.result = "passed 5 of 6";
  row.reasons = {{"Pass", 5}, {"HeldForOthers", 1}};
  for (const char* node : {"a", "b", "c", "d", "e"})
    row.candidates.push_back({node, 8, {{"cer", 12.5}, {"free", 0}}});
  row.duration_us = 123.6;
  row.outcome = DecisionOutcome{"a", 1.8e9 + 2};
  return row;
}

DecisionRow an_old_decision() {
  DecisionRow row;
  row.schema_version = 1;
  return row;
}

DecisionRow a_stop() {
  DecisionRow row;
  row.id = 43;
  row.verb = Verb::kSuspend;
  row.pod = {"team", "long"};
  row.plan_id = "p-9";
  row.result = "stopped for team/urgent";
  row.reasons = {{"Preempted", 1}};
  row.stop = DecisionStop{{"team", "urgent"}, 5400, true, false, 812.5, 0.426};
  return row;
}

DecisionRow a_loss() {
  DecisionRow row = a_stop();
  row.result = "stopped after EvictionByEvictionAPI";
  row.stop = DecisionStop{{}, 0, false, false, 812.5, 0.426};
  return row;
}

ProgressNote a_report() {
  return {57400, 100000, 1.8e9, ProgressPoint{50000, 1.8e9 - 7400}, 0.35, "warmup"};
}

QueueRow a_waiting_task() {
  QueueRow row;
  row.position = 3;
  row.key = {"team", "train"};
  row.uid = Uid("u-1");
  row.kind = TaskKind::kJob;
  TaskIntent intent;
  intent.queue = "team, \"a\"";
  intent.qos_class = QosClass::kPrior;
  intent.model = "resnet50";
  intent.gpu_types = {GpuType("A100"), GpuType("V100")};
  row.intent = std::make_shared<const TaskIntent>(intent);
  Job job;
  PreemptionNote stops;
  stops.count = 2;
  stops.left = 0.426;
  stops.lost_gpu_s = 812.5;
  job.preemptions = std::make_shared<const PreemptionNote>(stops);
  job.progress = std::make_shared<const ProgressNote>(a_report());
  row.job = std::make_shared<const Job>(job);
  row.reason = "WaitsItsTurn";
  row.created_s = 1.8e9;
  row.age_s = 5400;
  row.deadline_s = 1.8e9 + 7200;
  row.slack_s = -90;
  row.margin_s = 600;
  row.retry_s = 1.8e9 + 30;
  row.start_s = 1.8e9 + 60;
  row.start_p90_s = 1.8e9 + 120;
  row.finish_s = 1.8e9 + 7260;
  row.finish_p90_s = 1.8e9 + 9000;
  row.shape = Placement{2, 4};
  row.gpus = 8;
  row.length_source = "history";
  row.progress = a_report().done();
  row.move = MoveAdvice{MoveCause::kSlow,
                        row.key,
                        0.34,
                        1500,
                        360,
                        {{row.key, {NodeName("n1")}, {NodeName("n2")}, 360}}};
  row.resize = ResizeView{.mode = "auto",
                          .state = "trial",
                          .texts = {"asks for 8 GPUs, the last run used 2.0 of 8 GPUs"}};
  return row;
}

QueueRow a_planned_task() {
  QueueRow row;
  row.share = "borrowed";
  row.spared = "DisruptionBudget";
  row.key = {"team", "planned"};
  TaskIntent intent;
  intent.qos_class = QosClass::kUrgent;
  row.intent = std::make_shared<const TaskIntent>(intent);
  PlanNote plan;
  plan.id = "p-9";
  plan.gpu_type = GpuType("K80");
  row.plan = std::make_shared<const PlanNote>(plan);
  row.state = TaskState::kStarting;
  row.created_s = 1.8e9;
  row.age_s = 5400;
  row.blocked = true;
  row.gpus = 4;
  row.nodes = {NodeName("n1"), NodeName("n2")};
  row.forecast = "NotInBook";
  row.resize =
      ResizeView{.mode = "auto", .state = "applied", .texts = {}, .asked = Placement{1, 8}};
  return row;
}

FinishedTask a_finished_task() {
  FinishedTask task;
  task.key = {"team", "train"};
  task.uid = Uid("u-1");
  task.queue = "team, \"a\"";
  task.qos_class = "prior";
  task.model = "resnet50";
  task.gpu_type = GpuType("T4");
  task.gpus = 8;
  task.created_s = 1.8e9;
  task.started_s = 1.8e9 + 90;
  task.finished_s = 1.8e9 + 3690;
  task.succeeded = true;
  task.deadline_s = 1.8e9 + 3600;
  task.predicted_s = 3300;
  task.gpu_hours = 8.125;
  task.resized_from = "2x8";
  task.family = "team/owner=train,image=net:v1,model=resnet50";
  task.asked_gpus = 16;
  task.pods = 2;
  task.cpu_milli = 12000;
  task.use = MeasuredUse{0.426, 0.75, 3540, 4.5, 3500};
  task.stops = 2;
  task.gang = "u-7/worker";
  return task;
}

ReportRow a_group() {
  ReportRow row;
  row.group = "team/owner=train,image=net:v1,model=resnet50";
  row.title = "team/train (net:v1, resnet50)";
  row.period = "after";
  row.runs = 12;
  row.succeeded = 11;
  row.gpu_hours = 96;
  row.asked_gpu_hours = 128;
  row.measured_gpu_hours = 48;
  row.used_gpu_hours = 12;
  row.returned_gpu_hours = 32;
  row.advised_gpu_hours = 80;
  row.returnable_gpu_hours = 40;
  row.asked_core_hours = 200;
  row.measured_core_hours = 100;
  row.used_core_hours = 33;
  row.deadlines = 4;
  row.deadlines_met = 3;
  row.wait_median_s = 90;
  row.wait_p95_s = 3600;
  row.wait_max_s = 7200;
  return row;
}

ReportView a_report_view() {
  ReportView view;
  view.by = ReportBy::kFamily;
  view.ns = "team";
  view.from_s = 1.8e9;
  view.to_s = 1.8e9 + 604800;
  view.compare_s = 1.8e9 + 302400;
  view.totals = {a_group()};
  view.wasters = {a_group()};
  view.idle_now = {{{"team", "notebook"}, "Pod", 2, 5400}};
  view.days = {{1.8e9, 96, 48, 12}};
  view.notes = {"A note."};
  return view;
}

ModelView a_model() {
  ModelView model;
  model.descriptor = {"resnet50", "resnet", 2.56e7, 4.1e9, "An image classifier."};
  ModelTypeView fitted;
  fitted.gpu_type = GpuType("A100");
  fitted.entry = ProfileEntry();
  fitted.entry->coefficients.kind = "S";
  fitted.entry->startup_s = 12.5;
  fitted.entry->points = 9;
  fitted.entry->held_out_mape = 3.21;
  fitted.entry->held_out_p90 = 7.77;
  fitted.entry->source = "calibration";
  fitted.entry->corrections = {{2, 8, 0.93, 4}};
  fitted.fitted_here = true;
  fitted.version = 3;
  fitted.fitted_s = 1.8e9;
  fitted.samples = 11;
  fitted.runs = 4;
  ModelTypeView shipped = fitted;
  shipped.gpu_type = GpuType("T4");
  shipped.fitted_here = false;
  ModelTypeView corrected = shipped;
  corrected.version = 0;
  corrected.gpu_type = GpuType("V100");
  corrected.entry->held_out_p90.reset();
  ModelTypeView refused;
  refused.gpu_type = GpuType("K80");
  refused.samples = 1;
  refused.refusal = "1 sample; 3 are needed";
  model.types = {fitted, refused, shipped, corrected};
  return model;
}

template <class Row>
std::string every_form(const std::string& title, const std::vector<Row>& rows) {
  const TextTable wide = table_of(rows, Width::kWide);
  return "== " + title + "\n" + encode_list(rows, "next") + "\n-- table\n" + table_of(rows).str() +
         "-- wide\n" + wide.str() + "-- csv\n" + wide.csv();
}

std::string one_form(const std::string& title, const std::string& object, const std::string& text) {
  return "== " + title + "\n" + object + "\n-- text\n" + text;
}

EtaView an_eta() {
  EtaView eta;
  eta.task = "team/train";
  eta.kind = "Job";
  eta.state = "waiting";
  eta.standing = "waits";
  eta.reason = "WaitsItsTurn";
  eta.deadline_s = 1.8e9 + 9000;
  eta.start = {1.8e9 + 3600, 1.8e9 + 4000};
  eta.finish = {1.8e9 + 7200, std::nullopt};
  eta.chance = 0.875;
  eta.forecast_s = 1.8e9;
  eta.start_held = {200, 162};
  eta.finish_held = {100, 79};
  return eta;
}

ExplainView an_explanation() {
  ExplainView view;
  view.problems = {"deadline: \"tomorrow\" is not a time"};
  view.hints = {"slackline.dev/model: \"foo\" is unknown"};
  view.eta = an_eta();
  BlockerView quota{.reason = "QuotaExceeded",
                    .what = "pods in the ResourceQuota q",
                    .need = 4,
                    .have = 1,
                    .ends = {},
                    .detail = "team"};
  BlockerView gpus{.reason = "WaitsItsTurn",
                   .what = "A100 GPUs on one node",
                   .need = 8,
                   .have = 2,
                   .on = {"team/prep"},
                   .on_hidden = 2,
                   .ends = {1.8e9 + 3600, 1.8e9 + 4000},
                   .detail = ""};
  gpus.relief = {{"team/a", 4, {1.8e9 + 1800, 1.8e9 + 2000}}, {"", 4, {1.8e9 + 3600, {}}}};
  view.blockers = {quota, gpus};
  view.nodes_total = 7;
  view.nodes = {{"Full", "full", 3, {}, 0, 1.8e9 + 1800},
                {"HeldForOthers", "held for others", 2, {"team/b"}, 1, std::nullopt},
                {"RefusedByScheduler",
                 "refused by kube-scheduler",
                 1,
                 {},
                 0,
                 1.8e9 + 600,
                 "0/7 nodes are available"},
                {"Taint", "tainted", 1, {}, 0, std::nullopt}};
  view.node = "gpu-7";
  view.node_group = view.nodes[2];
  view.changes = {{"OtherType", "gpu-types: K80", "", {1.8e9, 1.8e9}, {1.8e9 + 7200, {}}, 1.0},
                  {"GiveWay", "stop a task of another namespace", "", {}, {}, std::nullopt}};
  view.changes_tried = 5;
  view.changes_not_tried = 1;
  return view;
}

QuoteRowView a_quote() {
  QuoteRowView row{.best = true,
                   .gpu_type = "A100",
                   .shape = Placement{1, 4},
                   .run_s = 3600,
                   .gpu_hours = 4,
                   .start = {1.8e9, 1.8e9 + 60},
                   .finish = {1.8e9 + 3600, 1.8e9 + 4000},
                   .chance = 0.9,
                   .latest_s = 1.8e9 + 600,
                   .delayed = 3,
                   .stopped = 1,
                   .why_not = ""};
  row.delays = {{"team/other", 1800, true}, {"team/late", std::nullopt, false}};
  return row;
}

QuoteRowView an_untried_quote() {
  QuoteRowView row;
  row.written = true;
  row.accepted = false;
  row.why_not = "not tried";
  return row;
}

WhatIfRow a_loser() {
  WhatIfRow row;
  row.task = "team/train";
  row.state = "waiting";
  row.verdict = "loses";
  row.finish_before = {1.8e9, 1.8e9 + 60};
  row.finish_after = {1.8e9 + 5400, std::nullopt};
  row.change_s = 5400;
  row.chance_before = 1;
  row.chance_after = 0.25;
  return row;
}

TEST(RestRows, ReadAsTheyAlwaysDid) {
  std::string all;
  for (const ClusterView& view : {a_cluster(), ClusterView()})
    all += one_form("cluster", encode_one(view), text_of(view));
  all += every_form<ListedNode>("nodes", {a_node(), an_unreadable_node(), row_of(Node())});
  all += every_form<ListedTask>("tasks", {a_task(), ListedTask()});
  all += every_form<ScoreView>("scores", {a_score(), a_refusal()});
  all += every_form<PlacementRow>("placements",
                                  {a_placement(), a_forbidden_placement(), PlacementRow()});
  all +=
      every_form<DecisionRow>("decisions", {a_decision(), an_old_decision(), a_stop(), a_loss()});
  QueueRow old;
  old.intent = std::make_shared<const TaskIntent>();
  old.age_s = 1.8e9 + 5400;
  all += every_form<QueueRow>("queue", {a_waiting_task(), a_planned_task(), old});
  all += every_form<FinishedTask>("history", {a_finished_task(), FinishedTask()});
  all += every_form<ReportRow>("reports", {a_group(), ReportRow()});
  all += one_form("report", encode_one(a_report_view()), preface_of(a_report_view()));
  ModelView nameless;
  nameless.descriptor.model = "unseen";
  all += every_form<ModelView>("models", {a_model(), nameless});
  all += one_form("model", encode_one(a_model()), text_of(a_model()));
  const SamplesAccepted accepted{5, a_model()};
  all += one_form("samples accepted", encode_one(accepted), text_of(accepted));
  all += one_form("progress", encode_one(a_report()), text_of(a_report()));
  const CalibrationRow trial{.model = "net",
                             .job = {"ml", "train"},
                             .gpu_type = GpuType("A100"),
                             .shape = Placement{2, 4},
                             .iterations = 100,
                             .bits = 2.25,
                             .state = "wanted",
                             .why = "nothing says how fast it is"};
  const CalibrationRow none{.model = "net",
                            .job = {"ml", "train"},
                            .gpu_type = {},
                            .shape = {},
                            .iterations = {},
                            .bits = {},
                            .state = "none",
                            .why = "it gives no batch-size"};
  all += every_form<CalibrationRow>("calibrations", {trial, none});
  const ShareLedger ledger{
      {{"A100", 16, 20, 0, 3}, {"T4", 8, 4, 4, 1}},
      {{"vision", "research", "A100", {8, 4}, 8, 2, 3}, {"", "", "A100", {}, 0, 0, 1}}};
  all += every_form<ShareLine>("shares", ledger.lines);
  all += one_form("shares", encode_one(ledger), preface_of(ledger));
  all += one_form("no shares", encode_one(ShareLedger()), preface_of(ShareLedger()));
  const CalibrationView spent{42.5, 60};
  all += one_form("calibration", encode_one(spent), preface_of(spent));
  for (const EtaView& eta : {an_eta(), EtaView()})
    all += one_form("eta", encode_one(eta), text_of(eta));
  for (const ExplainView& view : {an_explanation(), ExplainView()})
    all += one_form("explain", encode_one(view), text_of(view));
  QuoteView quote;
  quote.task = "team/new";
  quote.deadline_s = 1.8e9 + 7200;
  quote.advice = {"GPUs: 2 (1x2) are enough"};
  all += one_form("quote", encode_one(quote), preface_of(quote));
  all += every_form<QuoteRowView>("quote rows", {a_quote(), an_untried_quote()});
  WhatIfView what_if{.question = "drain gpu-7",
                     .gains = 1,
                     .loses = 2,
                     .same = 3,
                     .hidden = 1,
                     .in_time_before = 2.5,
                     .in_time_after = 1.25,
                     .with_deadline = 4,
                     .rows = {}};
  all += one_form("what if", encode_one(what_if), preface_of(what_if));
  all += every_form<WhatIfRow>("what if rows", {a_loser()});
  all += every_form<CalendarRow>("calendar", {{"A100", 1.8e9, 1.8e9 + 3600, 32, 8, 4}});
  if (std::getenv("SLACKLINE_RECORD") != nullptr) std::ofstream(kGolden, std::ios::binary) << all;
  EXPECT_EQ(all, test::read_text(kGolden));
}

}  // namespace
}  // namespace slackline::wire
