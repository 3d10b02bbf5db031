// The queue over REST, as plain values (as in views.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/model/ids.h"
#include "slackline/model/move_advice.h"
#include "slackline/model/owner_gang.h"
#include "slackline/model/placement.h"
#include "slackline/model/task.h"

namespace slackline {

// Right-sizing of a task.
struct ResizeView {
  std::string mode;  // "advise" or "auto"
  // "suggested", "applied", or why it is not applied though the mode is auto: "tooSmall", "frozen",
  // "trial", "askedAnew", "othersChanged"
  std::string state;
  std::vector<std::string> texts;    // with evidence, confidence and effect
  std::optional<Placement> asked{};  // of a run that was resized: as written
};

// One task that waits, or that has a plan, and what is known and forecast of it. Times are epoch
// seconds; codes are those of reason.h.
struct QueueRow {
  int position =
      0;  // from 1, among those that wait: by predicted start; 0 = planned, or NotManaged
  ObjectKey key;
  Uid uid;  // of the Job, pod or gang's controller; empty for a labelled gang
  TaskKind kind = TaskKind::kPod;              // never kController
  std::shared_ptr<const TaskIntent> intent{};  // never null
  std::shared_ptr<const PlanNote> plan{};      // null: it waits; no id: a run without a plan
  std::shared_ptr<const Job> job{};            // null: pods carry the plan
  std::shared_ptr<const OwnerGang> gang{};     // null: no controller makes it
  TaskState state = TaskState::kWaiting;
  std::string reason;  // why it waits; empty = it has a plan, and room for it
  // Of a run whose queue has a share of its GPU type: "private", "borrowed" or "pool"; else empty.
  std::string_view share{};
  std::string_view
      spared{};  // of a run: why it is not stopped for others (spared.h); empty: it may
  double created_s = 0;
  double age_s = 0;  // since then
  std::optional<double> deadline_s;
  // Until the last moment to start on the fastest placement; of a task that has a plan the margin.
  // Signed.
  std::optional<double> slack_s;
  std::optional<double> margin_s;  // from the predicted finish to the deadline; signed
  // Of a task for which others make room: who, since when they are stopped, and when they are, or
  // have ended.
  std::vector<ObjectKey> waits_for{};
  std::int64_t waits_for_hidden = 0;  // more of them, which the viewer may not see
  std::optional<double> room_since_s{};
  std::optional<double> room_by_s{};
  bool blocked = false;           // with the present nodes it never starts
  std::optional<double> retry_s;  // until when it backs off
  // Medians over futures played with predicted run times, and the time by which nine futures in ten
  // have ended; where unset, `forecast` says why.
  std::optional<double> start_s;
  std::optional<double> start_p90_s;
  std::optional<double> finish_s;
  std::optional<double> finish_p90_s;
  // In at least half of the futures it ends after this moment: the last that is forecast or, where
  // its run time is unknown, its start; unset: a finish is predicted, or nothing at all.
  std::optional<double> finish_after_s{};
  std::string forecast;
  // Share of the futures in which it meets its deadline; unset: no deadline, or no finish
  // predicted; 0 also without one, where it is late in all of them.
  std::optional<double> chance{};
  bool cut_short = false;  // its time limit ends it before its work is done
  // Where its predicted run time comes from: "model", "expected-duration" (-"for-all-types": they
  // are taken as equal), "history", of its family, or "similar", of another; empty: not known.
  std::string length_source{};
  // The plan's; of a task that waits, pods x GPUs of each as written; unset: Slackline chooses.
  std::optional<Placement> shape;
  std::int64_t gpus = 0;  // of the plan, else as written
  // The plan's; of a task that waits those that the policy keeps for it. Each once; empty: none.
  std::vector<NodeName> nodes{};
  // Share of its work that is done: as its Job told, else of a run the elapsed share of the
  // predicted time; unset: it has not run, or its length is unknown.
  std::optional<double> progress{};
  std::optional<MoveAdvice> move{};    // by which it would gain
  std::optional<ResizeView> resize{};  // what its family's past says of its request; unset: nothing

  std::string queue() const { return queue_of(*intent, key.ns); }
  std::string_view qos_class() const {
    return to_string(intent->qos_class.value_or(QosClass::kNormal));
  }
  // Of a task that waits; empty = any.
  std::vector<GpuType> accepted_types() const {
    return plan || intent->any_gpu_type ? std::vector<GpuType>() : intent->gpu_types;
  }
  // In at least half of the futures it ends after its deadline, or unfinished.
  bool predicted_late() const {
    return deadline_s && ((finish_s && *finish_s > *deadline_s) || margin_below_s() || chance == 0);
  }
  // Above its margin, where it is late and no finish is predicted.
  std::optional<double> margin_below_s() const {
    if (!deadline_s || !finish_after_s || *finish_after_s < *deadline_s) return std::nullopt;
    return *deadline_s - *finish_after_s;
  }
};

// GET /v1/queue
struct QueueView {
  std::vector<QueueRow> rows;       // with a plan first, then by position
  double now_s = 0;                 // epoch
  double forecast_s = 0;            // the moment for which starts and finishes were forecast
  std::int64_t unknown_runs = 0;    // running pods without a plan whose end is unknown
  std::int64_t unannotated = 0;     // tasks that wait and have no annotation of Slackline
  std::int64_t left_alone = 0;      // Jobs and pods for which kube-scheduler finds devices alone
  std::string unknown_namespace{};  // that was asked for; empty: it is there
  std::int64_t for_others = 0;      // pods with GPUs that wait for schedulers which ask nobody here
  std::set<std::string> other_schedulers{};  // their names
  bool active = true;                        // false: the replica that answers releases nothing
  bool leads = false;                        // the replica that answers plans
  std::string leader;                        // who plans; empty: nobody
  // How many of all its rows are waiting, starting, running; and late, blocked, once more.
  std::vector<std::pair<std::string, std::int64_t>> counts{};

  double forecast_age_s() const { return forecast_s > 0 ? now_s - forecast_s : 0; }
};

}  // namespace slackline
