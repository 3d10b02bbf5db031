// What each kind of own write tells: its row in the journal, and its Event on the Job or pod.
#include <gtest/gtest.h>

#include "control/plan/plan_journal.h"
#include "control/plan/task_events.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

std::shared_ptr<const PlanNote> plan(const std::string& id) {
  PlanNote note;
  note.id = id;
  note.shape = {2, 4};
  note.gpu_type = GpuType("K80");
  note.nodes = {NodeName("n2"), NodeName("n1"), NodeName("n1")};
  return std::make_shared<const PlanNote>(note);
}

OwnWrite on_job(JobChange change, Decision decision = {}) {
  Job job;
  job.key = {"ml", "train"};
  job.uid = Uid("u1");
  job.plan = plan("p1-1");
  return job_write(job, std::move(change), std::move(decision));
}

OwnWrite on_pod(PodChange change, Decision decision = {}) {
  Pod pod;
  pod.key = {"ml", "train-0"};
  pod.uid = Uid("u2");
  pod.plan = plan("p1-1");
  return pod_write(pod, std::move(change), std::move(decision));
}

std::string row_text(const OwnWrite& write) {
  const auto row = row_of(write, 5);
  if (!row) return "-";
  std::string text = format("{} {} {} {}: {}", to_string(row->verb), row->pod.str(),
                            row->pod_uid.str(), row->plan_id, row->result);
  for (const auto& [reason, count] : row->reasons)
    text += format(" {}={}", reason, count);
  for (const DecisionCandidate& node : row->candidates)
    text += format(" [{} {}]", node.node, node.features.front().second);
  return text;
}

std::string event_text(const OwnWrite& write) {
  const auto event = event_of(write);
  if (!event) return "-";
  return format("{} {} {} {} {}: {}", event->warning ? "Warning" : "Normal", event->kind,
                event->object.str(), event->uid.str(), event->reason, event->message);
}

TEST(OwnWriteNews, EveryKindHasItsRowAndItsEvent) {
  const ReleaseJob release{.plan = plan("p1-2")};
  const PlanPod planned{plan("p1-2")};
  const Nominate nominate{NodeName("n1")};
  const Decision start{.verb = Verb::kPlan};
  const auto move = [](std::string_view why) {
    return Decision{.verb = Verb::kMove, .reason = why};
  };
  const auto back = [](std::string_view why) {
    return Decision{.verb = Verb::kSuspend, .reason = why};
  };
  const Decision disbelief{.reason = reason::kPlanDisbelieved};
  const std::string place = "2x4 K80 on n2, n1 (plan p1-2)";
  const std::string nodes = "2x4 K80 on n1, n2";
  const std::string counts = " [n1 2] [n2 1]";
  const std::string job = "Job ml/train u1 ";
  const std::string pod = "Pod ml/train-0 u2 ";
  const std::string queue_again =
      "; suspended again, it waits in the queue and backs off for a while";
  const std::string void_plan =
      "PlanDisbelieved: the annotation slackline.dev/plan was removed: Slackline did not write it "
      "for this object, or the plan had ended";
  const std::string lifted = "Released: its pods are nominated, and kube-scheduler may bind them";
  const StopJob stop{.preemptions = std::make_shared<const PreemptionNote>(
                         PreemptionNote{.count = 2, .left = 0.25, .lost_gpu_s = 90}),
                     .lost_gpu_s = 80,
                     .asker = {"ml", "urgent"},
                     .gain = {.earlier_s = 600}};
  const auto told =
      std::make_shared<const StopNotice>(StopNotice{{"ml", "urgent"}, Uid("u9"), 1700000000});
  const OwnerRef owner{"Job", "train", Uid("u1")};
  StopJob disrupted = stop;
  disrupted.asker = {};
  disrupted.disruption = PodDisruption{DisruptionKind::kEvictionByEvictionApi, 1000};
  StopJob shrunk = stop;
  auto smaller = std::make_shared<PreemptionNote>(*stop.preemptions);
  smaller->goes_on = PreemptionNote::GoesOn{
      .shape = {1, 2}, .gpu_type = GpuType("K80"), .nodes = {NodeName("n1")}, .from = {1, 4}};
  shrunk.preemptions = smaller;
  StopJob grown = stop;
  auto larger = std::make_shared<PreemptionNote>(*smaller);
  std::swap(larger->goes_on->shape, larger->goes_on->from);
  larger->by = reason::kGrown;
  grown.preemptions = larger;
  StopJob elsewhere_back = stop;
  auto placed = std::make_shared<PreemptionNote>(*smaller);
  placed->goes_on->shape = placed->goes_on->from;
  elsewhere_back.preemptions = placed;
  StopJob moved = stop;
  auto elsewhere = std::make_shared<PreemptionNote>(*smaller);
  elsewhere->goes_on->nodes = {NodeName("n3")};
  elsewhere->by = reason::kMoved;
  moved.preemptions = elsewhere;
  moved.asker = {"ml", "whole"};
  MoveAdvice advice;
  advice.cause = MoveCause::kFragmented;
  advice.task = moved.asker;
  advice.gain_s = 900;
  advice.lost_gpu_s = 80;
  moved.move = std::make_shared<const MoveAdvice>(advice);
  const struct {
    OwnWrite write;
    std::string row, event;
  } cases[] = {
      {on_job(release, start), "plan ml/train u1 p1-2: " + nodes + counts,
       "Normal " + job + "Planned: " + place},
      {on_job(release, move(reason::kNotBound)),
       "move ml/train u1 p1-2: " + nodes + " NotBound=1" + counts,
       "Warning " + job + "Deviated: NotBound: now " + place},
      {on_job(OpenJob{}), "-", "-"},
      {on_job(SuspendJob{}, back(reason::kPodsRejected)),
       "suspend ml/train u1 p1-1: back into the queue PodsRejected=1",
       "Warning " + job + "PodsRejected: " +
           std::string(find_reason(reason::kPodsRejected)->meaning) + queue_again},
      {on_job(stop, back(reason::kPreempted)),
       "suspend ml/train u1 p1-1: stopped for ml/urgent, which starts 10m00s earlier: 25 % of its "
       "work is left, 80 GPU seconds are lost Preempted=1",
       "Warning " + job +
           "Preempted: stopped so that ml/urgent can start: its checkpoints keep 75 % of its "
           "work, and it waits in the queue; stopped 2 times so far"},
      {on_job(shrunk, back(reason::kShrunk)),
       "suspend ml/train u1 p1-1: shrunk from 1x4 to 1x2 for ml/urgent, which starts 10m00s "
       "earlier: 25 % of its work is left, 80 GPU seconds are lost Shrunk=1",
       "Warning " + job +
           "Shrunk: goes on as 1x2 instead of 1x4 so that ml/urgent can start: its checkpoints "
           "keep 75 % of its work; stopped 2 times so far"},
      {on_job(elsewhere_back, back(reason::kBorrowedAskedBack)),
       "suspend ml/train u1 p1-1: moved for ml/urgent, which starts 10m00s earlier: 25 % of its "
       "work is left, 80 GPU seconds are lost BorrowedAskedBack=1",
       "Warning " + job +
           "BorrowedAskedBack: goes on as 1x4 on n1 so that ml/urgent can start on the GPUs that "
           "its queue owns: its checkpoints keep 75 % of its work; stopped 2 times so far"},
      {on_job(grown, back(reason::kGrown)),
       "suspend ml/train u1 p1-1: grown from 1x2 to 1x4, ends 10m00s earlier: 25 % of its work is "
       "left, 80 GPU seconds are lost Grown=1",
       "Normal " + job +
           "Grown: goes on as 1x4 instead of 1x2 and is expected to end 10m00s earlier: its "
           "checkpoints keep 75 % of its work; stopped 2 times so far"},
      {on_job(moved, back(reason::kMoved)),
       "suspend ml/train u1 p1-1: moved (fragmented) for ml/whole, which starts 15m00s earlier: 25 "
       "% of its work is left, 80 GPU seconds are lost Moved=1",
       "Warning " + job +
           "Moved: ml/whole waits for whole nodes: moved to n3, where it goes on once its pods "
           "have "
           "ended; it is expected to start 15m00s earlier, and 80 GPU seconds are lost; 25 % of "
           "its "
           "work is left; stopped 2 times so far"},
      {on_job(disrupted, back(reason::kRescheduled)),
       "suspend ml/train u1 p1-1: stopped after EvictionByEvictionAPI: 25 % of its work is left, "
       "80 GPU seconds are lost Rescheduled=1",
       "Warning " + job +
           "Rescheduled: EvictionByEvictionAPI: its pods were taken away; 25 % of its work is "
           "left, and it waits in the queue; stopped 2 times so far"},
      {on_pod(EvictPod{.lost_gpu_s = 80,
                       .asker = {"ml", "urgent"},
                       .gain = {.earlier_s = 600},
                       .risks_deadline = true},
              back(reason::kPreempted)),
       "suspend ml/train-0 u2 p1-1: evicted for ml/urgent, which starts 10m00s earlier: 80 GPU "
       "seconds are lost; its own deadline is at risk Preempted=1",
       "Warning " + pod +
           "Preempted: evicted so that ml/urgent can start: 80 GPU seconds are lost, and the pod "
           "that replaces it waits in the queue; it may miss its deadline now"},
      {on_job(ClearPlan{}, disbelief), "-", "Warning " + job + void_plan},
      {on_pod(planned, start), "plan ml/train-0 u2 p1-2: " + nodes + counts,
       "Normal " + pod + "Planned: " + place},
      {on_pod(planned, move(reason::kNodesLost)),
       "move ml/train-0 u2 p1-2: " + nodes + " NodesLost=1" + counts,
       "Warning " + pod + "Deviated: NodesLost: now " + place},
      {on_pod(UnplanPod{}, back(reason::kNodesLost)),
       "suspend ml/train-0 u2 p1-1: back into the queue NodesLost=1", "-"},
      {on_pod(UnplanPod{}, back("")), "suspend ml/train-0 u2 p1-1: back into the queue", "-"},
      {on_pod(UnplanPod{}, disbelief), "-", "Warning " + pod + void_plan},
      {on_pod(nominate), "-", "-"},
      {on_pod(nominate, move(reason::kNotBound)),
       "move ml/train-0 u2 p1-1: nominated to n1 NotBound=1", "-"},
      {on_pod(ClearNomination{}), "-", "-"},
      {on_pod(NarrowPod{}), "-", "-"},
      {on_pod(TellOfStop{told}), "-", "-"},
      {on_pod(TellOfStop{told, owner}), "-",
       "Warning " + job +
           "PreemptionPlanned: it is stopped at 2023-11-14T22:13:20Z so that ml/urgent can start; "
           "save a checkpoint before"},
      {on_pod(TakeBackStop{told->asker}), "-", "-"},
      {on_pod(TakeBackStop{told->asker, owner}), "-",
       "Normal " + job + "PreemptionPlanned: taken back: it is not stopped for ml/urgent"},
      {on_pod(TakeBackStop{{}, owner}), "-",
       "Warning " + pod +
           "PlanDisbelieved: the annotations slackline.dev/preempt-at and "
           "slackline.dev/preempt-for were removed: Slackline did not write them for this pod"},
      {on_pod(LiftGate{}), "-", "-"},
      {on_pod(LiftGate{OwnerRef{"Pod", "train-0", Uid("u2")}}), "-", "Normal " + pod + lifted},
      {on_pod(LiftGate{OwnerRef{"Job", "train", Uid("u1")}}), "-", "Normal " + job + lifted},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.write.word());
    EXPECT_EQ(row_text(each.write), each.row);
    EXPECT_EQ(event_text(each.write), each.event);
  }
}

}  // namespace
}  // namespace slackline::control
