// begin_starts: the writes with which what a plan starts and stops begins. They continue in
// hand_over.h. Pure; times are epoch seconds.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/plan.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/own_write.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// Identifies the planner in every plan, so that nobody overwrites the plan of a later one
// (docs/RELIABILITY.md, rule 2).
struct PlanStamp {
  std::int64_t epoch = 0;        // 0: none yet
  std::int64_t next_number = 1;  // of the next plan; counts up
  // Set on API servers before 1.36, where the template of a Job that ran once is fixed, and its
  // requests are for every Job: nothing is written into templates. The pods get their GPU count
  // from the webhook, and are pinned to their GPU type, by the labels of this catalogue, while they
  // are gated.
  const GpuCatalog* pin_pods_by = nullptr;

  std::string next_id();
};

// Of all plans that Jobs and pods have; 0: there are none. O(Jobs + pods).
std::int64_t latest_epoch(const ClusterSnapshot& snapshot);

// The writes that begin the starts of a plan, and those that open and release without a plan. If
// starts together exceed a quota, the later ones are left out: the next plan finds them hindered.
// Jobs that others take pods from (disrupted_jobs.h), or that right-sizing made too small, are
// stopped first.
// A task that makes room is stopped, also where the plan would start it again elsewhere: it waits
// until its pods are gone. One that the plan shrinks, or that gives back and is placed again, keeps
// its place (Queue::going_on), and is released there once its pods are gone. The start of whoever
// gets its room names the stop (OwnWrite::after). `unanswered` are the Jobs whose writes may still
// fail: nothing is started in the room that an earlier plan's stop of theirs makes. Plans count
// GPUs: of tasks that ask together for more CPU, memory or another resource than a node has free,
// the later ones wait for the next plan. So does a task whose stops a disruption budget forbids;
// these runs' nodes are left alone.
// Where a queue asks for notice (QueueRules::notice_s), the pods of such a task are told when and
// for whom it is stopped, and it is stopped once that time has come and the plan still wants it.
// What a plan no longer wants is taken back.
std::vector<OwnWrite> begin_starts(const ClusterSnapshot& snapshot,
                                   const std::unordered_set<Uid>& unanswered, const Queue& queue,
                                   const Plan& plan, const GpuCatalog& catalog, PlanStamp& stamp,
                                   double now_steady_s, double now_wall_s);

// When the next task that was told of its stop may be stopped; infinity: none was. O(pods).
double next_told_stop_s(const ClusterSnapshot& snapshot, double now_wall_s);

}  // namespace slackline::core
