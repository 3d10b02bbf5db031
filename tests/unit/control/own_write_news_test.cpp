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

OwnWrite on_job(OwnWriteKind kind, std::string_view why = "") {
  Job job;
  job.key = {"ml", "train"};
  job.uid = Uid("u1");
  job.plan = plan("p1-1");
  OwnWrite write = job_write(kind, job);
  write.reason = why;
  return write;
}

OwnWrite on_pod(OwnWriteKind kind, std::string_view why = "") {
  Pod pod;
  pod.key = {"ml", "train-0"};
  pod.uid = Uid("u2");
  pod.plan = plan("p1-1");
  OwnWrite write = pod_write(kind, pod);
  write.reason = why;
  return write;
}

OwnWrite with_plan(OwnWrite write) {
  write.plan = plan("p1-2");
  return write;
}

OwnWrite to_node(OwnWrite write) {
  write.node = NodeName("n1");
  return write;
}

OwnWrite last_lift(const OwnerRef& task) {
  OwnWrite write = on_pod(OwnWriteKind::kLiftGate, reason::kReleased);
  write.task = task;
  return write;
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
  using Kind = OwnWriteKind;
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
  const struct {
    OwnWrite write;
    std::string row, event;
  } cases[] = {
      {with_plan(on_job(Kind::kReleaseJob)), "plan ml/train u1 p1-2: " + nodes + counts,
       "Normal " + job + "Planned: " + place},
      {with_plan(on_job(Kind::kReleaseJob, reason::kNotBound)),
       "move ml/train u1 p1-2: " + nodes + " NotBound=1" + counts,
       "Warning " + job + "Deviated: NotBound: now " + place},
      {on_job(Kind::kOpenJob), "-", "-"},
      {on_job(Kind::kSuspendJob, reason::kPodsRejected),
       "suspend ml/train u1 p1-1: back into the queue PodsRejected=1",
       "Warning " + job + "PodsRejected: " +
           std::string(find_reason(reason::kPodsRejected)->meaning) + queue_again},
      {on_job(Kind::kClearPlan, reason::kPlanDisbelieved), "-", "Warning " + job + void_plan},
      {with_plan(on_pod(Kind::kPlanPod)), "plan ml/train-0 u2 p1-2: " + nodes + counts,
       "Normal " + pod + "Planned: " + place},
      {with_plan(on_pod(Kind::kPlanPod, reason::kNodesLost)),
       "move ml/train-0 u2 p1-2: " + nodes + " NodesLost=1" + counts,
       "Warning " + pod + "Deviated: NodesLost: now " + place},
      {on_pod(Kind::kPlanPod, reason::kNodesLost),
       "suspend ml/train-0 u2 p1-1: back into the queue NodesLost=1", "-"},
      {on_pod(Kind::kPlanPod), "suspend ml/train-0 u2 p1-1: back into the queue", "-"},
      {on_pod(Kind::kPlanPod, reason::kPlanDisbelieved), "-", "Warning " + pod + void_plan},
      {to_node(on_pod(Kind::kNominate)), "-", "-"},
      {to_node(on_pod(Kind::kNominate, reason::kNotBound)),
       "move ml/train-0 u2 p1-1: nominated to n1 NotBound=1", "-"},
      {on_pod(Kind::kClearNomination), "-", "-"},
      {on_pod(Kind::kNarrowPod), "-", "-"},
      {on_pod(Kind::kLiftGate), "-", "-"},
      {last_lift({}), "-", "Normal " + pod + lifted},
      {last_lift({"Job", "train", Uid("u1")}), "-", "Normal " + job + lifted},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(to_string(each.write.kind));
    EXPECT_EQ(row_text(each.write), each.row);
    EXPECT_EQ(event_text(each.write), each.event);
  }
}

}  // namespace
}  // namespace slackline::control
