// DecisionRow: one row of the decision journal (docs/OPERATIONS.md, "The journal").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slackline/model/extender_messages.h"
#include "slackline/model/ids.h"

namespace slackline {

// Of the features by which prioritize's candidates are written:
//   1  preference, throughput_samples_per_s, cer, lat_s, meets_deadline, free_gpus_after,
//      stranded_gpus
//   2  adds planned, throughput_low, throughput_high, cost
//   3  adds slow
//   4  adds profiler; the list is kFeatureNames of core/verbs/measure.h
// Rows of every version are read.
inline constexpr int kDecisionSchemaVersion = 4;
inline constexpr std::size_t kMaxDecisionCandidates = 16;

// One of the best nodes with its features, by name; a feature that is not known is left out.
struct DecisionCandidate {
  std::string node;
  int score = 0;
  std::vector<std::pair<std::string, double>> features;
};

// The pod's outcome, filled in by the watch.
struct DecisionOutcome {
  std::string node;
  double bound_s = 0;  // epoch seconds
};

// Why a running task was stopped, and what for.
struct DecisionStop {
  ObjectKey asker{};            // that gains; empty: others took its pods away
  double gain_s = 0;            // by which it starts earlier, or ends (a slow run that moves)
  bool saves_deadline = false;  // of the asker
  bool risks_deadline = false;  // of the one that is stopped
  double lost_gpu_s = 0;        // by this stop
  double work_left = 1;         // share

  friend bool operator==(const DecisionStop&, const DecisionStop&) = default;
};

struct DecisionRow {
  std::int64_t id = 0;  // given by the store; 0 before
  int schema_version = kDecisionSchemaVersion;
  double time_s = 0;  // epoch seconds
  Verb verb = Verb::kFilter;
  Uid pod_uid;               // the object of the decision: a pod, or the Job that carries the plan
  ObjectKey pod;             // the same
  std::string plan_id;       // empty = no plan
  std::string policy;        // name of the ranker or of the scheduling policy
  std::string options_hash;  // fingerprint of the options it ran with
  std::uint64_t snapshot_version = 0;
  std::uint32_t nodes_asked = 0;
  std::string result;  // "passed 3 of 4", "bound to gpu-1", an error text
  std::vector<std::pair<std::string, std::uint32_t>> reasons;  // verdict code -> nodes
  std::vector<DecisionCandidate> candidates;                   // best first, at most 16
  double duration_us = 0;
  std::optional<DecisionStop> stop{};  // set: it ends a run
  std::optional<DecisionOutcome> outcome;
};

// Selects rows of the journal. Empty = all; limit 1..1000.
struct JournalQuery {
  std::string ns{};   // empty = all
  std::string pod{};  // name; empty = all
  std::string verb{};
  std::size_t limit = 100;     // 1..1000
  std::int64_t before_id = 0;  // continue: only rows with a smaller id; 0 = from the newest
};

struct JournalPage {
  std::vector<DecisionRow> rows;    // newest first
  std::int64_t next_before_id = 0;  // 0 = no more
};

}  // namespace slackline
